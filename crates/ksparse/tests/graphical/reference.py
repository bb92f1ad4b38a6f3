"""The minimum of -log det O + <S, O> on given supports, in 50 decimal digits: writes reference.json beside itself.

Standard library only; nothing of ksparse. Newton's method on the lower triangle, Gaussian elimination, Cholesky, all in
`decimal`.

    python3 reference.py
"""
import json
import pathlib
from decimal import Decimal, getcontext

getcontext().prec = 50


def cholesky(a):
    """L with A = L L', or None outside the cone."""
    m = len(a)
    low = [[Decimal(0)] * m for _ in range(m)]
    for j in range(m):
        for i in range(j, m):
            rest = a[i][j] - sum(low[i][c] * low[j][c] for c in range(j))
            if i == j:
                if rest <= 0:
                    return None
                low[j][j] = rest.sqrt()
            else:
                low[i][j] = rest / low[j][j]
    return low


def solve(a, b):
    """A^-1 B by elimination with row pivots."""
    m, width = len(a), len(b[0])
    rows = [list(a[i]) + list(b[i]) for i in range(m)]
    for c in range(m):
        pivot = max(range(c, m), key=lambda r: abs(rows[r][c]))
        rows[c], rows[pivot] = rows[pivot], rows[c]
        head = rows[c][c]
        rows[c] = [v / head for v in rows[c]]
        for r in range(m):
            if r != c and rows[r][c] != 0:
                factor = rows[r][c]
                rows[r] = [v - factor * w for v, w in zip(rows[r], rows[c])]
    return [row[m : m + width] for row in rows]


def matrix(p, entries, x):
    o = [[Decimal(0)] * p for _ in range(p)]
    for (i, j), v in zip(entries, x):
        o[i][j] = o[j][i] = v
    return o


def value(s, o):
    low = cholesky(o)
    if low is None:
        return None
    p = len(s)
    return sum(s[i][j] * o[i][j] for i in range(p) for j in range(p)) - 2 * sum(low[i][i].ln() for i in range(p))


def minimise(s, edges):
    """The minimum over the diagonal and `edges`, with its value."""
    p = len(s)
    entries = [(i, i) for i in range(p)] + [(max(e), min(e)) for e in edges]
    x = [1 / s[i][i] if i == j else Decimal(0) for i, j in entries]
    at = value(s, matrix(p, entries, x))
    identity = [[Decimal(int(i == j)) for j in range(p)] for i in range(p)]
    for _ in range(200):
        w = solve(matrix(p, entries, x), identity)
        weight = [1 if i == j else 2 for i, j in entries]
        gradient = [m * (s[i][j] - w[i][j]) for m, (i, j) in zip(weight, entries)]
        hessian = [
            [Decimal(m * n) / 2 * (w[i][k] * w[j][q] + w[i][q] * w[j][k]) for n, (k, q) in zip(weight, entries)]
            for m, (i, j) in zip(weight, entries)
        ]
        direction = [row[0] for row in solve(hessian, [[-g] for g in gradient])]
        decrement = -sum(g * d for g, d in zip(gradient, direction))
        if decrement < Decimal(10) ** -40:
            return matrix(p, entries, x), at
        step = Decimal(1)
        while True:
            trial = [v + step * d for v, d in zip(x, direction)]
            there = value(s, matrix(p, entries, trial))
            if there is not None and there <= at - step * decrement / 10000:
                x, at = trial, there
                break
            step /= 2
    raise RuntimeError("no convergence")


def covariance(p, n, seed):
    """X'X / n of n pseudo-random rows, as doubles."""
    state = seed
    rows = []
    for _ in range(n):
        row = []
        for _ in range(p):
            total = 0
            for _ in range(4):
                state = (6364136223846793005 * state + 1442695040888963407) % 2**64
                total += state >> 40
            row.append(total / 2**24 - 2.0)
        for j in range(1, p):
            row[j] += 0.6 * row[j - 1]
        rows.append(row)
    return [[sum(r[i] * r[j] for r in rows) / n for j in range(p)] for i in range(p)]


CASES = [
    ("a chain", 5, 20, 1, [(i, i + 1) for i in range(4)]),
    ("a cycle with a chord", 8, 30, 2, [(i, (i + 1) % 8) for i in range(8)] + [(0, 4)]),
    ("a tree, fewer rows than variables", 6, 4, 3, [(0, 1), (1, 2), (1, 3), (3, 4), (3, 5)]),
    ("all edges", 6, 30, 4, [(i, j) for i in range(6) for j in range(i)]),
    ("two components and a node alone", 9, 25, 5, [(0, 1), (1, 2), (0, 2), (2, 3), (4, 5), (5, 6), (6, 7), (4, 7)]),
    ("nearly singular", 7, 8, 6, [(i, j) for i in range(7) for j in range(i) if (i * j) % 3 != 1]),
]


def main():
    cases = []
    for name, p, n, seed, edges in CASES:
        s = covariance(p, n, seed)
        o, at = minimise([[Decimal(v) for v in row] for row in s], edges)
        pairs = sorted((min(e), max(e)) for e in edges)
        cases.append(
            {"name": name, "covariance": s, "edges": pairs, "value": float(at),
             "precision": [[float(v) for v in r] for r in o]}
        )
        print(f"{name}: {at}")
    path = pathlib.Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(cases, indent=1) + "\n")


if __name__ == "__main__":
    main()
