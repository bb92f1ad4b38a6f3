"""Pictures are drawn, examples run, the documentation is there."""

import inspect
import runpy
from pathlib import Path

import numpy as np
import pytest

import ksparse

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(example, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", [str(example)])
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out


def test_pictures(regression, tmp_path):
    pytest.importorskip("matplotlib")
    X, y, _ = regression
    chosen = ksparse.SparseLinearRegressionCV(ks=range(1, 10)).fit(X, y)
    model = ksparse.SparseLinearRegression(k=4, alpha=0.1).fit(X, y)
    network = ksparse.SparsePrecision(k=8).fit(X[:, :10])
    for number, ax in enumerate(
        [
            ksparse.plot_path(chosen),
            ksparse.plot_path(chosen.path_, feature_names=[f"x{j}" for j in range(X.shape[1])]),
            ksparse.plot_gap(model),
            ksparse.plot_gap(ksparse.minimize(lambda x: (x @ x, 2 * x), 1, 3), against="iteration"),
            ksparse.plot_graph(network),
            ksparse.plot_graph(network.precision_, feature_names=[f"x{j}" for j in range(10)]),
        ]
    ):
        file = tmp_path / f"{number}.png"
        ax.figure.savefig(file)
        assert file.stat().st_size > 5000
    assert len(ksparse.plot_path(chosen).lines) >= np.count_nonzero(chosen.path_.coefs[:, [-1]].toarray())
    for draw, wrong in ((ksparse.plot_path, model), (ksparse.plot_path, []), (ksparse.plot_gap, 3)):
        with pytest.raises(TypeError):
            draw(wrong)
    with pytest.raises(ValueError):
        ksparse.plot_graph(np.ones(3))


def test_pictures_of_several_classes_and_networks(regression):
    plt = pytest.importorskip("matplotlib.pyplot")
    X = regression[0][:, :10]
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    three = ksparse.SparseLogisticRegressionCV(ks=[1, 2, 3], alphas=[0.1]).fit(X, y)
    axes = ksparse.plot_path(three)
    assert [ax.get_title() for ax in axes] == ["class 0", "class 1", "class 2"]
    assert len(ksparse.plot_path(three.path_[:2])) == 2
    with pytest.raises(ValueError, match="3 paths"):
        ksparse.plot_path(three, ax=plt.subplots()[1])
    jointly = ksparse.SparseMultinomialRegressionCV(ks=[1, 2, 3], alphas=[0.1]).fit(X, y)
    assert [ax.get_title() for ax in ksparse.plot_path(jointly)] == ["class 0", "class 1", "class 2"]
    both = ksparse.SparseMultiTaskRegressionCV(ks=[1, 2, 3], alphas=[0.1]).fit(X, X[:, :2] + X[:, 3:5])
    assert [ax.get_title() for ax in ksparse.plot_path(both)] == ["response 0", "response 1"]
    many = ksparse.SparseMultinomialRegressionCV(ks=[1, 2, 3], alphas=[0.1], cv=3).fit(X, np.arange(len(X)) % 9)
    for model, counted in (
        (ksparse.SparsePrecisionCV(ks=[0, 4, 8]).fit(X), "edges"),
        (many, "columns"),
    ):
        ax = ksparse.plot_path(model)
        assert counted in ax.get_xlabel() and "score" in ax.get_ylabel()
        assert len(ax.containers[0].lines[0].get_xdata()) == 3
    plt.close("all")


def test_axes_have_whole_numbers_and_decades(regression):
    plt = pytest.importorskip("matplotlib.pyplot")
    X, y, _ = regression
    ax = ksparse.plot_path(ksparse.path(ksparse.SparseLinearRegression(), X, y, ks=[1, 2, 3]))
    ax.figure.canvas.draw()
    assert all(float(tick).is_integer() for tick in ax.get_xticks())
    # From a thousand down to 1e-3 the last steps show on a logarithmic axis only.
    centre = np.array([30, 3, 0.3])
    curve = ksparse.minimize(lambda x: (1e-3 + ((x - centre) ** 2).sum(), 2 * (x - centre)), 3, 3, solver="fbs")
    assert ksparse.plot_gap(curve, against="iteration").get_yscale() == "log"
    flat = ksparse.plot_gap(ksparse.SparseLinearRegression(k=4).fit(X, y))
    assert flat.get_yscale() == "linear" and not flat.yaxis.get_major_formatter().get_useOffset()
    plt.close("all")


def test_the_gap_is_that_of_the_model_returned(regression):
    plt = pytest.importorskip("matplotlib.pyplot")
    X, y, _ = regression
    # Its own steps rise again; the fit returns the best point, refitted.
    model = ksparse.SparseLinearRegression(k=4, alpha=0.1, solver="diht", fit_intercept=False).fit(X, y)
    ax = ksparse.plot_gap(model)
    best = next(line for line in ax.lines if line.get_label() == "the best f so far").get_ydata()
    assert (np.diff(best) <= 0).all() and best[-1] == pytest.approx(model.objective_)
    assert f"gap {model.dual_gap_:.2g}" in [text.get_text() for text in ax.texts]
    plt.close("all")


def test_everything_public_is_documented():
    for name in ksparse.__all__:
        thing = getattr(ksparse, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert inspect.getdoc(thing), name
            assert "{" not in (thing.__doc__ or "").replace("{'", ""), name
        if inspect.isclass(thing) and name.startswith("Sparse"):
            for parameter in thing().get_params():
                assert parameter in thing.__doc__, (name, parameter)
            for method, _ in inspect.getmembers(thing, inspect.isfunction):
                assert method.startswith("_") or inspect.getdoc(getattr(thing, method)), (name, method)
