"""The families of losses beside abess: counts, positive numbers, classes, several responses, survival times, order.

    families.py [--quick] > table.md

Needs ksparse and abess. Data are simulated here (p = 1000, independent columns or correlated by 0.7 with their
neighbours), both packages get the same arrays and k, one thread each, their defaults otherwise; ksparse also with the
least effort (`solver_options={"effort": "quick"}`). The time is the CPU seconds of the first fit. The judge is this
file: the support of each answer is refitted by SciPy under one objective, mean loss + 1e-5 / 2 ||w||^2 with free
intercepts, and nothing that a package claims of itself is used.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Callable

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

RIDGE = 1e-5
SIZES = [(500, 10), (1000, 30), (2000, 50)]
COLUMNS, CLASSES, RESPONSES, SEEDS = 1000, 4, 3, 5
# Objectives closer than this are the same: what SciPy's refit leaves open.
SAME = 1e-6


def design(random: np.random.Generator, n: int, correlation: float) -> np.ndarray:
    x = random.normal(size=(n, COLUMNS))
    for j in range(1, COLUMNS):
        x[:, j] = correlation * x[:, j - 1] + np.sqrt(1 - correlation**2) * x[:, j]
    return x


def simulate(family: str, n: int, k: int, correlation: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    x = design(random, n, correlation)
    support = random.choice(COLUMNS, k, replace=False)
    outputs = {"multinomial": CLASSES, "responses": RESPONSES}.get(family, 1)
    w = random.uniform(1, 2, size=(k, outputs)) * random.choice([-1, 1], size=(k, outputs)) / np.sqrt(k)
    z = x[:, support] @ w
    first = z[:, 0]
    if family == "poisson":
        return x, random.poisson(np.exp(np.minimum(first, 6))).astype(float)
    if family == "gamma":
        return x, np.maximum(random.gamma(2.0, np.exp(first) / 2.0), 1e-6)
    if family == "multinomial":
        return x, (2 * z + random.gumbel(size=z.shape)).argmax(axis=1)
    if family == "responses":
        return x, z + random.normal(size=z.shape)
    if family == "cox":
        life, end = random.exponential(np.exp(-first)), random.exponential(2.0, size=n)
        return x, np.column_stack([np.minimum(life, end), life <= end])
    noisy = 2 * first + random.logistic(size=n)
    return x, np.searchsorted(np.quantile(noisy, np.arange(1, CLASSES) / CLASSES), noisy)


# The judge: loss and gradient in (coefficients, intercepts) on the columns of a support.


def log_links(family: str, y: np.ndarray) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    def loss(z: np.ndarray) -> tuple[float, np.ndarray]:
        z = z[:, 0]
        if family == "poisson":
            return float(np.mean(np.exp(z) - y * z)), (np.exp(z) - y)[:, None] / len(y)
        return float(np.mean(z + y * np.exp(-z))), (1 - y * np.exp(-z))[:, None] / len(y)

    return loss


def softmax(y: np.ndarray) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    rows = np.arange(len(y))

    def loss(z: np.ndarray) -> tuple[float, np.ndarray]:
        logs = logsumexp(z, axis=1)
        p = np.exp(z - logs[:, None])
        p[rows, y] -= 1
        return float(np.mean(logs - z[rows, y])), p / len(y)

    return loss


def squares(y: np.ndarray) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    return lambda z: (0.5 * float(((z - y) ** 2).sum()) / len(y), (z - y) / len(y))


def partial_likelihood(y: np.ndarray) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    order = np.argsort(-y[:, 0])
    event = y[order, 1]

    def loss(z: np.ndarray) -> tuple[float, np.ndarray]:
        z = z[order, 0]
        top = z.max()
        risk = np.exp(z - top)
        sums = np.cumsum(risk)
        value = np.mean(event * (np.log(sums) + top - z))
        slope = np.empty((len(z), 1))
        slope[order, 0] = (risk * np.cumsum((event / sums)[::-1])[::-1] - event) / len(z)
        return float(value), slope

    return loss


def refitted(family: str, x: np.ndarray, y: np.ndarray, support: np.ndarray) -> float:
    a = np.ascontiguousarray(x[:, support])
    if family == "ordinal":
        return ordered(a, y)
    outputs = {"multinomial": CLASSES, "responses": RESPONSES}.get(family, 1)
    loss = {
        "multinomial": softmax,
        "responses": squares,
        "cox": partial_likelihood,
    }.get(family, lambda y: log_links(family, y))(y)
    free = outputs if family != "cox" else 0

    def f(unknown: np.ndarray) -> tuple[float, np.ndarray]:
        w, b = unknown[: a.shape[1] * outputs].reshape(-1, outputs), unknown[a.shape[1] * outputs :]
        value, slope = loss(a @ w + (b if free else 0.0))
        gradient = (a.T @ slope + RIDGE * w).ravel()
        return value + 0.5 * RIDGE * float((w**2).sum()), np.concatenate([gradient, slope.sum(axis=0)[:free]])

    return least(f, np.zeros(a.shape[1] * outputs + free))


def ordered(a: np.ndarray, y: np.ndarray) -> float:
    """Proportional odds; the gaps between cut points are exponentials of unknowns."""
    n, m = len(y), CLASSES - 1
    inner, outer = y > 0, y < m

    def f(unknown: np.ndarray) -> tuple[float, np.ndarray]:
        w, gaps = unknown[:-m], np.exp(unknown[1 - m :])
        cuts = unknown[-m] + np.concatenate([[0.0], np.cumsum(gaps)])
        z = a @ w
        above = np.where(outer, cuts[np.minimum(y, m - 1)] - z, np.inf)
        below = np.where(inner, cuts[np.maximum(y - 1, 0)] - z, -np.inf)
        between = np.where(inner & outer, gaps[np.clip(y - 1, 0, m - 2)], np.inf)
        value = np.mean(np.logaddexp(0, -above) + np.logaddexp(0, below) - np.log(-np.expm1(-between)))
        up, down = expit(-above), expit(below)
        slope = np.zeros(m)
        np.subtract.at(slope, y[outer], up[outer] / n)
        np.add.at(slope, y[inner] - 1, down[inner] / n)
        tight = np.zeros(m - 1)
        middle = inner & outer
        np.subtract.at(tight, y[middle] - 1, 1 / np.expm1(between[middle]) / n)
        by_gap = (np.cumsum(slope[::-1])[::-1][1:] + tight) * gaps
        gradient = np.concatenate([a.T @ (up - down) / n + RIDGE * w, [slope.sum()], by_gap])
        return float(value + 0.5 * RIDGE * (w @ w)), gradient

    return least(f, np.zeros(a.shape[1] + m))


def least(f: Callable[[np.ndarray], tuple[float, np.ndarray]], start: np.ndarray) -> float:
    options = {"maxiter": 20000, "maxfun": 20000, "ftol": 1e-15, "gtol": 1e-9}
    return float(minimize(f, start, jac=True, method="L-BFGS-B", options=options).fun)


# The two packages.


def quick(family: str, x: np.ndarray, y: np.ndarray, k: int) -> Callable[[], np.ndarray]:
    return ours(family, x, y, k, effort="quick")


def ours(family: str, x: np.ndarray, y: np.ndarray, k: int, **options: object) -> Callable[[], np.ndarray]:
    import ksparse

    model = {
        "poisson": ksparse.SparsePoissonRegression,
        "gamma": ksparse.SparseGammaRegression,
        "multinomial": ksparse.SparseMultinomialRegression,
        "responses": ksparse.SparseMultiTaskRegression,
        "cox": ksparse.SparseCoxRegression,
        "ordinal": ksparse.SparseOrdinalRegression,
    }[family](k=k, alpha=RIDGE, n_jobs=1, solver_options=options)
    return lambda: model.fit(x, y).support_


def abess(family: str, x: np.ndarray, y: np.ndarray, k: int) -> Callable[[], np.ndarray]:
    import abess as package

    model = {
        "poisson": package.PoissonRegression,
        "gamma": package.GammaRegression,
        "multinomial": package.MultinomialRegression,
        "responses": package.MultiTaskRegression,
        "cox": package.CoxPHSurvivalAnalysis,
        "ordinal": package.OrdinalRegression,
    }[family](support_size=k, thread=1)

    def fit() -> np.ndarray:
        coefficients = np.asarray(model.fit(x, y).coef_)
        return np.flatnonzero(np.abs(coefficients.reshape(COLUMNS, -1)).sum(axis=1))

    return fit


def timed(fit: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
    started = time.process_time()
    support = fit()
    return time.process_time() - started, support


def main() -> None:
    warnings.simplefilter("ignore")
    few = "--quick" in sys.argv
    only = [word for word in sys.argv[1:] if not word.startswith("-")]
    families = only or ["poisson", "gamma", "multinomial", "responses", "cox", "ordinal"]
    print("| family | n, k | correlation | f below, the same, above abess: ksparse, quick "
          "| f, median: ksparse, quick, abess | CPU s, median: ksparse, quick, abess |")
    print("|---|---|---|---|---|---|")
    for family in families:
        for n, k in SIZES[:1] if few else SIZES:
            for correlation in (0.0, 0.7):
                row(family, n, k, correlation, 2 if few else SEEDS)


def row(family: str, n: int, k: int, correlation: float, seeds: int) -> None:
    values, seconds = [], []
    for seed in range(1, seeds + 1):
        x, y = simulate(family, n, k, correlation, seed)
        answers = [timed(make(family, x, y, k)) for make in (ours, quick, abess)]
        assert all(len(support) <= k for _, support in answers)
        values.append([refitted(family, x, y, support) for _, support in answers])
        seconds.append([cpu for cpu, _ in answers])
    f, cpu = np.array(values), np.array(seconds)

    def beside(column: int) -> str:
        excess = (f[:, column] - f[:, 2]) / np.abs(f[:, 2])
        return f"{(excess < -SAME).sum()}, {(np.abs(excess) <= SAME).sum()}, {(excess > SAME).sum()}"

    medians = ", ".join(f"{v:.6f}" for v in np.median(f, axis=0))
    times = ", ".join(f"{v:.3f}" for v in np.median(cpu, axis=0))
    print(f"| {family} | {n}, {k} | {correlation} | {beside(0)}; {beside(1)} | {medians} | {times} |", flush=True)


if __name__ == "__main__":
    main()
