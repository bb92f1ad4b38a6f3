"""Pictures. matplotlib is imported when the first one is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._results import PathResult

#: As many curves of a path are named as fit beside it.
NAMED = 12


def _axes(ax: Any, **figure: Any) -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("Plots need matplotlib: pip install matplotlib") from error
    return plt.subplots(**figure)[1] if ax is None else ax


def plot_path(path: Any, *, ax: Any = None, feature_names: Any = None) -> Any:
    """Coefficients against k, a curve per column that is ever in use.

    Parameters
    ----------
    path : PathResult, or a fitted ...CV estimator
        For an estimator, its path is drawn, and the k it chose marked.
    ax : matplotlib axes, default=None
        Where to draw; None makes a figure.
    feature_names : array-like, default=None
        Names of the columns; those of the path, where it has them.

    Returns
    -------
    ax : matplotlib axes
    """
    chosen = getattr(path, "k_", None)
    path = getattr(path, "path_", path)
    if not isinstance(path, PathResult):
        raise TypeError("plot_path takes a PathResult or a fitted ...CV estimator of two classes or a real target.")
    if len(path) == 0:
        raise ValueError("this path has no solutions to draw.")
    ax = _axes(ax, figsize=(8, 5), layout="constrained")
    names = path.feature_names if feature_names is None else np.asarray(feature_names)
    coefs = path.coefs.tocsr()
    used = np.flatnonzero(np.diff(coefs.indptr))
    table = coefs[used].toarray()
    order = np.argsort(-np.abs(table[:, -1]), kind="stable")
    for rank, place in enumerate(order):
        named = rank < NAMED
        label = (str(names[used[place]]) if names is not None else f"column {used[place]}") if named else None
        style: dict[str, Any] = {"linewidth": 1.8} if named else {"linewidth": 0.8, "color": "0.75", "zorder": 1}
        if named:
            style["color"] = f"C{rank % 10}"
            style["linestyle"] = "-" if rank < 10 else "--"
        # A column is drawn from the last k without it.
        first = int(np.flatnonzero(table[place])[0])
        span = slice(max(0, first - 1), None)
        ax.plot(path.ks[span], table[place][span], marker="o", markersize=3, label=label, **style)
    if chosen is not None:
        ax.axvline(chosen, color="0.4", linestyle=":", linewidth=1.2, zorder=0)
        ax.annotate(f"chosen: k = {chosen}", (chosen, 1), xycoords=("data", "axes fraction"), xytext=(4, -12),
                    textcoords="offset points", color="0.3", fontsize=9)  # fmt: skip
    ax.axhline(0, color="0.6", linewidth=0.8, zorder=0)
    ax.set_xlabel("k, the number of coefficients")
    ax.set_ylabel("coefficient")
    if len(order):
        rest = f" ({len(order) - NAMED} more in grey)" if len(order) > NAMED else ""
        ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=9, title="largest at the end" + rest,
                  title_fontsize=9)  # fmt: skip
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_gap(model: Any, *, ax: Any = None, against: str = "seconds") -> Any:
    """The objective against time or iterations, with the proven lower bound where there is one.

    Parameters
    ----------
    model : fitted estimator or result of `minimize`
        With a trace of one search.
    ax : matplotlib axes, default=None
        Where to draw; None makes a figure.
    against : {'seconds', 'iteration'}, default='seconds'
        The horizontal axis.

    Returns
    -------
    ax : matplotlib axes
    """
    trace = getattr(model, "trace_", getattr(model, "trace", None))
    if not isinstance(trace, dict):
        raise TypeError("plot_gap takes an estimator fitted to one target, or the result of minimize.")
    if against not in ("seconds", "iteration"):
        raise ValueError(f"against must be 'seconds' or 'iteration', got {against!r}.")
    ax = _axes(ax, figsize=(7, 4.5), layout="constrained")
    objective = trace["objective"]
    ax.step(trace[against], objective, where="post", marker="o", markersize=3.5, color="C0", label="objective")
    bound = getattr(model, "lower_bound_", None)
    if bound is not None and np.isfinite(bound):
        ax.axhline(bound, color="C3", linewidth=1.4, label="lower bound: no model with k coefficients is below")
        ax.fill_between(trace[against], bound, objective, step="post", color="C0", alpha=0.12, linewidth=0)
        gap = objective[-1] - bound
        ax.annotate(f"gap {gap:.3g}", (trace[against][-1], (objective[-1] + bound) / 2), xytext=(6, 0),
                    textcoords="offset points", va="center", fontsize=9, color="0.3")  # fmt: skip
    ax.set_xlabel(against if against == "seconds" else "iteration")
    ax.set_ylabel("f")
    ax.legend(frameon=False, fontsize=9)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
