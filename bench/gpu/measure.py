"""What a device gives: `python3 bench/gpu/measure.py CASE...`, a line of JSON for every figure.

Cases: linear logistic text wide crossing profile. Data are drawn on the device; the processor gets a copy.
"""

import json
import os
import sys
import threading
import time

import numpy as np
import torch
import htp
import problems

import ksparse
from ksparse import SparseLinearRegression, SparseLogisticRegression


def say(**what):
    print(json.dumps(what), flush=True)


def timed(work, repeats=1):
    """Seconds of each call, and what the last returned."""
    seconds = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        started = time.perf_counter()
        result = work()
        torch.cuda.synchronize()
        seconds.append(round(time.perf_counter() - started, 4))
    return seconds, result


class Peak:
    """The most device memory in use at any time, in bytes, beyond what was in use before."""

    def __enter__(self):
        self.before = self.most = self.used()
        self.done = threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()
        return self

    def used(self):
        free, total = torch.cuda.mem_get_info()
        return total - free

    def watch(self):
        while not self.done.wait(0.002):
            self.most = max(self.most, self.used())

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()


def fitted(name, where, estimator, X, y, repeats=1, **more):
    """Fits, says how long it took and what came of it."""
    seconds, model = timed(lambda: estimator.fit(X, y), repeats)
    trace = model.trace_
    travelled = {key: int(trace[key][-1]) for key in trace if key in ("launches", "uploaded_bytes", "downloaded_bytes")}
    say(case=name, where=where, seconds=seconds, objective=model.objective_, status=model.status_, n_iter=model.n_iter_,
        rows_of_trace=len(trace["seconds"]), solver_seconds=round(float(trace["seconds"][-1]), 4), **travelled, **more)
    return model


def compare(name, there, here):
    same = there.support_.tolist() == here.support_.tolist()
    say(case=name, same_support=same, difference=abs(there.objective_ - here.objective_) / here.objective_)


def linear(cpu=True, n=20_000, p=100_000, k=50):
    X = problems.autoregressive(n, p, 0.9, torch.float64, 1)
    y, support = problems.linear_target(X, k, 0.5, 2)
    y = y.cpu().numpy()
    there = fitted("linear", "cuda", SparseLinearRegression(k), X, y, 3)
    say(case="linear", found=len(set(there.support_.tolist()) & set(support.tolist())))
    for _ in range(2):
        seconds, (_, f) = timed(lambda: htp.htp(X, torch.from_numpy(y).cuda(), k, False))
        say(case="linear", where="torch htp", seconds=seconds, objective=f)
    if cpu:
        host = X.T.cpu().numpy().T
        compare("linear", there, fitted("linear", "cpu", SparseLinearRegression(k), host, y))


def logistic(cpu=False, n=200_000, p=20_000, k=100):
    X = problems.autoregressive(n, p, 0.5, torch.float32, 3)
    y, support = problems.logistic_target(X, k, 4)
    y = y.cpu().numpy()
    there = fitted("logistic", "cuda", SparseLogisticRegression(k), X, y, 3)
    chances = there.predict_proba(X)[np.arange(n), (y > 0).astype(int)]
    say(case="logistic", found=len(set(there.support_.tolist()) & set(support.tolist())),
        loss_without_ridge=float(-np.log(chances.astype(np.float64)).mean()))
    for _ in range(2):
        seconds, (_, f) = timed(lambda: htp.htp(X, torch.from_numpy(y).cuda(), k, True))
        say(case="logistic", where="torch htp", seconds=seconds, objective=f)
    if cpu:
        host = X.T.cpu().numpy().T
        compare("logistic", there, fitted("logistic", "cpu", SparseLogisticRegression(k), host, y))


def text(cpu=True, n=400_000, p=200_000, k=500):
    X, y = problems.text(n, p, 90, 5)
    y = y.cpu().numpy()
    say(case="text", entries=X.values().numel())
    cupy_product(X)
    there = fitted("text", "cuda", SparseLogisticRegression(k), X, y, 3)
    if cpu:
        import scipy.sparse as sp

        parts = [part.cpu().numpy() for part in (X.values(), X.row_indices(), X.ccol_indices())]
        host = sp.csc_matrix(tuple(parts), shape=(n, p))
        compare("text", there, fitted("text", "cpu", SparseLogisticRegression(k), host, y))


