"""Pictures. matplotlib is imported when the first one is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._results import PathResult

#: As many curves of a path are named as fit beside it.
NAMED = 12
#: Where f falls by so much, its last steps show on a logarithmic axis only.
DECADES = 100.0
#: Colours of edges that show on light paper and on dark.
POSITIVE, NEGATIVE = "#4393c3", "#d6604d"
#: Longer names would leave no room for what they name.
LETTERS = 24
#: The width of a letter in heights of its font, rather too wide: DejaVu Sans has 0.6 on average.
LETTER = 0.62


def _short(name: Any, letters: int = LETTERS) -> str:
    """A name of at most so many letters (those of East Asian scripts are two wide), as matplotlib takes it: what stands
    between dollars is no formula, and what begins with an underscore is shown."""
    text = " ".join(str(name).split())
    wide = np.cumsum([2 if ord(letter) > 0x2E80 else 1 for letter in text])
    if text and wide[-1] > letters:
        text = text[: int(np.sum(wide < letters))] + "\u2026"
    return (" " if text.startswith("_") else "") + text.replace("$", r"\$")


def _inches(ax: Any) -> float:
    """How wide the place for axes is, before anything beside them is laid out."""
    box = ax.get_position(original=True)
    return float(box.width * ax.figure.get_size_inches()[0])


def _axes(ax: Any, **figure: Any) -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("Plots need matplotlib: pip install matplotlib") from error
    return plt.subplots(**figure)[1] if ax is None else ax


def _whole_numbers(axis: Any) -> None:
    """Ticks at whole numbers: there is no half of a coefficient, nor of an iteration."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(nbins=8, integer=True))


def _ink() -> dict[str, Any]:
    """The colour of texts and thin lines, on light paper and on dark."""
    import matplotlib.pyplot as plt

    return {"color": plt.rcParams["text.color"], "alpha": 0.75}


def _mark(ax: Any, chosen: Any) -> None:
    ax.axvline(chosen, linestyle=":", linewidth=1.2, zorder=0, **_ink())
    low, high = ax.get_xlim()
    right = chosen > (low + high) / 2  # the side with room
    ax.annotate(f"chosen: k = {chosen}", (chosen, 1), xycoords=("data", "axes fraction"),
                xytext=(-4 if right else 4, -12), ha="right" if right else "left",
                textcoords="offset points", fontsize=9, **_ink())  # fmt: skip


#: Paths of more classes or responses than this are not drawn side by side: their scores are.
PANELS = 8


def plot_path(path: Any, *, ax: Any = None, feature_names: Any = None) -> Any:
    """Coefficients against k, a curve per column that is ever in use.

    Parameters
    ----------
    path : PathResult, list of them, or a fitted ...CV estimator
        For an estimator, its path is drawn, and the k it chose marked; for three classes and more one beside the other.
        For one that keeps no path (networks, survival times, several classes at once), its score against k.
    ax : matplotlib axes, default=None
        Where to draw; None makes a figure. For several paths, as many axes.
    feature_names : array-like, default=None
        Names of the columns; those of the path, where it has them.

    Returns
    -------
    ax : matplotlib axes, or an array of them for several paths
    """
    chosen, classes = getattr(path, "k_", None), getattr(path, "classes_", None)
    paths = getattr(path, "path_", None)
    several = isinstance(paths, list) and len(paths) > PANELS
    if hasattr(path, "cv_results_") and (paths is None or several):
        return _scores(path, ax)
    of = "response" if classes is None and paths is not None else "class"
    path = path if paths is None else paths
    if isinstance(path, list) and path and all(isinstance(one, PathResult) for one in path):
        count = len(path)
        axes = np.atleast_1d(_axes(ax, ncols=count, figsize=(5.5 * count, 5), sharey=True, layout="constrained"))
        if len(axes) != count:
            raise ValueError(f"there are {count} paths to draw, a class or a response each: ax must be as many axes.")
        for place, (one, own) in enumerate(zip(path, axes, strict=True)):
            _coefficients(one, own, feature_names, chosen)
            own.set_title(f"{of} {_short(place if classes is None else classes[place], LETTERS // 2)}")
        return axes
    if not isinstance(path, PathResult):
        raise TypeError("plot_path takes a PathResult, a list of them, or a fitted ...CV estimator.")
    return _coefficients(path, _axes(ax, figsize=(8, 5), layout="constrained"), feature_names, chosen)


