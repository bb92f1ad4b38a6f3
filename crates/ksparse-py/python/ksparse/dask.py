"""Estimators over the partitions of a Dask cluster.

``pip install ksparse[dask]``. The same estimators as in `ksparse`, with the same parameters, for rows in partitions: a
dask array (dense blocks or blocks of scipy.sparse), a dask dataframe, or lists of delayed blocks::

    from dask.distributed import Client
    from ksparse.dask import SparseLogisticRegression

    client = Client()
    model = SparseLogisticRegression(k=50).fit(X, y)      # X, y: dask arrays
    model.communication_                                  # rounds, bytes, seconds waited
    probabilities = model.predict_proba(X)                # lazy

Rows stay where they are. A fit takes some ten to thirty rounds of sums over the partitions, whose bits depend on the
partitions and their order, not on workers. Partitions held by a worker that dies are made again by those left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _classifiers, _core, _families, _logistic, _part_files, _regression
from ._base import Callback
from ._parameters import Intercept, parameters
from ._partition_choice import ChosenOnPartitions
from ._partitions import Blocks, Rounds, columns_of, find_client
from ._progress import Watcher
from ._validation import check_alpha, check_k
from .shards import numbers, prepare, problem, search

try:
    import dask
    from distributed import Client
except ImportError as missing:  # pragma: no cover
    raise ImportError("ksparse.dask needs Dask: pip install 'ksparse[dask]'") from missing

if TYPE_CHECKING:
    from typing_extensions import Self

    # What the classes below are mixed into.
    from ._base import SparseLinearModel as Model
    from ._classifiers import SparseClassifier as Classifier
else:
    Model = Classifier = object

__all__ = [
    "SparseGammaRegression",
    "SparseGammaRegressionCV",
    "SparseHuberClassifier",
    "SparseHuberClassifierCV",
    "SparseLinearRegression",
    "SparseLinearRegressionCV",
    "SparseLogisticRegression",
    "SparseLogisticRegressionCV",
    "SparsePoissonRegression",
    "SparsePoissonRegressionCV",
    "SparseRobustRegression",
    "SparseRobustRegressionCV",
]

#: How long a fit waits for a first worker, or for another after the last is gone, in seconds.
WORKER_TIMEOUT = 60.0


class OnPartitions(Model):
    """Fits over partitions, and lazy predictions; what a loss is comes from the estimator it is mixed into."""

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        callback: Callback | None = None,
        client: Client | None = None,
        worker_timeout: float = WORKER_TIMEOUT,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : dask array, dask dataframe, list of delayed blocks or list of files
            The rows, in partitions of any size, none too. Blocks are arrays, scipy.sparse matrices or data frames;
            files are Parquet or svmlight text, which the workers read.
        y, sample_weight, offset : in partitions as X is, the last two default=None
            The target, and what `ksparse` takes beside it. For Parquet files y is the name of a column, for svmlight
            text None.
        callback : callable, default=None
            Called after every step with a `Progress`; returning True ends the fit with the best point so far.
        client : distributed.Client, default=None
            None is the current one.
        worker_timeout : float, default=60
            Without any worker for so many seconds the fit fails.

        Returns
        -------
        self : object
            The fitted estimator. Where a fit fails or is interrupted, the estimator holds the last point it went
            through, and ``warm_start=True`` goes on from there.
        """
        if self.device not in (None, "cpu"):
            raise ValueError("device is for data in one place: leave it out for partitions.")
        client = find_client(client)
        if _part_files.are_files(X):
            X, y = _part_files.blocks(client, X, y)
        blocks = Blocks(X, y, sample_weight, offset)
        encode = self._encoding(client, blocks)
        tasks = [
            dask.delayed(prepare, pure=False)(*block, encode)
            for block in zip(blocks.X, blocks.y, blocks.weights, blocks.offset)
        ]
        rounds = Rounds(client, client.compute(tasks), self._loss(), worker_timeout)
        columns = blocks.columns
        if columns is None:
            columns = int(rounds.result(client.submit(columns_of, rounds.partitions[0], pure=False)))
        self._forget_others(columns, blocks.names)
        return self._solve(rounds, columns, callback)

    def _solve(self, rounds: Rounds, columns: int, callback: Callback | None) -> Self:
        self.n_features_in_ = columns
        watcher = Watcher(type(self).__name__, self.verbose, callback, columns)
        tell = watcher.callback()

        def keep(report: dict[str, Any]) -> object:
            here: Any = report
            self._set_models([here], np.float64)
            self.objective_, self.status_ = report["objective"], "stopped"
            known = {name: value for name, value in report.items() if name != "intercept"}
            return None if tell is None else tell(known)

        k, alpha = check_k(self.k, columns), check_alpha(self.alpha)
        asked = (problem(self, alpha), search(self, columns), k, self._start(0, columns))
        model = _core.fit_shards(rounds, *asked, keep)
        watcher.close(model["message"])
        self._store([model], np.float64)
        self.communication_ = model["communication"]
        self.n_samples_ = model["rows"]
        return self

    def _forget_others(self, columns: int, names: Any) -> None:
        """A point of other columns is no start."""
        if hasattr(self, "coef_") and np.shape(self.coef_)[-1] != columns:
            del self.coef_
        if names is not None and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _encoding(self, client: Client, blocks: Blocks) -> Callable[[Any], tuple[Any, Any]]:
        """From a block of y to targets and what class weights multiply sample weights by."""
        return numbers

    # Predicting: lazily, block by block.

    def predict(self, X: Any, *beside: Any) -> Any:
        """Predict the target: lazy for what is lazy."""
        return self._by_block("predict", X, *beside)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """R^2 of a regression, the accuracy of a classifier: a lazy number for dask arrays."""
        if not hasattr(X, "dask"):
            return super().score(X, y, sample_weight)
        predicted = self.predict(X)
        weights = 1.0 if sample_weight is None else sample_weight
        if hasattr(self, "classes_"):
            return _mean(1.0 * (predicted == y), weights)
        return 1.0 - _mean((y - predicted) ** 2, weights) / _mean((y - _mean(y, weights)) ** 2, weights)

    def _by_block(self, method: str, X: Any, *beside: Any, width: int | None = None) -> Any:
        plain = getattr(super(), method)
        if isinstance(X, (list, tuple)) and any(hasattr(block, "dask") for block in X):
            return [dask.delayed(plain)(block) for block in X]
        if not hasattr(X, "dask"):
            return plain(X, *beside)
        if hasattr(X, "chunks"):
            X = X.rechunk({1: -1})
            shape = {"drop_axis": 1} if width is None else {"chunks": (X.chunks[0], (width,))}
            meta = np.empty((0,) * (1 if width is None else 2), dtype=self._gives(method))
            return X.map_blocks(plain, *beside, dtype=meta.dtype, meta=meta, **shape)
        import pandas as pd

        return X.map_partitions(_framed, plain, meta=pd.Series(dtype=self._gives(method)))

    def _gives(self, method: str) -> Any:
        return self.classes_.dtype if method == "predict" and hasattr(self, "classes_") else np.float64


