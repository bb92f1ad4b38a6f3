"""One fit of one peer in this process.

    peers.py <solver> <data directory> <repeats>

Prints JSON: wall and CPU seconds of each repeat, the support, a note. The clock runs over the fit alone: imports, reading the data,
putting them into the layout the peer likes best, and JAX's compilation (an untimed first fit, cached) are left out. Settings are the peers' defaults but for what a
solver's name says; no intercept, as in the problem.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Callable

import numpy as np

from problem import Problem

LONG = 5.0  # seconds: a longer fit is not repeated

Support = np.ndarray
Fit = Callable[[], Support]


def abess(problem: Problem, **settings) -> Fit:
    import abess as package

    x = np.ascontiguousarray(problem.x)
    model, y = (package.LogisticRegression, (problem.y > 0).astype(int)) if problem.loss == "logistic" else (
        package.LinearRegression, problem.y)

    def fit() -> Support:
        fitted = model(support_size=problem.k, fit_intercept=False, thread=1, **settings).fit(x, y)
        return np.flatnonzero(fitted.coef_)

    return fit


def scope(problem: Problem, double: bool) -> Fit:
    """ScopeSolver as shipped (JAX in single precision), or in double.

    `sample_size` stays at its default: giving it n makes the solver stop early at twice the objective on the logistic data.
    """
    import jax
    import jax.numpy as jnp
    from skscope import ScopeSolver

    jax.config.update("jax_enable_x64", double)
    data = jnp.asarray(problem.x), jnp.asarray(problem.y)

    def squared(w, data):
        x, y = data
        return 0.5 * jnp.mean((y - x @ w) ** 2) + 0.5 * problem.ridge * jnp.sum(w * w)

    def logistic(w, data):
        x, y = data
        return jnp.mean(jnp.logaddexp(0.0, -problem.scale * y * (x @ w))) + 0.5 * problem.ridge * jnp.sum(w * w)

    objective = logistic if problem.loss == "logistic" else squared

    def fit() -> Support:
        solver = ScopeSolver(dimensionality=problem.x.shape[1], sparsity=problem.k)
        solver.solve(objective, data=data, jit=True)
        return np.asarray(solver.support_set)

    return fit


def omp(problem: Problem) -> Fit:
    from sklearn.linear_model import OrthogonalMatchingPursuit

    x = np.asfortranarray(problem.x)

    def fit() -> Support:
        fitted = OrthogonalMatchingPursuit(n_nonzero_coefs=problem.k, fit_intercept=False).fit(x, problem.y)
        return np.flatnonzero(fitted.coef_)

    return fit


def liblinear(problem: Problem, tolerance: float) -> Fit:
    """L1-regularised logistic regression at a strength that leaves about k non-zeros; only one fit, at that strength, is timed.

    The judge refits, so the scale of the loss does not matter: log(1 + exp(-2 m(w))) is log(1 + exp(-m(2 w))).
    """
    from sklearn.linear_model import LogisticRegression

    x = problem.x.tocsr()
    fits = 0

    def coefficients(c: float) -> np.ndarray:
        nonlocal fits
        fits += 1
        model = LogisticRegression(l1_ratio=1, C=c, solver="liblinear", fit_intercept=False, tol=tolerance, max_iter=1000)
        return model.fit(x, problem.y).coef_.ravel()

    # Bisection in log C for k to 1.02 k non-zeros.
    low, high = 1e-3, 1e3
    for _ in range(30):
        c = float(np.sqrt(low * high))
        count = np.count_nonzero(coefficients(c))
        if problem.k <= count <= 1.02 * problem.k:
            break
        low, high = (c, high) if count < problem.k else (low, c)
    notes.append(f"C = {c:.4g}, {count} non-zeros, after {fits} fits")

    def fit() -> Support:
        w = coefficients(c)
        return np.sort(np.argsort(-np.abs(w), kind="stable")[: min(problem.k, np.count_nonzero(w))])

    return fit


SOLVERS: dict[str, Callable[[Problem], Fit]] = {
    "abess": abess,
    "abess-wide": lambda problem: abess(problem, exchange_num=problem.k // 2, important_search=0),
    "abess-approx": lambda problem: abess(problem, approximate_Newton=True),
    "scope": lambda problem: scope(problem, double=False),
    "scope-double": lambda problem: scope(problem, double=True),
    "omp": omp,
    "liblinear": lambda problem: liblinear(problem, tolerance=1e-2),
    "liblinear-1e-4": lambda problem: liblinear(problem, tolerance=1e-4),
}
notes: list[str] = []


def cache_compiled_code() -> None:
    """Lets JAX keep what it compiles: after an untimed first fit, compilation is a look-up, and the clocks need no correction."""
    import tempfile

    import jax

    jax.config.update("jax_compilation_cache_dir", tempfile.mkdtemp(dir=sys.argv[2]))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def main() -> None:
    name, directory, repeats = sys.argv[1], sys.argv[2], int(sys.argv[3])
    warm = name.startswith("scope")
    if warm:
        cache_compiled_code()
        notes.append("after a fit that compiles, untimed")
    fit = SOLVERS[name](Problem.read(directory))
    if warm:
        fit()
    wall: list[float] = []
    cpu: list[float] = []
    support = np.array([], dtype=int)
    while len(wall) < repeats and (not wall or wall[-1] < LONG):
        clock, used = time.perf_counter(), time.process_time()
        support = fit()
        wall.append(time.perf_counter() - clock)
        cpu.append(time.process_time() - used)
    json.dump({"wall": wall, "cpu": cpu, "support": sorted(map(int, support)), "note": "; ".join(notes)}, sys.stdout)


if __name__ == "__main__":
    main()
