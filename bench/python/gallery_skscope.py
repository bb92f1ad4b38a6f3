"""The kinds of problems in skscope's gallery, solved by ksparse through a family or `minimize`, and by skscope.

    gallery_skscope.py > table.md

Needs ksparse and skscope (with JAX). Data are simulated here. Both get the same objective, written once in JAX, and the
same k; ksparse takes an estimator where it has the family, and `ksparse.minimize` with gradients by JAX elsewhere. The
judge is the objective itself, in double precision, at the coefficients that each returns.
"""

from __future__ import annotations

import sys
import time
import warnings

import jax
import jax.numpy as jnp
import numpy as np

import ksparse
from skscope import ScopeSolver

jax.config.update("jax_enable_x64", True)
# Objectives closer than this, relatively, are the same: where inner solvers stop.
SAME = 1e-6
SEEDS = (1, 2, 3)


def rows(seed, n, p, rho=0.5):
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, p))
    for j in range(1, p):
        x[:, j] = rho * x[:, j - 1] + np.sqrt(1 - rho**2) * x[:, j]
    w = np.zeros(p)
    w[random.choice(p, 8, replace=False)] = random.choice([-1.0, 1.0], 8) * random.uniform(0.5, 1.5, 8)
    return random, x, w


def by_estimator(estimator, x, y, shape=lambda model: model.coef_.ravel()):
    return lambda: shape(estimator.fit(x, y))


def by_minimize(objective, k, dim, **options):
    return lambda: ksparse.minimize(objective, k, dim, grad="jax", **options).x


def linear(seed):
    random, x, w = rows(seed, 300, 200)
    y = x @ w + random.normal(size=300)
    model = ksparse.SparseLinearRegression(k=8, fit_intercept=False)
    return lambda b: jnp.mean((y - x @ b) ** 2) / 2, 8, 200, {}, by_estimator(model, x, y)


def logistic(seed):
    random, x, w = rows(seed, 400, 200)
    y = np.where(random.random(400) < 1 / (1 + np.exp(-2 * x @ w)), 1.0, -1.0)
    model = ksparse.SparseLogisticRegression(k=8, alpha=1e-3, fit_intercept=False)
    loss = lambda b: jnp.mean(jnp.logaddexp(0.0, -y * (x @ b))) + 5e-4 * jnp.sum(b**2)  # noqa: E731
    return loss, 8, 200, {}, by_estimator(model, x, y)


def poisson(seed):
    random, x, w = rows(seed, 400, 200)
    y = random.poisson(np.exp(np.clip(0.5 * x @ w, -5, 4)))
    model = ksparse.SparsePoissonRegression(k=8, alpha=1e-3, fit_intercept=False)
    loss = lambda b: jnp.mean(jnp.exp(x @ b) - y * (x @ b)) + 5e-4 * jnp.sum(b**2)  # noqa: E731
    return loss, 8, 200, {}, by_estimator(model, x, y)


def gamma(seed):
    random, x, w = rows(seed, 400, 200)
    y = random.gamma(2.0, np.exp(np.clip(0.5 * x @ w, -5, 5)) / 2.0) + 1e-9
    model = ksparse.SparseGammaRegression(k=8, alpha=1e-3, fit_intercept=False)
    loss = lambda b: jnp.mean(y * jnp.exp(-(x @ b)) + x @ b) + 5e-4 * jnp.sum(b**2)  # noqa: E731
    return loss, 8, 200, {}, by_estimator(model, x, y)


def multinomial(seed):
    random, x, w = rows(seed, 400, 100)
    scores = np.column_stack([x @ w, -(x @ w), x @ np.roll(w, 1)])
    y = np.argmax(scores + random.gumbel(size=scores.shape), axis=1)
    hot = np.eye(3)[y]
    model = ksparse.SparseMultinomialRegression(k=8, alpha=1e-3, fit_intercept=False)

    def loss(b):
        z = x @ b.reshape(100, 3)
        return jnp.mean(jax.nn.logsumexp(z, axis=1) - jnp.sum(hot * z, axis=1)) + 5e-4 * jnp.sum(b**2)

    groups = {"group": np.repeat(np.arange(100), 3)}
    return loss, 8, 300, groups, by_estimator(model, x, y, lambda model: model.coef_.T.ravel())


def responses(seed):
    random, x, w = rows(seed, 300, 100)
    y = np.column_stack([x @ w, x @ np.where(w != 0, random.normal(size=100), 0)]) + random.normal(size=(300, 2))
    model = ksparse.SparseMultiTaskRegression(k=8, alpha=0.0, fit_intercept=False)
    loss = lambda b: jnp.sum((y - x @ b.reshape(100, 2)) ** 2) / 600  # noqa: E731
    groups = {"group": np.repeat(np.arange(100), 2)}
    return loss, 8, 200, groups, by_estimator(model, x, y, lambda model: model.coef_.T.ravel())


