"""The choice of k and alpha over the partitions of a Dask cluster, by cross-validation.

The rows of every partition are dealt to the folds where they are. A fold's training rows are the same partitions with a
weight of 0 for the rows held out, so that nothing is copied but weights. The fits of all folds and ridges go side by
side in the core, and what they ask goes to the partitions together: a task answers all questions to its partition, and
all models are scored in one round.
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
from ._partitions import Rounds, answer_of, as_is
from ._progress import Watcher
from ._search import _ranks, _ridges
from ._validation import check_ks, seed
from .shards import Answer, add, aligned, problem, search

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


def answers_of(
    name: str, partition: dict[str, Any], fold_of: Any, loss: tuple[str, float | None], asked: Any, *frames: Any
) -> tuple[Answer, ...]:
    """What a partition answers to questions: the fold whose rows count nothing, what is asked, and in which frame."""
    found = []
    for fold, question, frame in asked:
        part = partition if fold is None else without(partition, fold_of, fold)
        found.append(answer_of(name, part, loss, frames[frame], question))
    return tuple(found)


def add_all(left: tuple[Answer, ...], right: tuple[Answer, ...]) -> tuple[Answer, ...]:
    """The sums of some answers."""
    return tuple(map(add, left, right))


class FoldedRounds:
    """Questions of several fits to all partitions of a cluster, for the core."""

    def __init__(self, rounds: Rounds, fold_of: Sequence[Future], folds: int) -> None:
        self.rounds, self.fold_of, self.folds = rounds, fold_of, folds
        self.count = rounds.count
        #: Every frame, with the task that holds it.
        self.frames: list[tuple[Any, Future]] = []

    @property
    def sent(self) -> int:
        """Bytes of answers so far."""
        return self.rounds.sent

    def ask(self, asked: list[Any]) -> list[Floats]:
        """What all partitions answer to each question, neighbours added first, on the workers."""
        return self._received(self._answers(asked))

    def _received(self, tasks: list[Future]) -> list[Floats]:
        return [self.rounds.received(answer) for answer in self.rounds.summed(tasks, add_all)]

    def each(self, asked: Any) -> list[Floats]:
        """What each partition answers to a question."""
        return [self.rounds.received(self.rounds.result(future)[0]) for future in self._answers([asked])]

    def _answers(self, asked: list[Any]) -> list[Future]:
        submit = self.rounds.client.submit
        places = [self._place(frame) for _, _, frame in asked]
        used = sorted(set(places))
        questions = [(fold, what, used.index(place)) for (fold, what, _), place in zip(asked, places)]
        task = submit(as_is, questions, pure=False)
        frames = [self.frames[place][1] for place in used]
        loss, parts = self.rounds.loss, zip(self.rounds.partitions, self.fold_of, self.rounds.place())
        return [
            submit(answers_of, self.rounds.name(number), part, of, loss, task, *frames, pure=False, **where)
            for number, (part, of, where) in enumerate(parts)
        ]

    def _place(self, frame: Any) -> int:
        for place, (known, _) in enumerate(self.frames):
            if known is frame:
                return place
        self.frames.append((frame, self.rounds.client.submit(as_is, frame, pure=False)))
        return len(self.frames) - 1

    def scores(self, models: list[list[Model]]) -> list[Floats]:
        """For every fold the deviances of its rows under each of its models, added up, and the weight of the rows."""
        submit = self.rounds.client.submit
        held = submit(as_is, models, pure=False)
        tasks = [
            submit(all_scored, part, of, self.rounds.loss, held, pure=False)
            for part, of in zip(self.rounds.partitions, self.fold_of)
        ]
        return self._received(tasks)


def all_scored(
    partition: dict[str, Any], fold_of: NDArray[np.int64], loss: tuple[str, float | None], models: list[list[Model]]
) -> tuple[Answer, ...]:
    """The scores of a partition, by folds."""
    return tuple(Answer.of(scored(partition, fold_of, fold, loss, of_fold)) for fold, of_fold in enumerate(models))


class ChosenOnPartitions(Compared, OnPartitions):
    """Fits over partitions for k and alpha that cross-validation chooses."""

    def _solve(self, rounds: Rounds, columns: int, callback: Callback | None) -> Self:
        if self.rule not in ("best", "lean", "1se"):
            raise ValueError(f"rule must be 'best', 'lean' or '1se' over partitions, got {self.rule!r}.")
        if self.scoring is not None:
            raise ValueError("scoring must be None over partitions: rows held out are scored by their deviance.")
        self.n_features_in_ = columns
        ks = None if self.ks is None else check_ks(self.ks, columns, self.ks)
        alphas = _ridges(self.alphas, "alphas")
        folds, fold_of = self._deal(rounds)
        watcher = Watcher(type(self).__name__, self.verbose, callback, columns)
        tell, began = watcher.callback(), time.monotonic()

        def told(at: dict[str, Any]) -> object:
            beside = {"iteration": at["done"], "seconds": time.monotonic() - began, "entered": 0, "step": None}
            return None if tell is None else tell({**at, **beside})

        shards = FoldedRounds(rounds, fold_of, folds)
        asked = (problem(self, 0.0), search(self, columns), ks, alphas, self.rule)
        found = _core.choose_over_shards(shards, *asked, told)
        self._keep_choice(found)
        watcher.close(f"chose k={self.k_}, alpha={self.alpha_:g}")
        self._store([found], np.float64)
        self.communication_ = found["communication"]
        self.n_samples_ = found["rows"]
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

    def _keep_choice(self, found: Any) -> None:
        """What was compared, and what won."""
        cells, mean, scores = found["cells"], found["mean"], found["scores"]
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


def _rows(partition: dict[str, Any]) -> int:
    return len(partition["target"])
