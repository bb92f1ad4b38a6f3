"""Data in partitions of a Dask cluster, and rounds over them.

A partition is prepared once, by a task that follows from the user's own: arrays as the core reads them, held by the
worker that made them and made again should that worker die. A round is a plain task per partition and a tree of sums
of neighbours, in the order that the core adds up in, so that the bits depend on the partitions alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import dask
import numpy as np
from distributed import Client, Future, get_client, wait
from numpy.typing import NDArray

from .shards import Answer, add, aligned, answer

#: How often the driver looks whether there are workers at all, in seconds.
PULSE = 0.5


def find_client(client: Client | None) -> Client:
    """The client given, or the current one."""
    if client is not None:
        return client
    try:
        return get_client()
    except ValueError:
        message = "there is no Dask client: start one (`dask.distributed.Client()`), or pass it as client="
        raise ValueError(message) from None


class Blocks:
    """Delayed blocks of X, and of what comes with every row, by partition."""

    def __init__(self, X: Any, y: Any, sample_weight: Any, offset: Any) -> None:
        self.columns: int | None = None
        self.names: Any = None
        if hasattr(X, "to_delayed") and hasattr(X, "chunks"):
            X = X.rechunk({1: -1})
            self.columns = int(X.shape[1])
            self.X = list(X.to_delayed().ravel())
            rows = X.chunks[0]
        elif hasattr(X, "to_delayed"):
            self.columns, self.names = len(X.columns), np.asarray(X.columns, dtype=object)
            self.X, rows = list(X.to_delayed()), None
        elif isinstance(X, (list, tuple)):
            self.X, rows = [dask.delayed(block) for block in X], None
        else:
            kind = type(X).__name__
            raise TypeError(f"X must be a dask array, a dask dataframe or a list of delayed blocks, got {kind}.")
        if not self.X:
            raise ValueError("X has no partitions.")
        self.y = _beside("y", y, len(self.X), rows)
        self.weights = _beside("sample_weight", sample_weight, len(self.X), rows)
        self.offset = _beside("offset", offset, len(self.X), rows)

    def __len__(self) -> int:
        return len(self.X)


def _beside(name: str, values: Any, count: int, rows: Sequence[Any] | None) -> list[Any]:
    """The blocks of something that has a number per row, cut as X is."""
    if values is None:
        return [None] * count
    if hasattr(values, "chunks"):
        if rows is not None and values.chunks[0] != rows:
            values = values.rechunk((rows,))
        found = list(values.to_delayed().ravel())
    elif hasattr(values, "to_delayed"):
        found = list(values.to_delayed())
    elif isinstance(values, (list, tuple)):
        found = [dask.delayed(block) for block in values]
    else:
        raise TypeError(f"{name} must be in partitions as X is, got {type(values).__name__}.")
    if len(found) != count:
        raise ValueError(f"{name} has {len(found)} partitions, but X has {count}.")
    return found


def answer_of(name: str, *asked: Any) -> Answer:
    """The same on a worker: what goes wrong there says in which partition."""
    try:
        return Answer.of(answer(*asked))
    except Exception as error:
        raise _say(error, name) from error


def as_is(value: Any) -> Any:
    """What a task holds so that others can depend on it: unlike scattered data, it is made again when it is lost."""
    return value


def columns_of(partition: dict[str, Any]) -> int:
    """The number of columns of a partition."""
    return int(partition["columns"])


class Rounds:
    """Questions to all partitions of a cluster, for the core."""

    def __init__(
        self, client: Client, partitions: Sequence[Future], loss: tuple[str, float | None], timeout: float
    ) -> None:
        self.client = client
        self.partitions = partitions
        self.loss = loss
        self.timeout = timeout
        self.count = len(partitions)
        self.frame: tuple[Any, Any] = (None, None)
        #: Bytes of answers so far.
        self.sent = 0
        #: The workers of the last round, and those that partitions have been handed to.
        self.workers: set[str] | None = None
        self.moved: dict[int, str] = {}

    def ask(self, question: Any, frame: Any) -> NDArray[np.float64]:
        """What all partitions answer, neighbours added first, on the workers."""
        return self.received(self.summed(self._answers(question, frame), add))

    def received(self, answer: Answer) -> NDArray[np.float64]:
        """The numbers of an answer that is here."""
        self.sent += answer.sent
        numbers: NDArray[np.float64] = aligned(answer.numbers())
        return numbers

    def summed(self, level: list[Future], add: Callable[[Any, Any], Any]) -> Any:
        """What some tasks give, added up in the order of the core."""
        while len(level) > 1:
            pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
            level = [self.client.submit(add, *pair, pure=False) if len(pair) == 2 else pair[0] for pair in pairs]
        return self.result(level[0])

    def each(self, question: Any, frame: Any) -> list[NDArray[np.float64]]:
        """What each partition answers."""
        return [self.received(self.result(future)) for future in self._answers(question, frame)]

    def _answers(self, question: Any, frame: Any) -> list[Future]:
        submit = self.client.submit
        if self.frame[0] is not frame:
            self.frame = (frame, submit(as_is, frame, pure=False))
        asked = submit(as_is, question, pure=False)
        return [
            submit(answer_of, self.name(number), part, self.loss, self.frame[1], asked, pure=False, **where)
            for number, (part, where) in enumerate(zip(self.partitions, self.place()))
        ]

    def place(self) -> list[dict[str, Any]]:
        """For every partition what `submit` is told of where it is asked: where it lies, unless a worker that has come
        since takes it over. Tasks alone would not get there: they go where their data are."""
        there = set(self.client.nthreads())
        if self.workers is not None and there - self.workers:
            holders = self.client.who_has(list(self.partitions))
            self._share([next(iter(holders.get(part.key, ())), None) for part in self.partitions], there)
        self.workers = there
        moved = {number: worker for number, worker in self.moved.items() if worker in there}
        return [
            {"workers": [moved[number]], "allow_other_workers": True} if number in moved else {}
            for number in range(self.count)
        ]

    def _share(self, holders: list[str | None], there: set[str]) -> None:
        """Hands partitions from those who have most to those who have least, until no two differ by more than one."""
        homes = [self.moved.get(number, holder) for number, holder in enumerate(holders)]
        load = {worker: [number for number, home in enumerate(homes) if home == worker] for worker in sorted(there)}
        while True:
            most, least = max(load.values(), key=len), min(load, key=lambda worker: len(load[worker]))
            if len(most) < len(load[least]) + 2:
                return
            number = most.pop()
            self.moved[number] = least
            load[least].append(number)

    def name(self, number: int) -> str:
        """What a partition is called."""
        return f"partition {number} of {self.count} (task {self.partitions[number].key})"

    def result(self, future: Future) -> Any:
        """What a task gives, unless there is nobody to do it."""
        absent = None
        while True:
            try:
                with self.client.as_current():
                    wait([future], timeout=PULSE)
                break
            except TimeoutError:
                if self.client.nthreads():
                    absent = None
                    continue
            absent = absent or time.monotonic()
            if time.monotonic() - absent >= self.timeout:
                self.client.cancel([future])
                raise RuntimeError(
                    f"no worker has been there for {self.timeout:g} seconds. The last point is kept: start workers and "
                    "fit again with warm_start=True."
                )
        try:
            return aligned(future.result())
        except Exception as error:
            raise self._named(error) from error

    def _named(self, error: Exception) -> Exception:
        """The error of a partition, naming it; any other as it is."""
        for number, partition in enumerate(self.partitions):
            if partition.status == "error":
                return _say(error, self.name(number))
        return error


def _say(error: Exception, where: str) -> Exception:
    """An error of the same kind that says where it comes from."""
    message = f"{where}: {error}"
    try:
        return type(error)(message)
    except Exception:  # an exception that wants other arguments
        return RuntimeError(f"{where}: {type(error).__name__}: {error}")