def _mean(values: Any, weights: Any) -> Any:
    return (weights * values).sum() / (weights + 0.0 * values).sum()


def _framed(block: Any, plain: Any) -> Any:
    import pandas as pd

    return pd.Series(plain(block), index=block.index)


class TwoClasses:
    """Labels of two classes as -1 and +1, and the weights of classes."""

    def __init__(self, classes: Any, factors: Any) -> None:
        self.classes = classes
        self.factors = factors

    def __call__(self, y: Any) -> tuple[Any, Any]:
        codes = np.where(y == self.classes[1], 1, 0)
        return np.where(codes == 1, 1.0, -1.0), None if self.factors is None else self.factors[codes]


def counts(y: Any) -> tuple[Any, Any]:
    """The labels of a block, and how many there are of each."""
    labels, numbers = np.unique(np.asarray(y), return_counts=True)
    return labels, numbers


class Classes(OnPartitions, Classifier):
    """Two classes, found in a round before the first."""

    def _encoding(self, client: Client, blocks: Blocks) -> Callable[[Any], tuple[Any, Any]]:
        found = client.compute([dask.delayed(counts, pure=False)(y) for y in blocks.y])
        waiting = Rounds(client, found, self._loss(), WORKER_TIMEOUT)
        blockwise = [waiting.result(future) for future in found]
        totals: dict[Any, int] = {}
        for labels, numbers in blockwise:
            for label, number in zip(labels.tolist(), numbers.tolist()):
                totals[label] = totals.get(label, 0) + number
        kind = np.concatenate([labels for labels, _ in blockwise]).dtype
        self.classes_ = np.array(sorted(totals), dtype=kind)
        if len(self.classes_) != 2:
            shown = ", ".join(repr(label) for label in self.classes_[:5].tolist())
            raise ValueError(
                f"y has {len(self.classes_)} classes ({shown}), but fits over partitions are of two: make y a "
                "comparison with one of them."
            )
        return TwoClasses(self.classes_, self._factors(totals))

    def _factors(self, totals: dict[Any, int]) -> Any:
        """What each class multiplies sample weights by."""
        labels = self.classes_.tolist()
        if self.class_weight is None:
            return None
        if isinstance(self.class_weight, str):
            if self.class_weight != "balanced":
                raise ValueError(f"class_weight is {self.class_weight!r}, but must be 'balanced', a dict or None.")
            return np.array([sum(totals.values()) / (2 * totals[label]) for label in labels])
        return np.array([float(self.class_weight.get(label, 1.0)) for label in labels])

    def decision_function(self, X: Any) -> Any:
        """The linear predictor: lazy for what is lazy."""
        return self._by_block("decision_function", X)


