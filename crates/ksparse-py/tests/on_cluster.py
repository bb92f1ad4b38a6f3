"""What the tests of partitions share: a local cluster of two processes, data, fits in this process."""

import numpy as np
import pytest

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

import ksparse.dask as kd  # noqa: E402
from ksparse import _core, shards  # noqa: E402

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


class HereRounds:
    """The same rounds in this process."""

    def __init__(self, partitions, loss):
        self.partitions, self.loss, self.count = partitions, loss, len(partitions)

    def each(self, question, frame):
        return [shards.answer(part, self.loss, frame, question) for part in self.partitions]

    def ask(self, question, frame):
        level = self.each(question, frame)
        while len(level) > 1:
            level = [sum(level[i + 1 : i + 2], level[i]) for i in range(0, len(level), 2)]
        return level[0]


def here(X, y, edges, k, standardize=False):
    parts = [
        shards.prepare(X[a:b], y[a:b]) for a, b in zip(edges, edges[1:])
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
