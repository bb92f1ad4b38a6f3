#!/usr/bin/env python3
"""Fits over a local Dask cluster beside dask-ml's L1 logistic regression, and what a large cluster takes, on paper.

    bench/shards.py peers     ksparse.dask and, where it can be imported, dask_ml on the same partitions
    bench/shards.py round     what a round and a pass cost here
    bench/shards.py paper     seconds for 10^9 rows x 10^5 columns on 100 workers, from costs like those

`peers` and `round` need `ksparse[dask]`; `paper` needs nothing.
"""

import sys
import time

#: Measured: multiply-adds a second of one core in a pass over memory (12.9 GB/s of float64) and in a
#: blocked product.
PASS, PRODUCT = 1.6e9, 2.3e10
#: Supposed of a worker: bytes of memory for rows, bytes a second of its disk.
MEMORY, DISK = 64e9, 2.0e9
#: Measured with Dask on one machine: seconds of a round of plain tasks whatever its size, bytes a second of its sums.
OVERHEAD, LINK = 0.03, 4.7e8


def rows(n, p, k, seed):
    import numpy as np

    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    support = rng.choice(p, k, replace=False)
    z = X[:, support] @ rng.standard_normal(k)
    return X, (rng.random(n) < 1 / (1 + np.exp(-2 * z))).astype(int)


def refitted(X, y, support):
    """The mean logistic loss, with a ridge of 1e-4, of the best model on some columns."""
    import ksparse

    model = ksparse.SparseLogisticRegression(len(support), alpha=1e-4).fit(X[:, support], y)
    return model.objective_


def peers(n=20_000, p=400, k=20, partitions=4):
    import dask.array as da
    import numpy as np
    from distributed import Client, LocalCluster

    from ksparse.dask import SparseLogisticRegression

    X, y = rows(n, p, k, 1)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        rows_each = n // partitions
        blocks, target = da.from_array(X, chunks=(rows_each, p)).persist(), da.from_array(y, chunks=rows_each)
        began = time.perf_counter()
        ours = SparseLogisticRegression(k, alpha=1e-4).fit(blocks, target)
        seconds = time.perf_counter() - began
        rounds = ours.communication_["rounds"]
        print(f"ksparse.dask         {seconds:7.1f} s   objective {ours.objective_:.6f}   {rounds} rounds")
        try:
            from dask_ml.linear_model import LogisticRegression
        except ImportError as error:
            print(f"dask_ml cannot be imported here: {error}")
            return
        for solver in ("admm", "proximal_grad"):
            low, high, total = 1e-6, 1.0, 0.0
            for _ in range(12):  # the penalty that leaves k columns, by bisection
                C = (low * high) ** 0.5
                began = time.perf_counter()
                lasso = LogisticRegression(penalty="l1", C=C, solver=solver, max_iter=100).fit(blocks, target)
                last = time.perf_counter() - began
                total += last
                support = np.flatnonzero(np.abs(np.ravel(lasso.coef_)) > 1e-6)
                low, high = (C, high) if len(support) < k else (low, C)
                if len(support) == k:
                    break
            order = np.argsort(-np.abs(np.ravel(lasso.coef_)))[:k]
            print(f"dask_ml {solver:13}{last:7.1f} s   objective {refitted(X, y, np.sort(order)):.6f} after a refit   "
                  f"{total:.1f} s for the penalty that leaves {len(support)} columns")


def cost_of_a_round(p=100_000, partitions=4):
    import dask.array as da
    from distributed import Client, LocalCluster

    from ksparse.dask import SparseLinearRegression

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        X = da.random.random((400, p), chunks=(100, p)).persist()
        model = SparseLinearRegression(5).fit(X, X[:, 3] - X[:, 9])
        said = model.communication_
        print(f"p = {p}: {said['rounds']} rounds, {said['seconds'] / said['rounds']:.3f} s each, "
              f"{said['bytes_up'] / said['rounds'] / partitions / 1e6:.2f} MB up from a partition")


def paper(n=1e9, p=1e5, entries=1e5, k=100, workers=100, cores=16, full=6, on=12):
    """Seconds of a fit whose rows have so many entries of p columns; what no memory holds comes from disk."""
    share, size = n / workers, 4 * k + 50
    stored = share * entries * (8 if entries == p else 12)
    inside = stored <= MEMORY
    # A full round needs the rows twice, gradient and curvatures; from disk they come once.
    passes = 2 * share * entries / (PASS * min(cores, 8)) if inside else stored / DISK
    used = size * entries / p
    hessian = share * used * used / 2 / (PRODUCT * cores) + (0 if inside else stored * size / p / DISK)
    levels = max(1, (int(workers) - 1).bit_length())
    up_full, up_on = (8 * count * levels / LINK for count in (2 * p, size * size / 2))
    where = "in memory" if inside else "on disk"
    print(f"{n:.0e} rows x {p:.0e} columns, {entries:.0f} entries a row, k = {k}, {workers} workers of {cores} cores:")
    print(f"  a worker has {stored / 1e9:.0f} GB of rows, {where}")
    print(f"  full round:  {passes:8.1f} s over the rows, {up_full:5.2f} s of sums ({levels} levels), {OVERHEAD} s")
    print(f"  set round:   {hessian:8.1f} s over the rows, {up_on:5.2f} s of sums, {OVERHEAD} s")
    total = full * (passes + up_full) + on * (hessian + up_on) + (full + on) * OVERHEAD
    print(f"  {full} full and {on} set rounds: {total:.0f} s")
    parts = {
        "the rows in full rounds": full * passes,
        "the Hessian over the set": on * hessian,
        "the network": full * up_full + on * up_on,
        "the scheduler": (full + on) * OVERHEAD,
    }
    print("  most of it: " + ", then ".join(sorted(parts, key=parts.get, reverse=True)))


if __name__ == "__main__":
    what = sys.argv[1] if len(sys.argv) > 1 else ""
    if what == "peers":
        peers()
    elif what == "round":
        cost_of_a_round()
    elif what == "paper":
        paper()
        paper(entries=100)
    else:
        sys.exit(__doc__)