class SparseLinearRegression(OnPartitions, _regression.SparseLinearRegression):
    """`ksparse.SparseLinearRegression` over partitions."""


class SparsePoissonRegression(OnPartitions, _families.SparsePoissonRegression):
    """`ksparse.SparsePoissonRegression` over partitions."""


class SparseGammaRegression(OnPartitions, _families.SparseGammaRegression):
    """`ksparse.SparseGammaRegression` over partitions."""


class GivenWidth(_families.Width):
    """A width that is given: the spread of a target in partitions is not known."""

    def _loss(self) -> tuple[str, float | None]:
        if self.width is None:
            raise ValueError("width must be given for a fit over partitions: 1.345 deviations of the target, say.")
        self._width = float(self.width)
        return super()._loss()


class SparseRobustRegression(OnPartitions, GivenWidth, _families.SparseRobustRegression):
    """`ksparse.SparseRobustRegression` over partitions; `width` must be given."""


class SparseLogisticRegression(Classes, _logistic.SparseLogisticRegression):
    """`ksparse.SparseLogisticRegression` over partitions, for two classes."""

    def predict_proba(self, X: Any) -> Any:
        """Class probabilities: lazy for what is lazy."""
        return self._by_block("predict_proba", X, width=2)


class SparseHuberClassifier(Classes, _classifiers.SparseHuberClassifier):
    """`ksparse.SparseHuberClassifier` over partitions, for two classes."""


class Chosen(ChosenOnPartitions, OnPartitions, Intercept):
    """A choice of k and alpha over partitions.

    Rows of every partition are dealt to `cv` folds (5, or 3 from 1000 rows on) and scored by their deviance. `ks` are 0
    to 64, `alphas` 1 to 0.001 of the typical curvature of a column, unless others are given.
    """

    groups = None
    warm_start = False


@parameters
class SparseLinearRegressionCV(Chosen, _regression.SparseRegression):
    """`SparseLinearRegression` over partitions for k and alpha that cross-validation chooses."""

    def _loss(self) -> tuple[str, float | None]:
        return "squared", None


@parameters
class SparsePoissonRegressionCV(_families.LogLink, Chosen, _regression.SparseRegression):
    """`SparsePoissonRegression` over partitions for k and alpha that cross-validation chooses."""

    def _loss(self) -> tuple[str, float | None]:
        return "poisson", None


@parameters
class SparseGammaRegressionCV(_families.LogLink, Chosen, _regression.SparseRegression):
    """`SparseGammaRegression` over partitions for k and alpha that cross-validation chooses."""

    def _loss(self) -> tuple[str, float | None]:
        return "gamma", None


@parameters
class SparseRobustRegressionCV(GivenWidth, Chosen, _regression.SparseRegression):
    """`SparseRobustRegression` over partitions for k and alpha that cross-validation chooses."""


@parameters
class SparseLogisticRegressionCV(Chosen, Classes, _logistic.Probabilities, _classifiers.SparseClassifier):
    """`SparseLogisticRegression` over partitions for k and alpha that cross-validation chooses."""

    predict_proba = SparseLogisticRegression.predict_proba

    def _loss(self) -> tuple[str, float | None]:
        return "logistic", None


@parameters
class SparseHuberClassifierCV(Chosen, Classes, _classifiers.SparseClassifier):
    """`SparseHuberClassifier` over partitions for k and alpha that cross-validation chooses."""

    gamma: float = 0.25

    def _loss(self) -> tuple[str, float | None]:
        return "huber", _classifiers.positive_gamma(self.gamma)
