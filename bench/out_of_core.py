#!/usr/bin/env python3
"""A fit over files larger than the memory allowed: peak memory, bytes read, throughput beside a plain read.

    bench/out_of_core.py FOLDER [--gigabytes 6] [--memory 2000] [--files 24] [--turns 1] [--command ksparse] [--keep]
                         [--no-memory]

Makes a logistic design of the size asked for in FOLDER (as many files, written one after the other), reads the files
plainly and fits them in turn, as often as --turns says and a plain read at the end, always with the system's memory of
these files cleared before. A fit is compared with the mean of the reads before and after it. While it runs, files that
it has no longer mapped are cleared as well, so that every pass comes from the disk though the machine may have room for
all of them; `warm` is the same fit without that. The load of the machine is shown before every turn: what else runs
takes from a plain read, which is one thread, more than from a fit. Then the same rows are fitted as one matrix in
memory, which takes as much of it as they have, by the same solver and by the one that such fits have; their supports
and objectives are compared (--no-memory leaves this out). FOLDER is removed at the end unless --keep is given.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np

COLUMNS, K = 1000, 20


def make(folder, gigabytes, files, command, also_whole):
    """Files of rows, and the columns that matter; the same rows as one matrix where they are fitted in memory too."""
    rng = np.random.default_rng(1)
    support = np.sort(rng.choice(COLUMNS, K, replace=False))
    weights = rng.choice([-1.0, 1.0], K) * rng.uniform(0.5, 1.0, K)
    rows = int(gigabytes * 1e9 / 8 / COLUMNS / files)
    shape = (rows * files, COLUMNS)
    whole = None
    if also_whole:
        whole = np.lib.format.open_memmap(folder / "whole.npy", "w+", np.float64, shape, fortran_order=True)
    targets = []
    for part in range(files):
        X = rng.standard_normal((rows, COLUMNS))
        z = X[:, support] @ weights
        y = np.where(rng.random(rows) < 1 / (1 + np.exp(-z)), 1.0, -1.0)
        plain = folder / "part.npy"
        np.save(plain, np.asfortranarray(X))
        if whole is not None:
            whole[part * rows : (part + 1) * rows] = X
        targets.append(y)
        np.save(folder / "target.npy", y)
        target = folder / f"part-{part:05}.ksb"
        line = [command, "convert", plain, target, "--target-file", folder / "target.npy", "--quiet"]
        subprocess.run(list(map(str, line)), check=True)
        forget([plain])
        plain.unlink()
    if whole is not None:
        whole.flush()
        np.save(folder / "target.npy", np.concatenate(targets))
        forget([folder / "whole.npy"])
    return support


def forget(paths):
    """Has the system clear its memory of some files, as far as nobody has them mapped."""
    for path in paths:
        handle = os.open(path, os.O_RDONLY)
        os.fsync(handle)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(handle)


def plain_read(paths):
    """Seconds of reading all files from one end to the other."""
    forget(paths)
    began = time.perf_counter()
    buffer = bytearray(1 << 22)
    for path in paths:
        with open(path, "rb", buffering=0) as file:
            while file.readinto(buffer):
                pass
    seconds = time.perf_counter() - began
    forget(paths)
    return seconds


def clear_behind(process, paths):
    """While a process runs: clears files that it is neither at nor about to be at."""
    names = [str(path) for path in paths]
    while process.poll() is None:
        try:
            with open(f"/proc/{process.pid}/maps") as maps:
                text = maps.read()
        except OSError:
            return
        at = [place for place, name in enumerate(names) if name in text]
        if at:
            close = {(place + ahead) % len(names) for place in at for ahead in (0, 1, 2)}
            forget([path for place, path in enumerate(paths) if place not in close])
        time.sleep(0.05)


def watch(process, most):
    """While a process runs: the most it had resident. What the system says of children afterwards has their parent in
    it, whose memory they have until they begin."""
    while process.poll() is None:
        try:
            with open(f"/proc/{process.pid}/status") as status:
                lines = [line for line in status if line.startswith("VmHWM")]
        except OSError:
            return
        most[0] = max([most[0], *(1024 * int(line.split()[1]) for line in lines)])
        time.sleep(0.01)


def fit(folder, paths, memory, command, cold=True):
    """What the fit says, its seconds, and the most it had resident."""
    forget(paths)
    line = [command, "fit", str(folder), "-k", str(K), "--lambda", "1e-4", "--memory", str(memory), "--json", "--quiet"]
    began = time.perf_counter()
    process = subprocess.Popen(line, stdout=subprocess.PIPE)
    peak = [0]
    beside = [threading.Thread(target=watch, args=(process, peak))]
    if cold:
        beside.append(threading.Thread(target=clear_behind, args=(process, paths)))
    for thread in beside:
        thread.start()
    said = json.loads(process.stdout.read())
    process.wait()
    seconds = time.perf_counter() - began
    for thread in beside:
        thread.join()
    return said, seconds, peak[0]


def in_memory(folder, command, solver):
    """What the fit of all rows as one matrix says, and its seconds without the reading."""
    line = [command, "fit", folder / "whole.npy", "--target-file", folder / "target.npy", "-k", K, "--lambda", "1e-4",
            "--solver", solver, "--json", "--quiet"]  # fmt: skip
    done = subprocess.run(list(map(str, line)), check=True, stdout=subprocess.PIPE)
    said = json.loads(done.stdout)
    return said, said["seconds"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gigabytes", type=float, default=6.0)
    parser.add_argument("--memory", type=int, default=2000)
    parser.add_argument("--files", type=int, default=24)
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--command", default="ksparse")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--no-memory", action="store_true")
    asked = parser.parse_args()
    if asked.folder.exists() and any(asked.folder.iterdir()):
        sys.exit(f"{asked.folder} is not empty: name another folder")
    asked.folder.mkdir(parents=True, exist_ok=True)
    try:
        support = make(asked.folder, asked.gigabytes, asked.files, asked.command, not asked.no_memory)
        paths = sorted(asked.folder.glob("*.ksb"))
        size = sum(path.stat().st_size for path in paths)
        reads, fits = [], []
        for turn in range(asked.turns):
            print(f"turn {turn + 1}       load {os.getloadavg()[0]:.1f}", flush=True)
            reads.append(plain_read(paths))
            fits.append(fit(asked.folder, paths, asked.memory, asked.command))
        reads.append(plain_read(paths))
        warm = fit(asked.folder, paths, asked.memory, asked.command, cold=False)[0]["communication"]
        solvers = [] if asked.no_memory else ["working-set", "auto"]
        wholes = {solver: in_memory(asked.folder, asked.command, solver) for solver in solvers}
    finally:
        if not asked.keep:
            shutil.rmtree(asked.folder)
    said, seconds, _ = fits[0]
    assert all(other["objective"] == said["objective"] for other, _, _ in fits), "the bits of a fit changed"
    took = said["communication"]
    shape = f"{said['n']} x {said['p']}, {size / 1e9:.2f} GB in {asked.files} files"
    print(f"design       {shape}, --memory {asked.memory}")
    print(f"fit          {seconds:.1f} s, {took['rounds']} rounds, objective {said['objective']:.9f}")
    print(f"support      {'that of the truth' if said['support'] == support.tolist() else 'another than the truth'}")
    print(f"peak         {max(peak for _, _, peak in fits) / 1e6:.0f} MB resident")
    print(f"read         each byte {took['passes']:.1f} times, {took['bytes_read'] / 1e9:.1f} GB")
    print(f"plain read   {', '.join(f'{size / read / 1e9:.2f}' for read in reads)} GB/s")
    ours = [one["communication"]["bytes_read"] / one["communication"]["waiting_seconds"] for one, _, _ in fits]
    ratios = [100 * rate * (a + b) / 2 / size for rate, a, b in zip(ours, reads[:-1], reads[1:], strict=True)]
    middle, least, most = statistics.median(ratios), min(ratios), max(ratios)
    print(f"throughput   {', '.join(f'{rate / 1e9:.2f}' for rate in ours)} GB/s")
    print(f"             {middle:.0f} % of the plain reads around it ({least:.0f} to {most:.0f} %)")
    kept = warm["bytes_read"] / warm["waiting_seconds"]
    print(f"warm         {kept / 1e9:.2f} GB/s where the system keeps the files after the first pass")
    for solver, (whole, took) in wholes.items():
        same = "the same support" if whole["support"] == said["support"] else "ANOTHER SUPPORT"
        apart = (whole["objective"] - said["objective"]) / abs(said["objective"])
        print(f"in memory    {solver}: {took:.1f} s, {same}, objective {whole['objective']:.9f} ({apart:+.1e})")


if __name__ == "__main__":
    main()
