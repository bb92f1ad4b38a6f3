"""The judge: scores every answer by the objective after an exact refit on the support it names.

    judge.py <data directory> < answers.json > scores.json

`answers` maps a name to {"support": [...], "coefficients": [...] or absent}. A solver's own claim is never used: of an answer only
the support counts (its coefficients, when given, are scored too, to check a claim made about them). Nothing of ksparse is imported.
"""

from __future__ import annotations

import json
import sys

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp

from problem import Problem


class Restricted:
    """The objective over the columns of one support."""

    def __init__(self, problem: Problem, support: np.ndarray) -> None:
        columns = problem.x[:, support]
        self.a = columns.tocsr() if sp.issparse(columns) else np.ascontiguousarray(columns)
        self.y, self.n, self.ridge = problem.y, len(problem.y), problem.ridge
        self.loss, self.scale = problem.loss, problem.scale

    def value(self, w: np.ndarray) -> float:
        z = self.a @ w
        if self.loss == "squared":
            losses = 0.5 * (self.y - z) ** 2
        else:
            losses = np.logaddexp(0.0, -self.scale * self.y * z)
        return float(losses.mean() + 0.5 * self.ridge * (w @ w))

    def derivatives(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradient and Hessian."""
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

    def minimum(self) -> tuple[float, float]:
        """Smallest value, by Newton's method with step halving, and the gradient's norm there."""
        w = np.zeros(self.a.shape[1])
        value = self.value(w)
        for _ in range(200):
            gradient, hessian = self.derivatives(w)
            size = float(np.abs(gradient).max(initial=0.0))
            if size < 1e-13:
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
        return value, float(np.abs(self.derivatives(w)[0]).max(initial=0.0))


def score(problem: Problem, answer: dict) -> dict:
    support = np.asarray(answer["support"], dtype=int)
    if len(np.unique(support)) != len(support) or len(support) > problem.k:
        return {"value": None, "size": len(support), "refused": f"not a support of at most {problem.k} coordinates"}
    restricted = Restricted(problem, support)
    value, slope = restricted.minimum()
    found = {"value": value, "size": len(support), "gradient": slope, "hits": len(set(support) & set(problem.truth))}
    if answer.get("coefficients") is not None:
        found["as_returned"] = restricted.value(np.asarray(answer["coefficients"], dtype=float))
    return found


def main() -> None:
    problem = Problem.read(sys.argv[1])
    answers = json.load(sys.stdin)
    json.dump({name: score(problem, answer) for name, answer in answers.items()}, sys.stdout)


if __name__ == "__main__":
    main()
