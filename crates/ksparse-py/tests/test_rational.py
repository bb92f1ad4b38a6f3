"""Bounds of least squares without a ridge against all models in rational arithmetic, on small whole numbers."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import ksparse


def minimiser(gram, cross):
    """The solution of a system by Gauss and Jordan; None where it is singular."""
    size = len(gram)
    rows = [[*line, right] for line, right in zip(gram, cross)]
    for i in range(size):
        pivot = next((r for r in range(i, size) if rows[r][i] != 0), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(size):
            if r != i and rows[r][i] != 0:
                factor = rows[r][i] / rows[i][i]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i])]
    return [rows[i][size] / rows[i][i] for i in range(size)]


def dot(u, v):
    return sum(a * b for a, b in zip(u, v))


def lowest(X, y, k, intercept):
    """The least f of any model with k columns."""
    columns = [[Fraction(int(v)) for v in column] for column in X.T]
    target = [Fraction(int(v)) for v in y]
    ones = [[Fraction(1)] * len(y)] if intercept else []
    values = []
    for support in itertools.combinations(columns, k):
        used = [*support, *ones]
        cross = [dot(u, target) for u in used]
        w = minimiser([[dot(u, v) for v in used] for u in used], cross)
        if w is not None:
            values.append((dot(target, target) - dot(w, cross)) / (2 * len(y)))
    return min(values)


@pytest.mark.parametrize("offset", [0, 10**3, 10**5])
def test_no_model_goes_below_a_bound_without_a_ridge(offset):
    random = np.random.default_rng(offset)
    tight = 0
    for _ in range(20):
        n, p, k = random.integers(8, 14), random.integers(3, 6), int(random.integers(1, 3))
        X = random.integers(-9, 10, (n, p)).astype(float)
        if random.random() < 0.4:  # nearly the same column twice
            X[:, 1] = X[:, 0] + (np.arange(n) % 5 == 0)
        X += offset * (random.random(p) < 0.5)
        y = random.integers(-9, 10, n) + float(offset * (random.random() < 0.3))
        intercept, tol = bool(random.integers(2)), float(random.choice([1e-9, 1e-6, 1e-3, 0.5]))
        model = ksparse.SparseLinearRegression(k, solver="exact", fit_intercept=intercept, tol=tol)
        try:
            model.fit(X, y)
        except ValueError as refused:  # of full rank for no more than rounding errors
            assert "full rank" in str(refused)
            continue
        best = lowest(X, y, k, intercept)
        assert Fraction(float(model.lower_bound_)) <= best
        tight += model.lower_bound_ >= 0.999 * float(best)
    assert tight >= 5