def _scores(model: Any, ax: Any) -> Any:
    """What cross-validation measured for each k, of the best ridge where there are several."""
    table = model.cv_results_
    k_of, mean = np.asarray(table["param_k"], dtype=int), np.asarray(table["mean_test_score"])
    ks = np.unique(k_of)
    best = [max(np.flatnonzero(k_of == k), key=lambda cell: mean[cell]) for k in ks]
    ax = _axes(ax, figsize=(8, 5), layout="constrained")
    ax.errorbar(ks, mean[best], np.asarray(table["std_error"])[best], marker="o", markersize=3.5, capsize=2)
    _mark(ax, model.k_)
    _whole_numbers(ax.xaxis)
    ax.set_xlabel("k, the number of edges" if hasattr(model, "edges_") else "k, the number of columns")
    ax.set_ylabel("score on rows held out")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _coefficients(path: PathResult, ax: Any, feature_names: Any, chosen: Any) -> Any:
    if len(path) == 0:
        raise ValueError("this path has no solutions to draw.")
    names = path.feature_names if feature_names is None else np.asarray(feature_names)
    coefs = path.coefs.tocsr()
    used = np.flatnonzero(np.diff(coefs.indptr))
    table = coefs[used].toarray()
    order = np.argsort(-np.abs(table[:, -1]), kind="stable")
    for rank, place in enumerate(order):
        named = rank < NAMED
        label = (_short(names[used[place]]) if names is not None else f"column {used[place]}") if named else None
        faint: dict[str, Any] = {"linewidth": 0.8, "color": "0.6", "alpha": 0.6, "zorder": 1}
        style: dict[str, Any] = {"linewidth": 1.8} if named else faint
        if named:
            style["color"] = f"C{rank % 10}"
            style["linestyle"] = "-" if rank < 10 else "--"
        # A column is drawn from the last k without it.
        first = int(np.flatnonzero(table[place])[0])
        span = slice(max(0, first - 1), None)
        ax.plot(path.ks[span], table[place][span], marker="o", markersize=3, label=label, **style)
    if chosen is not None:
        _mark(ax, chosen)
    ax.axhline(0, color="0.6", linewidth=0.8, zorder=0)
    _whole_numbers(ax.xaxis)
    ax.set_xlabel("k, the number of coefficients")
    ax.set_ylabel("coefficient")
    if len(order):
        rest = f" ({len(order) - NAMED} more in grey)" if len(order) > NAMED else ""
        ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=9,
                  title="largest at the end" + rest, title_fontsize=9)  # fmt: skip
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
    # Methods with a fixed step rise again; what a fit returns is the best it has seen, refitted.
    seen, best = trace["objective"], np.minimum.accumulate(trace["objective"])
    last = min(float(best[-1]), getattr(model, "objective_", getattr(model, "fun", np.inf)))
    at = trace[against].astype(float)
    at, best = np.append(at, at[-1] + 0.03 * (at[-1] - at[0] or 1.0)), np.append(best, last)
    if np.any(np.diff(seen) > 0):
        ax.plot(at[:-1], seen, linewidth=0.6, color="C0", alpha=0.4, label="f of each iteration")
    ax.step(at, best, where="post", color="C0", label="the best f so far")
    ax.plot(at[:-1], best[:-1], "o", markersize=3.5 if len(at) < 50 else 0, color="C0")
    bound = getattr(model, "lower_bound_", None)
    if bound is not None and np.isfinite(bound) and bound > 0:
        ax.axhline(bound, color="C3", linewidth=1.4, label="no model with k coefficients is below")
        ax.fill_between(at, bound, best, step="post", color="C0", alpha=0.12, linewidth=0)
        ax.annotate(f"gap {last - bound:.2g}", (at[-1], (last + bound) / 2), xytext=(6, 0),
                    textcoords="offset points", va="center", fontsize=9, **_ink())  # fmt: skip
    _scale(ax, best, bound)
    if against == "iteration":
        _whole_numbers(ax.xaxis)
    else:
        ax.locator_params(axis="x", nbins=6)
    ax.set_xlabel(against)
    ax.set_ylabel("f")
    ax.legend(loc="upper right", frameon=False, fontsize=9)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _scale(ax: Any, objective: Any, bound: float | None) -> None:
    """A logarithmic axis where f falls by decades; plain numbers, and not the noise of a search that no longer moves,
    elsewhere."""
    values = [*objective, *([bound] if bound else [])]
    low, high = min(values), max(values)
    if low > 0.0 and high > DECADES * low:
        ax.set_yscale("log")
        return
    ax.ticklabel_format(axis="y", useOffset=False)
    span = max(high - low, 1e-3 * max(abs(low), abs(high))) or 1.0
    # Room for the legend above.
    ax.set_ylim((low + high - span) / 2 - 0.08 * span, (low + high + span) / 2 + 0.25 * span)


