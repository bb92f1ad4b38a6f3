"""What pictures owe: texts inside and legible on light paper and on dark, hubs with their names."""

import numpy as np
import pytest

import ksparse

plt = pytest.importorskip("matplotlib.pyplot")
matplotlib_axis = pytest.importorskip("matplotlib.axis")
colors = pytest.importorskip("matplotlib.colors")

#: Without a place to break, with spaces, with signs that mean something to matplotlib.
NAMES = {
    "file": lambda j: f"{j}_" + "spectrometer_run_WM" * 8,
    "words": lambda j: f"{j} " + "a longer name than anyone reads " * 6,
    "signs": lambda j: f"_{j} $x_{{{j} and 5$ or \\frac\n" * 3,
    "short": lambda j: f"x{j}",
}
KINDS = ["path", "choice", "classes", "scores", "network scores", "gap", "graph", "large graph"]


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def hub(p, centre):
    """A network whose node `centre` has an edge to every other."""
    matrix = np.eye(p) * p
    matrix[centre, :] = matrix[:, centre] = np.where(np.arange(p) % 2, 0.5, -0.5)
    matrix[centre, centre] = p
    return matrix


@pytest.fixture(scope="module")
def models():
    """What is drawn, fitted once."""
    X, y, _ = ksparse.datasets.make_regression(120, 40, 4, correlation=0.5, noise=0.3, random_state=2)
    small, three = X[:, :8], np.digitize(y, np.quantile(y, [0.3, 0.7]))
    few = {"ks": [1, 2, 3], "alphas": [0.1], "cv": 3}
    return {
        "path": ksparse.path(ksparse.SparseLinearRegression(), X, y, ks=range(20)),
        "choice": ksparse.SparseLinearRegressionCV(**few).fit(X, y),
        "classes": ksparse.SparseLogisticRegressionCV(**few).fit(small, three),
        "scores": ksparse.SparseMultinomialRegressionCV(**few).fit(small, three),
        "network scores": ksparse.SparsePrecisionCV(ks=[0, 4, 8], cv=3).fit(small),
        "gap": ksparse.SparseLinearRegression(k=4, alpha=0.1).fit(X, y),
        "graph": hub(20, 7),
        "large graph": hub(120, 7),
    }


def drawn(kind, models, name):
    """A picture of each kind, as its axes."""
    model, names = models[kind], [name(j) for j in range(120)]
    if kind == "gap":
        return ksparse.plot_gap(model)
    if "graph" in kind:
        return ksparse.plot_graph(model, feature_names=names[: len(model)])
    if kind == "classes":
        model.classes_ = np.array(names[:3])
    return ksparse.plot_path(model, feature_names=names)


def texts_of(figure):
    """All but the numbers at ticks, of which those outside the limits keep their texts without being drawn."""
    ticks = figure.findobj(matplotlib_axis.Tick)
    numbers = {id(label) for tick in ticks for label in (tick.label1, tick.label2)}
    texts = [text for text in figure.findobj(plt.Text) if text.get_visible() and text.get_text().strip()]
    return [text for text in texts if id(text) not in numbers]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", KINDS)
def test_texts_stay_in_their_picture(models, kind, name):
    axes = np.atleast_1d(drawn(kind, models, NAMES[name]))
    figure = axes[0].figure
    figure.canvas.draw()
    whole = figure.bbox
    for text in texts_of(figure):
        box = text.get_window_extent()
        inside = box.x0 >= -1 and box.y0 >= -1 and box.x1 <= whole.width + 1 and box.y1 <= whole.height + 1
        assert inside, (text.get_text(), box, whole)
    for ax in axes:
        title, own = ax.title.get_window_extent(), ax.get_window_extent()
        assert not ax.get_title() or title.width <= 1.1 * own.width, (ax.get_title(), title, own)
        # What is drawn keeps more than a third of its share.
        assert own.width > 0.35 * whole.width / len(axes)


def contrast(colour, paper):
    """As WCAG has it, of a colour laid over paper."""
    red = np.array(colors.to_rgba(colour))
    mixed = red[3] * red[:3] + (1 - red[3]) * np.array(colors.to_rgb(paper))

    def luminance(rgb):
        linear = np.where(rgb <= 0.03928, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722]) + 0.05

    high, low = sorted((luminance(mixed), luminance(np.array(colors.to_rgb(paper)))), reverse=True)
    return high / low


@pytest.mark.parametrize("style", ["default", "dark_background"])
@pytest.mark.parametrize("kind", KINDS)
def test_pictures_show_on_light_paper_and_on_dark(models, kind, style):
    with plt.style.context(style):
        ax = np.atleast_1d(drawn(kind, models, NAMES["short"]))[0]
        ax.figure.canvas.draw()
        paper = ax.figure.get_facecolor()
        for text in texts_of(ax.figure):
            colour = colors.to_rgba(text.get_color(), text.get_alpha())
            assert contrast(colour, paper) >= 4.5, text.get_text()
        legend = ax.get_legend()
        lines = [] if legend is None else [line.get_color() for line in legend.get_lines()]
        dots = [colour for points in ax.collections if "graph" in kind for colour in points.get_facecolor()]
        for colour in [*lines, *dots]:
            assert contrast(colour, paper) >= 1.7, colour
        # What carries an edge: edges and their nodes.
        if "graph" in kind:
            assert all(contrast(colour, paper) >= 3 for colour in lines)
            assert contrast(dots[7], paper) >= 3


@pytest.mark.parametrize("p", [30, 200])
def test_hubs_have_their_names_first(p):
    matrix = hub(p, 7)
    matrix[7, p // 2 + 1 :] = matrix[p // 2 + 1 :, 7] = 0.0  # some nodes have no edge
    other = p // 3
    matrix[other, : p // 4] = matrix[: p // 4, other] = 0.25
    np.fill_diagonal(matrix, p)
    ax = ksparse.plot_graph(matrix, feature_names=[f"n{j}" for j in range(p)])
    named = {text.get_text() for text in ax.texts}
    assert {"n7", f"n{other}"} <= named
    assert len(named) == p or (p > 80 and len(named) < p / 2 and f"n{p - 1}" not in named)
    ax.figure.canvas.draw()
    # Turned by their places on the circle, names keep apart.
    middle, points = ax.transData.transform((0, 0)), ax.figure.dpi / 72
    at = [ax.transData.transform(text.xy) + points * np.array(text.get_position()) - middle for text in ax.texts]
    angles = np.sort([np.arctan2(y, x) for x, y in at])
    assert np.diff(angles).min() * np.linalg.norm(at, axis=1).min() >= points * ax.texts[0].get_fontsize()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("p", [20, 120])
def test_nodes_do_not_cover_their_names(p, name):
    ax = ksparse.plot_graph(hub(p, 7), feature_names=[NAMES[name](j) for j in range(p)])
    ax.figure.canvas.draw()
    nodes = ax.collections[0]
    centre = ax.transData.transform(nodes.get_offsets()[7])
    radius = np.sqrt(nodes.get_sizes().max() / np.pi) * ax.figure.dpi / 72
    # The hub stands on top of the circle.
    own = next(text for text in ax.texts if text.get_text().strip().startswith(NAMES[name](7)[:2]))
    assert own.get_window_extent().y0 >= centre[1] + radius
