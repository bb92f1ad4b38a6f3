"""Workers that die, leave and come while a fit runs."""

import os
import signal

import numpy as np
import pytest
from on_cluster import EDGES, K, P, client, da, dask, data, distributed, fit_there, here, kd, same_bits  # noqa: F401

import ksparse


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


class Counts(distributed.WorkerPlugin):
    """Counts the answers of its worker."""

    name = "counts"

    def __init__(self):
        self.answers = 0

    def transition(self, key, start, finish, **kwargs):
        self.answers += finish == "memory" and str(key).startswith("answer")


def test_a_worker_that_joins_late_is_used(data):
    X, z = data
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        client.register_plugin(Counts())
        first = set(client.nthreads())
        seen = []

        def join(progress):
            if not seen:
                cluster.scale(2)
                client.wait_for_workers(2, timeout=60)
            seen.append(progress)

        y = np.where(z > 0, 1.0, 0.0)
        blocks, targets = da.from_array(X, chunks=(60, P)), da.from_array(y, chunks=60)
        model = kd.SparseLogisticRegression(K, alpha=1e-3).fit(blocks, targets, client=client, callback=join)
        answers = client.run(lambda dask_worker: dask_worker.plugins["counts"].answers)
        late = set(answers) - first
        assert len(seen) > 1 and len(late) == 1
        # Half of the partitions in every round from then on.
        assert 2 <= answers[late.pop()] < answers[first.pop()]
        whole = ksparse.SparseLogisticRegression(K, alpha=1e-3, solver="working-set").fit(X, y)
        assert model.objective_ == pytest.approx(whole.objective_, rel=1e-9)


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