def plot_graph(network: Any, *, ax: Any = None, feature_names: Any = None) -> Any:
    """A network on a circle: an edge per pair that depends given all others, its width by the strength, its colour by
    the sign.

    Parameters
    ----------
    network : fitted SparsePrecision, or a symmetric precision matrix
        What to draw.
    ax : matplotlib axes, default=None
        Where to draw; None makes a figure.
    feature_names : array-like, default=None
        Names of the variables; those the estimator has seen, where it has.

    Returns
    -------
    ax : matplotlib axes
    """
    network_or_matrix = "plot_graph takes a fitted SparsePrecision or a square matrix"
    if hasattr(network, "fit") and not hasattr(network, "precision_"):
        raise TypeError(f"{network_or_matrix}, got {type(network).__name__}; plot_path draws a regression.")
    matrix = np.asarray(getattr(network, "precision_", network), dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{network_or_matrix}, got shape {matrix.shape}.")
    names = getattr(network, "feature_names_in_", None) if feature_names is None else np.asarray(feature_names)
    p = len(matrix)
    ax = _axes(ax, figsize=(7, 7), layout="constrained")
    scale = np.sqrt(np.outer(np.diag(matrix), np.diag(matrix)))
    partial = -matrix / scale
    pairs = np.argwhere(np.triu(matrix, 1))
    order = _around(pairs, p)
    place = np.empty(p)
    place[order] = np.arange(p)
    angle = np.pi / 2 - 2 * np.pi * place / p
    x, y = np.cos(angle), np.sin(angle)
    strongest = max((abs(partial[i, j]) for i, j in pairs), default=1.0)
    for i, j in sorted(pairs.tolist(), key=lambda pair: abs(partial[pair[0], pair[1]])):
        strength = abs(partial[i, j]) / strongest
        colour = POSITIVE if partial[i, j] > 0 else NEGATIVE
        # A curve bent towards the centre: chords of neighbours stay apart from the circle.
        t = np.linspace(0, 1, 24)[:, None]
        ends = np.array([[x[i], y[i]], [x[j], y[j]]])
        bend = (0.9 - 0.3 * np.linalg.norm(ends[0] - ends[1])) * ends.mean(axis=0)
        curve = (1 - t) ** 2 * ends[0] + 2 * t * (1 - t) * bend + t**2 * ends[1]
        ax.plot(curve[:, 0], curve[:, 1], color=colour, linewidth=0.5 + 3.5 * strength, alpha=0.35 + 0.6 * strength,
                solid_capstyle="round", zorder=1)  # fmt: skip
    degree = np.bincount(pairs.ravel(), minlength=p) if len(pairs) else np.zeros(p, dtype=int)
    sizes = 30 + 20 * np.minimum(degree, 9)
    ax.scatter(x, y, s=sizes, color=np.where(degree > 0, "0.45", "0.75"), zorder=2)
    limit = _names(ax, np.arange(p) if names is None else names, angle, degree, np.sqrt(sizes / np.pi) + 3)
    for colour, label in ((POSITIVE, "positive partial correlation"), (NEGATIVE, "negative")):
        ax.plot([], [], color=colour, linewidth=2, label=label)
    title = "1 edge" if len(pairs) == 1 else f"{len(pairs)} edges"
    ax.legend(loc="upper left", frameon=False, fontsize=9, title=title, alignment="left")
    ax.set_aspect("equal")
    ax.set_xlim(-limit, limit)
    ax.set_ylim(-limit, limit)
    ax.set_axis_off()
    return ax


def _names(ax: Any, names: Any, angle: Any, degree: Any, away: Any) -> float:
    """Names around the circle, so many points away from the middle of their nodes, of those with most edges first, as
    many as do not cover each other. Returns where axes end that have room for them."""
    p, size = len(angle), 9 if len(angle) <= 40 else 7
    # Where there are many, those without an edge would take the place of others.
    shown = [node for node in np.argsort(-degree, kind="stable") if degree[node] > 0 or p <= 80]
    longest = max((len(_short(names[node])) for node in shown), default=0) * LETTER * size + max(away, default=0)
    limit = max(1.35, 1 / max(1 - longest / 36 / _inches(ax), 0.28))
    apart = 1.1 * size / (36 * _inches(ax) / limit + min(away, default=0))
    taken: list[float] = []
    for node in shown:
        if any(abs((angle[node] - other + np.pi) % (2 * np.pi) - np.pi) < apart for other in taken):
            continue
        taken.append(angle[node])
        out, turn = np.array([np.cos(angle[node]), np.sin(angle[node])]), np.degrees(angle[node])
        left = out[0] < -1e-9
        ax.annotate(_short(names[node]), out, xytext=away[node] * out, textcoords="offset points",
                    rotation=turn + 180 if left else turn, rotation_mode="anchor", ha="right" if left else "left",
                    va="center", fontsize=size)  # fmt: skip
    return limit


def _around(pairs: Any, p: int) -> Any:
    """An order of the nodes around the circle with neighbours near each other: components one after another, breadth
    first."""
    neighbours: list[list[int]] = [[] for _ in range(p)]
    for i, j in pairs:
        neighbours[i].append(int(j))
        neighbours[j].append(int(i))
    order: list[int] = []
    seen = [False] * p
    for root in sorted(range(p), key=lambda node: -len(neighbours[node])):
        queue = [] if seen[root] else [root]
        while queue:
            node = queue.pop(0)
            if not seen[node]:
                seen[node] = True
                order.append(node)
                queue.extend(sorted(n for n in neighbours[node] if not seen[n]))
    return np.array(order, dtype=int)
