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
    for draw, wrong in ((ksparse.plot_path, model), (ksparse.plot_gap, 3)):
        with pytest.raises(TypeError):
            draw(wrong)
    with pytest.raises(ValueError):
        ksparse.plot_graph(np.ones(3))


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
