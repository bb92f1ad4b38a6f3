"""One peer in this process: up to <repeats> fits.

    peers.py <solver> <data directory> <repeats>

Prints JSON: wall and CPU seconds of each fit after the first (of the first where it is long), the answer, a note. The
clock runs over the fit alone: imports, reading the data and putting them into the layout the peer likes best are left
out. `cold` is from the start of the process to the end of the first fit, with all of that and every compilation.
Settings are the peers' defaults but for what a solver's name says; no intercept, as in the problem.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from typing import Callable

import numpy as np

import lasso
import networks
import scope
import subset
from problem import Problem

# A fit is repeated if the first took less than so many seconds of the processor, until the repeats have taken so many.
SHORT, ENOUGH = 25.0, 1.0
# A repeat is as many fits as take so many seconds: clocks are coarse.
MOMENT = 0.1

# A fit returns the coefficients of the problem (k of them not zero), or a precision matrix.
Fit = Callable[[], np.ndarray]

SOLVERS: dict[str, Callable[[Problem], Fit]] = {
    **subset.SOLVERS,
    **scope.SOLVERS,
    **lasso.SOLVERS,
    **networks.SOLVERS,
}


def answer(found: np.ndarray) -> dict:
    if found.ndim == 2:
        edges = np.triu(found, 1).ravel()
        return {**answer(edges), "diagonal": np.diag(found).tolist()}
    support = np.flatnonzero(found)
    return {"support": support.tolist(), "coefficients": found[support].astype(float).tolist()}


def timed(fit: Fit, times: int) -> tuple[tuple[float, float], np.ndarray]:
    """Wall and processor seconds of a fit, the mean of so many, and what the last one found."""
    clock, used = time.perf_counter(), time.process_time()
    for _ in range(times):
        found = fit()
    return ((time.perf_counter() - clock) / times, (time.process_time() - used) / times), found


def peak_memory() -> int | None:
    """The high-water mark of resident memory in bytes, where the system tells."""
    try:
        with open("/proc/self/status") as status:
            return next(1024 * int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return None


def main() -> None:
    name, directory, repeats = sys.argv[1], sys.argv[2], int(sys.argv[3])
    problem = Problem.read(directory)
    fit = SOLVERS[name](problem)
    first, found = timed(fit, 1)
    started = os.environ.get("KSPARSE_BENCH_STARTED")
    cold = time.time() - float(started) if started else None, time.process_time()
    fits = []
    while len(fits) < repeats and first[1] < SHORT and sum(cpu for _, cpu in fits) < ENOUGH:
        problem.notes.clear()
        seconds, found = timed(fit, math.ceil(MOMENT / max(first[0], 1e-4)))
        fits.append(seconds)
    wall, cpu = zip(*(fits or [first]))
    times = {"wall": wall, "cpu": cpu, "cold": cold, "peak": peak_memory()}
    json.dump({**times, **answer(found), "note": "; ".join(problem.notes)}, sys.stdout)


if __name__ == "__main__":
    main()
