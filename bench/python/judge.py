"""The judge: scores every answer, by its coefficients as returned and after an exact refit on the support it names.

    judge.py <data directory> < answers.json > scores.json

`answers` maps a name to {"support": [...], "coefficients": [...] or absent, "diagonal": of a precision matrix}. A
solver's own claim is never used. Nothing of ksparse is imported.
"""

from __future__ import annotations

import json
import sys

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from problem import Problem


class Restricted:
    """A smooth convex objective over few unknowns: subclasses have value, derivatives and a start."""

    start: np.ndarray

    def value(self, w: np.ndarray) -> float:
        raise NotImplementedError

    def derivatives(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradient and Hessian."""
        raise NotImplementedError

    def minimise(self) -> np.ndarray:
        """By Newton's method with step halving."""
        w = self.start
        value = self.value(w)
        for _ in range(200):
            gradient, hessian = self.derivatives(w)
            if float(np.abs(gradient).max(initial=0.0)) < 1e-13:
                break
            # A dependent support (two equal columns) has a singular Hessian: least squares picks a step all the same.
            try:
                step = la.solve(hessian, -gradient, assume_a="pos")
            except la.LinAlgError:
                step = np.linalg.lstsq(hessian, -gradient, rcond=None)[0]
            length, slope = 1.0, float(gradient @ step)
            while (trial := self.value(w + length * step)) > value + 1e-4 * length * slope and length > 1e-10:
                length /= 2
            if trial >= value:
                break
            w, value = w + length * step, trial
        return w


class Regression(Restricted):
    """The columns of one support."""

    def __init__(self, problem: Problem, support: np.ndarray) -> None:
        columns = problem.x[:, support]
        self.a = columns.tocsr() if sp.issparse(columns) else np.ascontiguousarray(columns)
        self.y, self.n, self.ridge = problem.y, len(problem.y), problem.ridge
        self.loss, self.scale = problem.loss, problem.scale
        self.start = np.zeros(len(support))
        self.problem, self.support = problem, support

    def value(self, w: np.ndarray) -> float:
        z = self.a @ w
        if self.loss == "squared":
            losses = 0.5 * (self.y - z) ** 2
        else:
            losses = np.logaddexp(0.0, -self.scale * self.y * z)
        return float(losses.mean() + 0.5 * self.ridge * (w @ w))

    def derivatives(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        z = self.a @ w
        if self.loss == "squared":
            first, second = z - self.y, np.ones(self.n)
        else:
            c = self.scale
            wrong = np.exp(-np.logaddexp(0.0, c * self.y * z))  # probability of the other label
            first, second = -c * self.y * wrong, c * c * wrong * (1.0 - wrong)
        gradient = self.a.T @ first / self.n + self.ridge * w
        if sp.issparse(self.a):
            hessian = (self.a.T @ self.a.multiply(second[:, None]).tocsr()).toarray() / self.n
        else:
            hessian = self.a.T @ (self.a * second[:, None]) / self.n
        return gradient, hessian + self.ridge * np.eye(len(w))

    def test_error(self, w: np.ndarray) -> float | None:
        """Share of wrong labels (a zero is half wrong), or mean squared error."""
        held_out = self.problem.held_out()
        if held_out is None:
            return None
        x, y = held_out
        z = np.asarray(x[:, self.support] @ w).ravel()
        if self.loss == "squared":
            return float(np.mean((y - z) ** 2))
        return float(np.mean(0.5 - 0.5 * np.sign(z) * y))

    def estimation_error(self, w: np.ndarray) -> float | None:
        truth = np.zeros(self.problem.meta["p"])
        truth[self.problem.truth] = self.problem.meta["coefficients"]
        return distance(truth, self.support, w)


class Network(Restricted):
    """-log det O + <S, O> over the diagonal of O and one set of edges."""

    def __init__(self, problem: Problem, support: np.ndarray) -> None:
        self.problem, self.p = problem, problem.meta["p"]
        self.s = np.cov(np.asarray(problem.x), rowvar=False, bias=True)
        diagonal = np.arange(self.p)
        self.i = np.concatenate([diagonal, support // self.p])
        self.j = np.concatenate([diagonal, support % self.p])
        self.twice = np.where(self.i == self.j, 0.5, 1.0)  # an edge moves two entries
        self.start = np.concatenate([1.0 / np.diag(self.s), np.zeros(len(support))])

    def matrix(self, w: np.ndarray) -> np.ndarray:
        o = np.zeros((self.p, self.p))
        o[self.i, self.j] = w
        o[self.j, self.i] = w
        return o

    def loss(self, w: np.ndarray, s: np.ndarray) -> float:
        o = self.matrix(w)
        try:
            factor = la.cholesky(o, lower=True)
        except la.LinAlgError:
            return float("inf")
        return float(-2.0 * np.log(np.diag(factor)).sum() + (s * o).sum())

    def value(self, w: np.ndarray) -> float:
        return self.loss(w, self.s)

    def derivatives(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        v, i, j = la.inv(self.matrix(w)), self.i, self.j
        gradient = 2.0 * self.twice * (self.s - v)[i, j]
        products = v[np.ix_(i, i)] * v[np.ix_(j, j)] + v[np.ix_(i, j)] * v[np.ix_(j, i)]
        hessian = 2.0 * np.outer(self.twice, self.twice) * products
        return gradient, hessian

    def test_error(self, w: np.ndarray) -> float | None:
        """The loss on the covariance of the rows held out."""
        held_out = self.problem.held_out()
        return None if held_out is None else self.loss(w, np.cov(np.asarray(held_out[0]), rowvar=False, bias=True))

    def estimation_error(self, w: np.ndarray) -> float | None:
        """In Frobenius norm."""
        meta, truth = self.problem.meta, np.zeros((self.p, self.p))
        truth.ravel()[meta["truth"]] = meta["coefficients"]
        truth += truth.T + np.diag(meta["diagonal"])
        return float(la.norm(self.matrix(w) - truth) / la.norm(truth))


def distance(truth: np.ndarray, support: np.ndarray, w: np.ndarray) -> float | None:
    length = la.norm(truth)
    found = np.zeros_like(truth)
    found[support] = w
    return float(la.norm(found - truth) / length) if length > 0 else None


def score(problem: Problem, answer: dict) -> dict:
    support = np.asarray(answer["support"], dtype=int)
    if len(np.unique(support)) != len(support) or len(support) > problem.k:
        return {"size": len(support), "refused": f"not a support of at most {problem.k} coordinates"}
    restricted = Network(problem, support) if problem.loss == "logdet" else Regression(problem, support)
    best = restricted.minimise()
    hits = len(set(support.tolist()) & set(problem.truth))
    found = {
        "value": restricted.value(best),
        "test": restricted.test_error(best),
        "estimation": restricted.estimation_error(best),
        "size": len(support),
        "hits": hits,
    }
    if problem.truth:
        found |= {"precision": hits / max(1, len(support)), "recall": hits / len(problem.truth)}
    if answer.get("coefficients") is not None:
        parts = answer.get("diagonal") or [], answer["coefficients"]
        w = np.concatenate([np.asarray(part, dtype=float) for part in parts])
        found |= {
            "as_returned": restricted.value(w),
            "test_returned": restricted.test_error(w),
            "estimation_returned": restricted.estimation_error(w),
        }
    # JSON knows no infinity: an answer outside the domain has no value.
    return {key: value if value is None or np.isfinite(value) else None for key, value in found.items()}


def main() -> None:
    problem = Problem.read(sys.argv[1])
    answers = json.load(sys.stdin)
    json.dump({name: score(problem, answer) for name, answer in answers.items()}, sys.stdout)


if __name__ == "__main__":
    main()
