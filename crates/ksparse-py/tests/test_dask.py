"""Fits over the partitions of a local cluster of two processes."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from on_cluster import EDGES, K, N, P, client, da, dask, data, fit_there, here, kd, same_bits  # noqa: F401

import ksparse
from ksparse import _core
from ksparse import _partition_choice as _choice

FAMILIES = {
    "SparseLinearRegression": (lambda z: z, {}),
    "SparseLogisticRegression": (lambda z: np.where(z > 0, "yes", "no"), {"alpha": 1e-3}),
    "SparsePoissonRegression": (lambda z: np.round(np.exp(0.5 * z)), {"alpha": 1e-3}),
    "SparseGammaRegression": (lambda z: np.exp(0.3 * z), {"alpha": 1e-3}),
    "SparseRobustRegression": (lambda z: z, {"width": 1.0}),
}


def cuts(shards):
    edges = [N * s // shards for s in range(shards + 1)]
    return tuple(b - a for a, b in zip(edges, edges[1:]))


def test_the_package_imports_no_dask():
    code = "import sys, ksparse; sys.exit(any(name in sys.modules for name in ('dask', 'distributed')))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize("name", FAMILIES)
def test_shards_do_not_matter(client, data, name):
    X, z = data
    target, parameters = FAMILIES[name]
    y = target(z)
    whole = getattr(ksparse, name)(K, solver="working-set", **parameters).fit(X, y)
    for shards, storage in ((1, "dense"), (2, "sparse"), (7, "dense")):
        blocks = da.from_array(X, chunks=(cuts(shards), P))
        if storage == "sparse":
            blocks = blocks.map_blocks(sp.csr_matrix)
        model = getattr(kd, name)(K, **parameters).fit(blocks, da.from_array(y, chunks=(cuts(shards),)))
        assert len(whole.support_) == K and (model.support_ == whole.support_).all()
        assert model.objective_ == pytest.approx(whole.objective_, rel=1e-9)
        assert np.allclose(model.coef_, whole.coef_, rtol=1e-5, atol=1e-7)
        assert model.n_samples_ == N and model.communication_["rounds"] <= 30


def test_the_bits_are_those_of_one_process(client, data):
    X, z = data
    for edges in ([0, N], [0, 1, 100, N], [0, 30, 60, 61, 200, 201, 230, N]):
        assert same_bits(fit_there(X, z, edges, standardize=True), here(X, z, edges, K, standardize=True))


def test_empty_and_one_sided_partitions(client, data):
    X, z = data
    order = np.argsort(z)
    X, z = X[order], z[order]
    y = np.where(z > 0, 1, 0)
    border = int((y == 0).sum())
    whole = ksparse.SparseLogisticRegression(K, alpha=1e-3, solver="working-set").fit(X, y)
    edges = [0, 0, border, border, border + 1, N]
    lists = [[dask.delayed(part[a:b]) for a, b in zip(edges, edges[1:])] for part in (X, y)]
    model = kd.SparseLogisticRegression(K, alpha=1e-3).fit(*lists)
    assert (model.support_ == whole.support_).all()
    assert model.objective_ == pytest.approx(whole.objective_, rel=1e-9)
    assert model.classes_.tolist() == [0, 1]


def test_weights_offsets_and_class_weights(client, data):
    X, z = data
    rng = np.random.default_rng(1)
    weights, offset = rng.integers(0, 3, N).astype(float), 0.1 * rng.standard_normal(N)
    cut = lambda values: da.from_array(values, chunks=((100, 140),) + ((P,),) * (values.ndim - 1))  # noqa: E731
    counts = np.round(np.exp(0.5 * z))
    whole = ksparse.SparsePoissonRegression(K, alpha=1e-3, solver="working-set").fit(X, counts, weights, offset=offset)
    model = kd.SparsePoissonRegression(K, alpha=1e-3).fit(cut(X), cut(counts), cut(weights), offset=cut(offset))
    assert model.objective_ == pytest.approx(whole.objective_, rel=1e-9)
    labels = z > 0.5
    options = {"alpha": 1e-3, "class_weight": "balanced"}
    whole = ksparse.SparseLogisticRegression(K, solver="working-set", **options).fit(X, labels)
    model = kd.SparseLogisticRegression(K, **options).fit(cut(X), cut(labels))
    assert model.objective_ == pytest.approx(whole.objective_, rel=1e-9)


def test_dataframes_and_lazy_predictions(client, data):
    dd = pytest.importorskip("dask.dataframe")
    import pandas as pd

    X, z = data
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(P)])
    table = dd.from_pandas(frame.assign(y=z), npartitions=3)
    model = kd.SparseLinearRegression(K).fit(table.drop(columns="y"), table["y"])
    assert model.feature_names_in_[3] == "x3"
    predicted = model.predict(table.drop(columns="y"))
    assert hasattr(predicted, "dask")
    plain = ksparse.SparseLinearRegression(K).fit(frame, z)
    assert np.allclose(predicted.compute(), plain.predict(frame), rtol=1e-6)
    blocks, target = da.from_array(X, chunks=(50, 10)), da.from_array(z, chunks=70)
    model = kd.SparseLinearRegression(K).fit(blocks, target)
    score = model.score(blocks, target)
    assert hasattr(score, "dask")
    assert float(score.compute()) == pytest.approx(plain.score(frame, z), rel=1e-6)
    labels = np.where(z > 0, "yes", "no")
    classifier = kd.SparseLogisticRegression(K).fit(blocks, da.from_array(labels, chunks=50))
    chances = classifier.predict_proba(blocks)
    assert chances.shape == (N, 2) and hasattr(chances, "dask")
    assert np.allclose(chances.compute(), classifier.predict_proba(X))
    assert float(classifier.score(blocks, da.from_array(labels, chunks=50)).compute()) > 0.9


def test_files_that_workers_read(client, data, tmp_path):
    from sklearn.datasets import dump_svmlight_file

    X, z = data
    whole = ksparse.SparseLinearRegression(K, solver="working-set").fit(X, z)
    names = [tmp_path / f"part-{a}.svm" for a in EDGES[:-1]]
    for name, a, b in zip(names, EDGES, EDGES[1:]):
        rows = X[a:b].copy()
        rows[:, -1] *= a == 60  # the last column occurs in one file only
        dump_svmlight_file(rows, z[a:b], str(name), zero_based=False)
    model = kd.SparseLinearRegression(K).fit(names)
    assert model.n_features_in_ == P and (model.support_ == whole.support_).all()
    pd, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    tables = [str(tmp_path / f"part-{a}.parquet") for a in EDGES[:-1]]
    for name, a, b in zip(tables, EDGES, EDGES[1:]):
        pd.DataFrame(X[a:b], columns=[f"x{j}" for j in range(P)]).assign(y=z[a:b]).to_parquet(name)
    model = kd.SparseLinearRegression(K).fit(tables, "y")
    assert model.objective_ == pytest.approx(whole.objective_, rel=1e-9)
    with pytest.raises(ValueError, match="partition 0 of 4 .*no column 'nothing'"):
        kd.SparseLinearRegression(K).fit(tables, "nothing")
    with pytest.raises(ValueError, match="Parquet"):
        kd.SparseLinearRegression(K).fit(["a.docx"])


def test_of_very_many_columns_those_that_are_touched_are_sent(client):
    n, p = 120, 1_100_000
    rng = np.random.default_rng(0)
    X = sp.random(n, p, 2e-5, format="csr", random_state=rng) + sp.csr_matrix(
        (rng.standard_normal(2 * n), (np.repeat(np.arange(n), 2), np.tile([3, p - 2], n))), shape=(n, p)
    )
    y = np.asarray(2 * X[:, 3].todense() - X[:, p - 2].todense()).ravel() + 0.01 * rng.standard_normal(n)
    edges = [0, 50, 80, n]
    parts = [[dask.delayed(part[a:b]) for a, b in zip(edges, edges[1:])] for part in (X.tocsr(), y)]
    model = kd.SparseLinearRegression(2).fit(*parts)
    found = here(X.tocsr(), y, edges, 2)
    assert model.support_.tolist() == [3, p - 2] and same_bits(model, found)
    # The sums of the first round, of the second and what follows: a number and a place for what has entries.
    assert model.communication_["bytes_up"] < found["communication"]["bytes_up"] / 20


CHOICES = {
    "SparseLinearRegressionCV": (lambda z: z, {}),
    "SparseLogisticRegressionCV": (lambda z: np.where(z > 0, "yes", "no"), {}),
    "SparseGammaRegressionCV": (lambda z: np.exp(0.3 * z), {}),
    "SparseRobustRegressionCV": (lambda z: z, {"width": 1.0}),
}


@pytest.mark.parametrize("name", CHOICES)
def test_a_choice_over_partitions(client, data, name):
    """Scores are those of fits in one place to the rows that are not held out."""
    X, z = data
    target, parameters = CHOICES[name]
    y = target(z)
    blocks = da.from_array(X, chunks=((100, 140), P))
    if name == "SparseLinearRegressionCV":
        blocks = blocks.map_blocks(sp.csr_matrix)
    options = {"ks": [2, K], "alphas": [1e-2], "cv": 2, **parameters}
    model = getattr(kd, name)(**options).fit(blocks, da.from_array(y, chunks=((100, 140),)))
    assert model.k_ == K and len(model.support_) == K and model.alpha_ == 1e-2
    assert model.cv_results_["mean_test_score"].shape == (2,) and model.communication_["rounds"] < 150
    assert model.predict(X).shape == (N,)
    signs = np.where(y == model.classes_[1], 1.0, -1.0) if hasattr(model, "classes_") else np.asarray(y, dtype=float)
    edges, start = [0, 100, N], ksparse._validation.seed(None)
    fold_of = np.concatenate(
        [_choice.dealt({"target": signs[a:b]}, place, 2, start) for place, (a, b) in enumerate(zip(edges, edges[1:]))]
    )
    whole = getattr(ksparse, name[:-2])(K, alpha=1e-2, solver="working-set", **parameters)
    for fold in range(2):
        held = fold_of == fold
        whole.fit(X[~held], y[~held])
        scores = X[held] @ np.ravel(whole.coef_) + np.ravel(whole.intercept_)
        expected = _core.deviance(*model._loss(), scores, signs[held], None)
        assert -model.cv_results_[f"split{fold}_test_score"][1] == pytest.approx(expected, rel=1e-4)


def test_a_choice_by_itself_and_one_that_is_stopped(client, data):
    X, z = data
    blocks, targets = da.from_array(X, chunks=(60, P)), da.from_array(z, chunks=60)
    model = kd.SparseLinearRegressionCV(ks=[2, K, 6], cv=2, rule="1se").fit(blocks, targets)
    assert model.k_ == K and set(model.support_) == {3, 7, 11, 20}
    assert len(model.cv_results_["params"]) == 12
    # What was scored by then decides, be it one fold of one cell.
    asked = {"ks": [1, K], "alphas": [1e-3], "cv": 2}
    seen = []
    stopped = kd.SparseLinearRegressionCV(**asked).fit(blocks, targets, callback=lambda at: seen.append(at) or True)
    assert stopped.k_ == 1 and len(seen) == 1 and seen[0].total == 4
    assert kd.SparseLinearRegressionCV(time_limit=0.0, **asked).fit(blocks, targets).k_ == 1
    for wrong, message in (({"cv": 1}, "number of folds"), ({"rule": "worst"}, "rule"), ({"scoring": "r2"}, "scoring")):
        with pytest.raises(ValueError, match=message):
            kd.SparseLinearRegressionCV(**wrong).fit(blocks, targets)


def poison():
    raise OSError("the disk is gone")


def test_a_partition_that_fails_says_its_name(client, data):
    X, z = data
    blocks = [dask.delayed(X[:100]), dask.delayed(poison)(), dask.delayed(X[200:])]
    targets = [dask.delayed(part) for part in (z[:100], z[100:200], z[200:])]
    with pytest.raises(OSError, match="partition 1 of 3 .*the disk is gone"):
        kd.SparseLinearRegression(K).fit(blocks, targets)
    with pytest.raises(ValueError, match="shape"):
        kd.SparseLinearRegression(K).fit([dask.delayed(X[:100])], [dask.delayed(z[:90])])
    with pytest.raises(ValueError, match="three|3 classes"):
        three = [dask.delayed(np.arange(N) % 3)]
        kd.SparseLogisticRegression(K).fit([dask.delayed(X)], three)
    broken = X.copy()
    broken[3, 5] = np.nan
    with pytest.raises(ValueError, match="not finite"):
        kd.SparseLinearRegression(K).fit([dask.delayed(broken)], [dask.delayed(z)])


def test_stopping(client, data):
    X, z = data
    blocks, targets = da.from_array(X, chunks=(60, P)), da.from_array(z, chunks=60)
    stopped = kd.SparseLinearRegression(K).fit(blocks, targets, callback=lambda progress: True)
    assert stopped.status_ == "stopped"
    assert kd.SparseLinearRegression(K, time_limit=0.0).fit(blocks, targets).status_ in ("time-limit", "stopped")

    def interrupt(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kd.SparseLinearRegression(K).fit(blocks, targets, callback=interrupt)
    with pytest.raises(NotImplementedError, match="samples|rows"):
        kd.SparseLinearRegression(K, solver="svrght").fit(blocks, targets)
    with pytest.raises(TypeError, match="dask array"):
        kd.SparseLinearRegression(K).fit(X, z)
