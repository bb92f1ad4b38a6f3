"""Fits over rows that some engine holds in blocks, none of which has them all: what a block computes, and the fit.

`prepare` makes a block of rows ready, `answer` is what it answers to a question, and `fit` asks: it calls `ask` and
`each` of an object that puts a question to all blocks, by whatever means. Questions and frames are dictionaries of
arrays, answers arrays to be added up; all of them can be pickled. `ksparse.dask` does this for Dask.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from . import _core
from ._validation import as_matrix, check_alpha, check_compressed, check_k

if TYPE_CHECKING:
    from ._base import SparseLinearModel

__all__ = ["Rounds", "answer", "fit", "prepare", "tree_sum"]

Estimator = TypeVar("Estimator", bound="SparseLinearModel")


class Rounds(Protocol):
    """Whoever can put a question to all blocks of rows."""

    count: int
    """How many blocks there are."""

    def ask(self, question: dict[str, Any], frame: dict[str, Any]) -> NDArray[np.float64]:
        """What all blocks answer, added up as `tree_sum` does."""

    def each(self, question: dict[str, Any], frame: dict[str, Any]) -> Sequence[NDArray[np.float64]]:
        """What each block answers, in their order."""


def numbers(y: Any) -> tuple[Any, None]:
    """A block of numbers as the core takes it."""
    return np.ascontiguousarray(y, dtype=np.float64), None


def prepare(
    X: Any, y: Any, weights: Any = None, offset: Any = None, encode: Callable[[Any], Any] = numbers
) -> dict[str, Any]:
    """A partition as the core reads it: by columns, so that no question turns it round again."""
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    if sp.issparse(X):
        check_compressed(X)
        X = sp.csc_matrix(X) if X.dtype in (np.float32, np.float64) else sp.csc_matrix(X, dtype=np.float64)
    else:
        X = np.asarray(X)
        if X.ndim != 2:
            raise ValueError(f"a block of X has {X.ndim} dimensions, expected 2.")
        X = np.asfortranarray(X, dtype=X.dtype if X.dtype in (np.float32, np.float64) else np.float64)
    if y is None:
        raise ValueError("y is missing.")
    target, factors = encode(np.asarray(y))
    given = None if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    if factors is not None:
        given = factors if given is None else given * factors
    for name, values in (("y", target), ("sample_weight", given), ("offset", offset)):
        if values is not None and np.shape(values) != (X.shape[0],):
            raise ValueError(f"a block of {name} has shape {np.shape(values)}, expected {(X.shape[0],)}.")
    return {
        "matrix": as_matrix(X),
        "columns": X.shape[1],
        "target": target,
        "weights": given,
        "offset": None if offset is None else np.ascontiguousarray(offset, dtype=np.float64),
    }


def answer(partition: dict[str, Any], loss: tuple[str, float | None], frame: Any, question: Any) -> NDArray[np.float64]:
    """What a partition answers to a question."""
    data: Any = {
        "design": _core.Design(aligned(partition["matrix"]), 1),
        "target": aligned(partition["target"]),
        "weights": aligned(partition["weights"]),
        "offset": aligned(partition["offset"]),
        "loss": loss[0],
        "loss_parameter": loss[1],
        "intercept": False,
        "standardize": False,
        "penalty_factors": None,
    }
    frame, question = ({name: aligned(value) for name, value in part.items()} for part in (frame, question))
    return _core.shard_answer(data, frame, question, 1)


def aligned(value: Any) -> Any:
    """The same where numbers begin at whole addresses: what comes over a network may lie anywhere in its message."""
    if type(value) is tuple:
        return tuple(aligned(part) for part in value)
    if not isinstance(value, np.ndarray) or value.flags.aligned:
        return value
    return value.copy(order="F" if value.flags.f_contiguous else "C")


#: Answers shorter than this travel as they are.
LONG = 1 << 20


class Answer(NamedTuple):
    """Numbers on their way: all of them, or where they are very many and most are 0, the others with their places."""

    values: NDArray[np.float64]
    places: NDArray[np.uint32] | None
    length: int
    #: Bytes of the answers of partitions in it.
    sent: int

    @classmethod
    def of(cls, numbers: NDArray[np.float64], sent: int | None = None) -> Answer:
        """As it takes less room."""
        places: Any = None
        if LONG <= len(numbers) < 1 << 32 and 3 * np.count_nonzero(numbers) <= len(numbers):
            places = np.flatnonzero(numbers).astype(np.uint32)
        values = numbers if places is None else numbers[places]
        bytes_of = values.nbytes + (0 if places is None else places.nbytes)
        return cls(values, places, len(numbers), bytes_of if sent is None else sent)

    def numbers(self) -> NDArray[np.float64]:
        """All of them."""
        if self.places is None:
            return self.values
        numbers = np.zeros(self.length)
        numbers[self.places] = self.values
        return numbers


def add(left: Answer, right: Answer) -> Answer:
    """The sum of two answers, bit for bit that of all their numbers."""
    if left.length != right.length:
        raise ValueError("partitions disagree about the number of columns.")
    return Answer.of(left.numbers() + right.numbers(), left.sent + right.sent)


def tree_sum(answers: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The sum of answers in the order of their blocks, neighbours first: the bits of a fit depend on that order."""
    level = list(answers)
    while len(level) > 1:
        level = [level[i] + level[i + 1] if i + 1 < len(level) else level[i] for i in range(0, len(level), 2)]
    return level[0]


def problem(estimator: Any, alpha: float) -> Any:
    """What an estimator minimises, for the core."""
    loss, parameter = estimator._loss()
    return {
        "loss": loss,
        "loss_parameter": parameter,
        "alpha": alpha,
        "intercept": bool(estimator.fit_intercept),
        "standardize": bool(estimator.standardize),
        "penalty_factors": estimator._penalties(),
    }


def search(estimator: Any, columns: int) -> Any:
    """How it searches: by the solver that counts rounds unless another is named."""
    found = estimator._search(columns)
    if found["solver"] == "auto":
        found["solver"] = "working-set"
    return found


def fit(estimator: Estimator, rounds: Rounds, columns: int) -> Estimator:
    """Fit an estimator over blocks of rows.

    Parameters
    ----------
    estimator : object
        `SparseLinearRegression`, `SparseLogisticRegression` or another with a smooth loss. Targets of classifiers are
        -1 and +1.
    rounds : Rounds
        Puts questions to the blocks.
    columns : int
        The number of columns.

    Returns
    -------
    estimator : object
        The fitted estimator, with `communication_` beside.
    """
    estimator.n_features_in_ = columns
    alpha, k = check_alpha(estimator.alpha), check_k(estimator.k, columns)
    model = _core.fit_shards(rounds, problem(estimator, alpha), search(estimator, columns), k)
    if hasattr(estimator, "class_weight"):
        estimator.classes_ = np.array([-1, 1])
    estimator._store([model], np.float64)
    estimator.communication_ = model["communication"]
    estimator.n_samples_ = model["rows"]
    return estimator
