"""Cox's partial likelihood by its definition, in 50 decimal digits: writes reference.json beside itself.

Standard library only; nothing of ksparse. Each risk set is gathered anew by a loop over all rows, derivatives are those
of the definition, the minimum is found by Newton's method.

    python3 reference.py
"""
import json
import pathlib
from decimal import Decimal, getcontext

getcontext().prec = 50
ROWS, COLUMNS = 40, 3


def numbers(seed):
    """A stream of small integers."""
    while True:
        seed = (seed * 1103515245 + 12345) % 2**31
        yield seed >> 16


def data():
    draw = numbers(7)
    rows = []
    for _ in range(ROWS):
        x = [next(draw) % 17 - 8 for _ in range(COLUMNS)]
        time = 2 + next(draw) % 9
        rows.append({
            "x": [v / 4 for v in x],
            "time": time,
            "event": next(draw) % 3 > 0,
            "entry": next(draw) % min(time, 5),
            "stratum": next(draw) % 2,
            "weight": (1 + next(draw) % 4) / 2,
        })
    return rows


def terms(rows, ties, entries, strata, weights):
    """(weight, [(row, share of it)]) for every logarithm of the likelihood."""
    weight = lambda r: Decimal(r["weight"] if weights else 1)
    for stratum in (0, 1) if strata else (None,):
        here = [r for r in rows if stratum is None or r["stratum"] == stratum]
        for time in sorted({r["time"] for r in here if r["event"]}):
            at_risk = [r for r in here if r["time"] >= time and (not entries or r["entry"] < time)]
            gone = [r for r in here if r["event"] and r["time"] == time]
            total = sum(weight(r) for r in gone)
            count = len(gone) if ties == "efron" else 1
            for left_out in range(count):
                share = lambda r: 1 - Decimal(left_out) / count if any(r is g for g in gone) else Decimal(1)
                yield total / count, [(r, weight(r) * share(r)) for r in at_risk]


def evaluate(rows, beta, ridge, **how):
    weight = lambda r: Decimal(r["weight"] if how["weights"] else 1)
    whole = sum(weight(r) for r in rows)
    x = lambda r: [Decimal(v) for v in r["x"]]
    z = lambda r: sum(a * b for a, b in zip(x(r), beta))
    value = -sum(weight(r) * z(r) for r in rows if r["event"])
    slope = [-sum(weight(r) * x(r)[a] for r in rows if r["event"]) for a in range(COLUMNS)]
    bend = [[Decimal(0)] * COLUMNS for _ in range(COLUMNS)]
    for m, members in terms(rows, **how):
        shares = [(r, c * z(r).exp()) for r, c in members]
        total = sum(s for _, s in shares)
        value += m * total.ln()
        mean = [sum(s * x(r)[a] for r, s in shares) / total for a in range(COLUMNS)]
        for a in range(COLUMNS):
            slope[a] += m * mean[a]
            for b in range(COLUMNS):
                second = sum(s * x(r)[a] * x(r)[b] for r, s in shares) / total
                bend[a][b] += m * (second - mean[a] * mean[b])
    value = value / whole + ridge / 2 * sum(b * b for b in beta)
    slope = [s / whole + ridge * b for s, b in zip(slope, beta)]
    bend = [[v / whole + (ridge if a == b else 0) for b, v in enumerate(row)] for a, row in enumerate(bend)]
    return value, slope, bend


def solve(a, b):
    rows = [list(row) + [v] for row, v in zip(a, b)]
    for c in range(len(rows)):
        pivot = max(range(c, len(rows)), key=lambda r: abs(rows[r][c]))
        rows[c], rows[pivot] = rows[pivot], rows[c]
        rows[c] = [v / rows[c][c] for v in rows[c]]
        for r in range(len(rows)):
            if r != c:
                rows[r] = [v - rows[r][c] * w for v, w in zip(rows[r], rows[c])]
    return [row[-1] for row in rows]


def minimum(rows, ridge, **how):
    beta = [Decimal(0)] * COLUMNS
    for _ in range(60):
        value, slope, bend = evaluate(rows, beta, ridge, **how)
        step = solve(bend, slope)
        beta = [b - s for b, s in zip(beta, step)]
        if max(abs(s) for s in step) < Decimal("1e-30"):
            return value, beta
    raise RuntimeError("no minimum")


rows = data()
at = [Decimal("0.3"), Decimal("-0.7"), Decimal("0.2")]
cases = []
for ties in ("breslow", "efron"):
    for entries, strata, weights, ridge in [(0, 0, 0, "0"), (1, 0, 0, "0"), (0, 1, 1, "0"), (1, 1, 1, "0.05")]:
        how = {"ties": ties, "entries": bool(entries), "strata": bool(strata), "weights": bool(weights)}
        value, slope, bend = evaluate(rows, at, Decimal(ridge), **how)
        least, beta = minimum(rows, Decimal(ridge), **how)
        cases.append({
            **how, "ridge": float(ridge), "value": float(value), "gradient": [float(s) for s in slope],
            "hessian": [[float(v) for v in row] for row in bend],
            "minimum": float(least), "coefficients": [float(b) for b in beta],
        })
out = {"at": [float(v) for v in at], "rows": rows, "cases": cases}
pathlib.Path(__file__).with_suffix(".json").write_text(json.dumps(out, indent=1) + "\n")
