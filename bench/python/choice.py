"""The choice of a model beside L1's: `ksparse path FILE` without a k, and LogisticRegressionCV(penalty="l1",
solver="liblinear") with fifteen penalties and as many folds, one thread each, one after the other.

usage: choice.py KSPARSE FOLDER [NAME,NAME]

KSPARSE is the command, FOLDER holds the files of SETS (svmlight, compressed or not). Genes and spectra are
standardised, text is taken as it is; of news20's twenty groups the first ten are one class. Ours are the seconds of CPU
of the whole command, with the reading of the file; L1's those of the fit alone.
"""

from __future__ import annotations

import io
import lzma
import os
import re
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402
from sklearn.datasets import load_svmlight_file  # noqa: E402
from sklearn.linear_model import LogisticRegressionCV  # noqa: E402
from sklearn.model_selection import RepeatedStratifiedKFold  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

SETS = {  # name: (file, whether columns are standardised)
    "leukemia": ("leukemia.svm", True),
    "prostate": ("prostate-singh.svm", True),
    "PCMAC": ("PCMAC.svm", False),
    "gisette": ("gisette_scale.t.svm", True),
    "rcv1": ("rcv1_binary_23749.svm", False),
    "news20": ("news20.svm", False),
}


def found(folder: Path, name: str) -> Path | None:
    plain = folder / SETS[name][0]
    return next((path for path in (plain, plain.with_name(plain.name + ".xz")) if path.exists()), None)


def read(path: Path):
    data = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
    x, y = load_svmlight_file(io.BytesIO(data))
    # liblinear takes no others; SciPy makes longer ones.
    x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)
    return x, np.where(y <= 10 if len(np.unique(y)) > 2 else y > 0, 1.0, -1.0)


def children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def own(program: str, path: Path, standardise: bool) -> tuple[float, str]:
    """Seconds of CPU of the command, and the k that it chooses."""
    words = [program, "path", str(path), "--loss", "logistic", "--threads", "1"]
    words += ["--standardize"] * standardise + ["--positive", "1:10"] * (path.name.startswith("news20"))
    before = children()
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)} failed: {done.stderr.strip()}")
    chosen = re.search(r"^chosen\s+k = (\d+)", done.stdout, re.MULTILINE)
    return children() - before, chosen.group(1) if chosen else "?"


def l1(x, y, standardise: bool) -> tuple[float, int]:
    """Seconds of CPU of the fit, and its non-zero coefficients."""
    if standardise:
        x = np.asfortranarray(StandardScaler().fit_transform(x.toarray()))
    folds, times = (5, 5) if len(y) < 250 else (5, 2) if len(y) < 1000 else (3, 1)
    cv = RepeatedStratifiedKFold(n_splits=folds, n_repeats=times, random_state=0)
    model = LogisticRegressionCV(
        Cs=np.logspace(-2, 3, 15), penalty="l1", solver="liblinear", cv=cv, max_iter=200, scoring="neg_log_loss"
    )
    np.random.seed(0)
    start = time.process_time()
    model.fit(x, y)
    return time.process_time() - start, int(np.count_nonzero(model.coef_))


def main(program: str, folder: str, names: str = ",".join(SETS)) -> None:
    warnings.filterwarnings("ignore")
    print("| set | ksparse, seconds | k | L1, seconds | non-zeros | ratio |\n|---|---|---|---|---|---|")
    for name in names.split(","):
        path = found(Path(folder), name)
        if path is None:
            print(f"| {name} | not in the folder |")
            continue
        (x, y), standardise = read(path), SETS[name][1]
        seconds, k = own(program, path, standardise)
        peer, count = l1(x, y, standardise)
        print(f"| {name} | {seconds:.2f} | {k} | {peer:.2f} | {count} | {seconds / peer:.2f} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