def cupy_product(X):
    """X'r by cuSPARSE: the whole call, and its kernels alone."""
    import cupy
    import cupyx.scipy.sparse as cs

    parts = [cupy.asarray(part) for part in (X.values(), X.row_indices().int(), X.ccol_indices().int())]
    turned = cs.csr_matrix(tuple(parts), shape=(X.shape[1], X.shape[0]))
    r = cupy.random.standard_normal(X.shape[0])
    for _ in range(3):
        turned @ r
    seconds = timed(lambda: turned @ r, 20)[0]
    say(case="sparse X'r", where="cuSPARSE", seconds=sorted(seconds)[10])
    longest("cuSPARSE X'r", lambda: turned @ r)


def longest(name, work, only=()):
    """The longest run of every kernel: that of a pass over all the data."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as seen:
        timed(work)
    most = {}
    for event in seen.events():
        if not only or event.name in only:
            most[event.name[:60]] = max(most.get(event.name[:60], 0.0), event.device_time_total)
    say(case="longest kernels", what=name, microseconds=most)


def wide(n=1_000_000, p=10_000, k=100):
    X = problems.independent(n, p, torch.float32, 6)
    y, support = problems.linear_target(X, k, 5.0, 7)
    y = y.cpu().numpy()
    torch.cuda.empty_cache()
    size = 4 * n * p
    with Peak() as peak:
        model = fitted("wide", "cuda", SparseLinearRegression(k), X, y, 2)
    say(case="wide", found=len(set(model.support_.tolist()) & set(support.tolist())),
        designs=round((size + peak.most - peak.before) / size, 4))
    with Peak() as peak:
        seconds, path = timed(lambda: ksparse.path(SparseLinearRegression(), X, y, ks=list(range(5, 101, 5))))
    say(case="wide path of 20", seconds=seconds, objectives=[float(v) for v in path.objectives][::5],
        designs=round((size + peak.most - peak.before) / size, 4))


def crossing():
    sizes = [(300, 300), (1000, 1000), (3000, 1000), (3000, 3000), (10_000, 3000), (10_000, 10_000), (20_000, 20_000)]
    for n, p in sizes:
        X = problems.autoregressive(n, p, 0.9, torch.float64, 8)
        y, _ = problems.linear_target(X, 20, 0.5, 9)
        y, host = y.cpu().numpy(), np.asfortranarray(X.cpu().numpy())
        row = {}
        for where, data, device in [("cpu", host, None), ("cuda", X, None), ("cuda with copy", host, "cuda")]:
            estimator = SparseLinearRegression(20, device=device)
            row[where] = min(timed(lambda: estimator.fit(data, y), 3)[0])
            row[where + " f"] = estimator.objective_
        say(case="crossing", entries=n * p, n=n, p=p, **row)


def profile():
    """Which kernels the time of a fit goes to."""
    def one(name, estimator, X, y):
        estimator.fit(X, y)
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as seen:
            seconds, _ = timed(lambda: estimator.fit(X, y))
        say(case="profile " + name, seconds=seconds)
        most = {}
        for event in seen.events():
            most[event.name] = max(most.get(event.name, 0.0), event.device_time_total)
        ranked = sorted(seen.key_averages(), key=lambda row: -row.device_time_total)[:16]
        for row in ranked:
            say(kernel=row.key[:70], calls=row.count, total_ms=round(row.device_time_total / 1e3, 3),
                longest_us=round(most.get(row.key, 0.0), 1))

    which = os.environ.get("KSPARSE_PROFILE", "linear,logistic,text").split(",")
    if "linear" in which:
        X = problems.autoregressive(20_000, 100_000, 0.9, torch.float64, 1)
        one("linear", SparseLinearRegression(50), X, problems.linear_target(X, 50, 0.5, 2)[0].cpu().numpy())
        del X
    if "logistic" in which:
        X = problems.autoregressive(200_000, 20_000, 0.5, torch.float32, 3)
        one("logistic", SparseLogisticRegression(100), X, problems.logistic_target(X, 100, 4)[0].cpu().numpy())
        del X
    if "text" in which:
        X, y = problems.text(400_000, 200_000, 90, 5)
        one("text", SparseLogisticRegression(500), X, y.cpu().numpy())


if __name__ == "__main__":
    source = torch.randn(10**9, dtype=torch.float64, device="cuda")
    target = torch.empty_like(source)
    copies = timed(lambda: target.copy_(source), 8)[0]
    say(device=torch.cuda.get_device_name(), copy_terabytes_per_second=16e9 / min(copies) / 1e12,
        ksparse=ksparse.__version__, cores=os.cpu_count())
    del source, target
    for case in sys.argv[1:]:
        word, _, option = case.partition("=")
        torch.cuda.empty_cache()
        globals()[word](**({"cpu": option == "cpu"} if option else {}))
