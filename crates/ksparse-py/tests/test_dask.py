"""Fits over the partitions of a local cluster of two processes."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import ksparse

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

import ksparse.dask as kd  # noqa: E402
from ksparse import _core, _partitions  # noqa: E402
from ksparse import _partition_choice as _choice  # noqa: E402

N, P, K = 240, 30, 4
EDGES = [0, 60, 120, 180, N]


@pytest.fixture(scope="module")
def client():
    settings = {"distributed.scheduler.allowed-failures": 5, "distributed.comm.timeouts.connect": "60s"}
    with dask.config.set(settings):
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster, distributed.Client(cluster) as client:
            yield client


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((N, P))
    X[:, 0] += 400.0
    X[rng.random((N, P)) < 0.3] = 0.0
    z = 1.5 * X[:, 3] - X[:, 7] + 0.7 * X[:, 11] + 0.5 * X[:, 20] + 0.3 * rng.standard_normal(N)
    return X, z


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


class HereRounds:
    """The same rounds in this process."""

    def __init__(self, partitions, loss):
        self.partitions, self.loss, self.count = partitions, loss, len(partitions)

    def each(self, question, frame):
        return [_partitions.answer(part, self.loss, frame, question) for part in self.partitions]

    def ask(self, question, frame):
        level = self.each(question, frame)
        while len(level) > 1:
            level = [sum(level[i + 1 : i + 2], level[i]) for i in range(0, len(level), 2)]
        return level[0]


def here(X, y, edges, k, standardize=False):
    parts = [
        _partitions.prepare(X[a:b], y[a:b], None, None, kd.numbers) for a, b in zip(edges, edges[1:])
    ]
    problem = {
        "loss": "squared",
        "loss_parameter": None,
        "alpha": 0.0,
        "intercept": True,
        "standardize": standardize,
        "penalty_factors": None,
    }
    search = kd.SparseLinearRegression(k, solver="working-set")._search(X.shape[1])
    return _core.fit_shards(HereRounds(parts, ("squared", None)), problem, search, k)


def fit_there(X, y, edges, **options):
    chunks = tuple(b - a for a, b in zip(edges, edges[1:]))
    blocks, targets = da.from_array(X, chunks=(chunks, P)), da.from_array(y, chunks=(chunks,))
    return kd.SparseLinearRegression(K, standardize=options.pop("standardize", False)).fit(blocks, targets, **options)


def same_bits(model, found):
    return (
        model.support_.tolist() == found["support"].tolist()
        and model.coef_[model.support_].tolist() == found["coef"].tolist()
        and model.intercept_ == found["intercept"]
        and model.objective_ == found["objective"]
    )


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
    for wrong, message in (({"cv": 1}, "number of folds"), ({"rule": "lean"}, "rule"), ({"scoring": "r2"}, "scoring")):
        with pytest.raises(ValueError, match=message):
            kd.SparseLinearRegressionCV(**wrong).fit(blocks, targets)


def load(X, marker):
    """A block; whoever loads it first dies of it."""
    if not os.path.exists(marker):
        open(marker, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return X


def test_a_worker_that_dies_while_loading(client, data, tmp_path):
    X, z = data
    blocks = [dask.delayed(load)(X[a:b], str(tmp_path / str(a == 60))) for a, b in zip(EDGES, EDGES[1:])]
    open(tmp_path / "False", "w").close()
    targets = [dask.delayed(z[a:b]) for a, b in zip(EDGES, EDGES[1:])]
    model = kd.SparseLinearRegression(K).fit(blocks, targets)
    assert (tmp_path / "True").exists()
    assert same_bits(model, here(X, z, EDGES, K))


def test_a_worker_that_dies_between_rounds(client, data):
    X, z = data
    killed = []

    def kill(progress):
        if not killed:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    model = fit_there(X, z, EDGES, callback=kill)
    assert killed
    assert same_bits(model, here(X, z, EDGES, K))


class DiesInARound(distributed.WorkerPlugin):
    """Kills its worker in the midst of the third answer it gives, once."""

    name = "dies-in-a-round"

    def __init__(self, marker):
        self.marker, self.answers = marker, 0

    def setup(self, worker):
        self.worker = worker

    def transition(self, key, start, finish, **kwargs):
        self.answers += finish == "executing" and str(key).startswith("answer")
        if self.answers == 3 and not os.path.exists(self.marker):
            open(self.marker, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_dies_inside_a_round(client, data, tmp_path):
    X, z = data
    marker = str(tmp_path / "died")
    client.register_plugin(DiesInARound(marker))
    try:
        model = fit_there(X, z, EDGES)
    finally:
        client.unregister_worker_plugin("dies-in-a-round")
    assert os.path.exists(marker)
    assert same_bits(model, here(X, z, EDGES, K))


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


def test_all_workers_gone(data):
    X, z = data
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        blocks, targets = da.from_array(X, chunks=(60, P)), da.from_array(z, chunks=60)
        model = kd.SparseLinearRegression(K, warm_start=True)
        whole = here(X, z, EDGES, K)

        def leave(progress):
            client.retire_workers(close_workers=True)
            cluster.scale(0)

        with pytest.raises(RuntimeError, match="no worker"):
            model.fit(blocks, targets, client=client, callback=leave, worker_timeout=1.0)
        assert model.status_ == "stopped" and len(model.support_) == K
        cluster.scale(1)
        model.fit(blocks, targets, client=client)
        assert model.objective_ == pytest.approx(whole["objective"], rel=1e-9)
