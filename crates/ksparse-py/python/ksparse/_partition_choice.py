"""The choice of k and alpha over the partitions of a Dask cluster, by cross-validation.

The rows of every partition are dealt to the folds where they are. A fold's training rows are the same partitions with a
weight of 0 for the rows held out, so that nothing is copied but weights; all models of a fold are scored in one round.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from distributed import Future
from numpy.typing import NDArray

from . import _core
from ._parameters import Compared
from ._partitions import Rounds, aligned, as_is
from ._progress import Watcher
from ._search import _ranks, _ridges
from ._validation import check_ks, seed

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._base import Callback

    # What the class below is mixed into.
    from .dask import OnPartitions
else:
    OnPartitions = object

Floats = NDArray[np.float64]
#: Support, coefficients and intercept.
Model = tuple[NDArray[np.int64], Floats, float]

#: Sizes compared unless others are asked for, as far as there are columns.
KS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
#: Ridges compared unless others are asked for, in units of the typical curvature of a column.
RIDGES = (1.0, 1e-1, 1e-2, 1e-3)


def dealt(partition: dict[str, Any], number: int, folds: int, start: int) -> NDArray[np.int64]:
    """The fold of every row of a partition, classes in even shares."""
    rng = np.random.default_rng([start, number])
    target = np.asarray(partition["target"])
    groups = np.unique(target) if set(np.unique(target)) <= {-1.0, 1.0} else [None]
    fold = np.zeros(len(target), dtype=np.int64)
    for group in groups:
        rows = rng.permutation(len(target) if group is None else np.flatnonzero(target == group))
        fold[rows] = (np.arange(len(rows)) + rng.integers(folds)) % folds
    return fold


def without(partition: dict[str, Any], fold_of: NDArray[np.int64], fold: int) -> dict[str, Any]:
    """A partition whose rows of a fold count nothing."""
    weights = partition["weights"]
    rest = (fold_of != fold).astype(np.float64)
    return {**partition, "weights": rest if weights is None else weights * rest}


def scored(
    partition: dict[str, Any],
    fold_of: NDArray[np.int64],
    fold: int,
    loss: tuple[str, float | None],
    models: list[Model],
) -> Floats:
    """For every model: the deviances of the rows of a fold, added up; last the weight of these rows."""
    rows = np.flatnonzero(fold_of == fold)
    weights = np.ones(len(rows)) if partition["weights"] is None else np.asarray(partition["weights"])[rows]
    total = float(weights.sum())
    sums = np.zeros(len(models) + 1)
    sums[-1] = total
    if total == 0:
        return sums
    used = np.unique(np.concatenate([support for support, _, _ in models]))
    X, y = _columns(partition["matrix"], used)[rows], np.ascontiguousarray(partition["target"][rows])
    offset = 0.0 if partition["offset"] is None else partition["offset"][rows]
    for place, (support, coef, intercept) in enumerate(models):
        z = np.ascontiguousarray(X[:, np.searchsorted(used, support)] @ coef + intercept + offset, dtype=np.float64)
        sums[place] = total * _core.deviance(*loss, z, y, weights)
    return sums


def _columns(matrix: Any, columns: NDArray[np.int64]) -> NDArray[Any]:
    """Some columns of a partition, dense."""
    if not isinstance(matrix, tuple):
        found: NDArray[Any] = np.asarray(matrix)[:, columns]
        return found
    _, shape, starts, indices, values = aligned(matrix)
    there: NDArray[Any] = sp.csc_matrix((values, indices, starts.astype(np.int64)), shape=shape)[:, columns].toarray()
    return there


class ChosenOnPartitions(Compared, OnPartitions):
    """Fits over partitions for k and alpha that cross-validation chooses."""

    def _solve(self, rounds: Rounds, columns: int, callback: Callback | None) -> Self:
        if self.rule not in ("best", "1se"):
            raise ValueError(f"rule must be 'best' or '1se' over partitions, got {self.rule!r}.")
        if self.scoring is not None:
            raise ValueError("scoring must be None over partitions: rows held out are scored by their deviance.")
        self.n_features_in_ = columns
        began = time.monotonic()
        limit = self._search(columns)["time_limit"]
        ks = list(KS) if self.ks is None else check_ks(self.ks, columns, KS)
        ks = [k for k in ks if k <= columns] or [columns]
        alphas = _ridges(self.alphas, "alphas")
        if alphas is None:
            unit = _core.shard_curvature(rounds, self._problem(0.0))
            alphas = [unit * share for share in RIDGES]
        folds, fold_of = self._deal(rounds)
        submit, both = rounds.client.submit, list(zip(rounds.partitions, fold_of))
        parts = [
            rounds.over([submit(without, part, of, fold, pure=False) for part, of in both]) for fold in range(folds)
        ]
        watcher = Watcher(type(self).__name__, self.verbose, callback, columns)
        cells = [(k, alpha) for alpha in alphas for k in ks]
        models: list[list[Model]] = [[] for _ in range(folds)]
        said: list[Any] = []
        for number, fold in ((number, fold) for number in range(len(cells)) for fold in range(folds)):
            spent = time.monotonic() - began
            # One fold of one cell is finished whatever it takes: there is something to choose then.
            if said and limit is not None and spent >= limit:
                break
            k, alpha = cells[number]
            # From the cell before: fewer columns, or as many under the ridge before.
            before = number - 1 if number % len(ks) else number - len(ks)
            found = self._model(parts[fold], columns, k, alpha, models[fold][before] if before >= 0 else None, None)
            models[fold].append((found["support"], found["coef"], found["intercept"]))
            said.append(found["communication"])
            at = {"k": k, "alpha": alpha, "fold": fold, "done": len(said), "total": len(cells) * folds}
            if not _told(watcher, {**at, "iteration": len(said), "seconds": spent}, found):
                break
        self._choose(rounds, cells, fold_of, [row for row in models if row])
        watcher.close(f"chose k={self.k_}, alpha={self.alpha_:g}")
        model = self._model(rounds, columns, self.k_, self.alpha_, None, None)
        self._store([model], np.float64)
        said.append(model["communication"])
        self.communication_ = {name: sum(part[name] for part in said) for name in said[0]}
        self.n_samples_ = model["rows"]
        return self

    def _deal(self, rounds: Rounds) -> tuple[int, list[Future]]:
        """The number of folds, and the fold of every row by partition."""
        count, submit = self.cv, rounds.client.submit
        if count is None:
            rows = sum(rounds.result(submit(_rows, part, pure=False)) for part in rounds.partitions)
            count = _core.deal(rows)[0]
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 2:
            raise ValueError(f"cv must be a number of folds, 2 or more, over partitions: got {count!r}.")
        start = seed(self.random_state)
        numbered = enumerate(rounds.partitions)
        return int(count), [submit(dealt, part, place, int(count), start, pure=False) for place, part in numbered]

    def _choose(
        self, rounds: Rounds, cells: list[tuple[int, float]], fold_of: Sequence[Future], models: list[list[Model]]
    ) -> None:
        """The best of the cells that all folds, or those there was time for, have a model of."""
        known = min(len(row) for row in models)
        cells = cells[:known]
        scores, sizes = np.empty((len(models), known)), []
        for fold, row in enumerate(models):
            held = rounds.client.submit(as_is, row[:known], pure=False)
            tasks = [
                rounds.client.submit(scored, part, of, fold, rounds.loss, held, pure=False)
                for part, of in zip(rounds.partitions, fold_of)
            ]
            sums = sum(rounds.result(task) for task in tasks)
            if not sums[-1] > 0:
                raise ValueError("A fold has no rows: use fewer folds (cv=2), or more rows.")
            scores[fold] = -sums[:-1] / sums[-1]
            sizes.append(float(sums[-1]))
        found = _core.choose(cells, scores, sizes, self.rule)
        mean = found["mean"]
        self.k_, self.alpha_ = cells[found["index"]]
        self.best_score_ = float(mean[found["index"]])
        self.cv_results_ = {
            "params": [{"k": k, "alpha": alpha} for k, alpha in cells],
            "param_k": np.array([k for k, _ in cells]),
            "param_alpha": np.array([alpha for _, alpha in cells]),
            "mean_test_score": mean,
            "std_test_score": scores.std(axis=0),
            "rank_test_score": _ranks(mean),
            "std_error": found["std_error"],
            **{f"split{split}_test_score": row for split, row in enumerate(scores)},
        }


def _told(watcher: Watcher, at: dict[str, Any], found: Any) -> bool:
    """Tells who listens of a fit; whether to go on."""
    tell = watcher.callback()
    if tell is None:
        return True
    model = {name: found[name] for name in ("objective", "support", "coef")}
    try:
        return not tell({**at, **model, "entered": 0, "step": None})
    except StopIteration:
        return False


def _rows(partition: dict[str, Any]) -> int:
    return len(partition["target"])