def survival(seed):
    random, x, w = rows(seed, 300, 100)
    times = random.exponential(np.exp(-np.clip(x @ w, -6, 6)))
    ends = random.exponential(np.median(times) * 3, size=300)
    event, time_ = times <= ends, np.minimum(times, ends)
    order = np.argsort(-time_)
    xs, es = x[order], event[order]
    model = ksparse.SparseCoxRegression(k=8, alpha=1e-3)

    def loss(b):
        z = xs @ b
        return jnp.mean(es * (jax.lax.cumlogsumexp(z) - z)) + 5e-4 * jnp.sum(b**2)

    y = np.rec.fromarrays([event, time_], names="event,time")
    return loss, 8, 100, {}, by_estimator(model, x, y)


def trend(seed):
    """Trend filtering: a level that jumps, y = cumulative sums of a sparse vector."""
    random = np.random.default_rng(seed)
    jumps = np.zeros(300)
    jumps[random.choice(300, 8, replace=False)] = random.normal(scale=5, size=8)
    y = np.cumsum(jumps) + random.normal(size=300)
    model = ksparse.SparseLinearRegression(k=8, fit_intercept=False)
    steps = np.tril(np.ones((300, 300)))
    return lambda b: jnp.mean((y - jnp.cumsum(b)) ** 2) / 2, 8, 300, {}, by_estimator(model, steps, y)


def robust(seed):
    random, x, w = rows(seed, 300, 200)
    y = x @ w + random.standard_t(1.5, size=300)
    model = ksparse.SparseRobustRegression(k=8, width=1.0, alpha=0.0, fit_intercept=False)

    def loss(b):
        r = jnp.abs(y - x @ b)
        return jnp.mean(jnp.where(r <= 1, r**2 / 2, r - 0.5))

    return loss, 8, 200, {}, by_estimator(model, x, y)


def ising(seed):
    """The pseudo-likelihood of an Ising model: couplings of twelve spins, a function of one's own."""
    random = np.random.default_rng(seed)
    p, pairs = 12, np.array([(i, j) for i in range(12) for j in range(i)])
    truth = np.zeros(len(pairs))
    truth[random.choice(len(pairs), 10, replace=False)] = random.choice([-0.8, 0.8], 10)
    theta = np.zeros((p, p))
    theta[pairs[:, 0], pairs[:, 1]] = theta[pairs[:, 1], pairs[:, 0]] = truth
    s = random.choice([-1.0, 1.0], size=(500, p))
    for _ in range(200):
        for i in range(p):
            s[:, i] = np.where(random.random(500) < 1 / (1 + np.exp(-2 * s @ theta[:, i])), 1.0, -1.0)

    def loss(b):
        m = jnp.zeros((p, p)).at[pairs[:, 0], pairs[:, 1]].set(b)
        m = m + m.T
        return jnp.mean(jnp.sum(jnp.logaddexp(0.0, -2 * s * (s @ m)), axis=1)) + 5e-4 * jnp.sum(b**2)

    return loss, 10, len(pairs), {}, by_minimize(loss, 10, len(pairs), hess="jax")


def quantile(seed):
    """Median regression with its corner rounded off, a function of one's own."""
    random, x, w = rows(seed, 300, 100)
    y = x @ w + random.standard_t(3, size=300)
    loss = lambda b: jnp.mean(jnp.sqrt((y - x @ b) ** 2 + 1e-2))  # noqa: E731
    return loss, 8, 100, {}, by_minimize(loss, 8, 100, hess="jax")


def portfolio(seed):
    """Minimum variance with weights that add up to one, by its penalty: a function of one's own."""
    random = np.random.default_rng(seed)
    returns = random.normal(size=(250, 100)) @ np.diag(random.uniform(0.5, 2, 100)) + random.normal(size=(250, 1))
    cov = np.cov(returns.T)
    loss = lambda b: b @ cov @ b / 2 + 100.0 * (jnp.sum(b) - 1) ** 2  # noqa: E731
    return loss, 10, 100, {}, by_minimize(loss, 10, 100, hess="jax")


PROBLEMS = [linear, logistic, poisson, gamma, multinomial, responses]
PROBLEMS += [survival, trend, robust, ising, quantile, portfolio]


def main() -> None:
    warnings.simplefilter("ignore")
    pair = "ksparse, skscope"
    print(f"| problem | k of p | f below, the same, above skscope | f, last seed: {pair} | CPU s: {pair} |")
    print("|---|---|---|---|---|")
    above = 0
    for problem in PROBLEMS:
        counts, seconds = [0, 0, 0], [0.0, 0.0]
        for seed in SEEDS:
            loss, k, dim, options, solve = problem(seed)
            began = time.process_time()
            ours = np.asarray(solve())
            seconds[0] += time.process_time() - began
            began = time.process_time()
            theirs = ScopeSolver(dim, k, **options).solve(loss, jit=True)
            seconds[1] += time.process_time() - began
            f, g = float(loss(jnp.asarray(ours))), float(loss(jnp.asarray(theirs)))
            unit = SAME * max(abs(f), abs(g))
            counts[0 if f < g - unit else 1 if f <= g + unit else 2] += 1
        above += counts[2]
        shown = ", ".join(str(count) for count in counts)
        times = ", ".join(f"{total / len(SEEDS):.2f}" for total in seconds)
        print(f"| {problem.__name__} | {k} of {dim} | {shown} | {f:.6g}, {g:.6g} | {times} |", flush=True)
    sys.exit(above > 0)


if __name__ == "__main__":
    main()
