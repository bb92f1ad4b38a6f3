"""The choice of k and alpha by cross-validation, on paths whose solutions start from their neighbours."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import check_scoring
from sklearn.model_selection import KFold, StratifiedKFold, check_cv

from . import _core
from ._base import Callback
from ._progress import Watcher
from ._results import path_result
from ._validation import as_matrix, check_alpha, check_ks, check_offset, countable, seed

if TYPE_CHECKING:
    from ._core import Design, Model

KS = (1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64)


class CrossValidated:
    """`fit` of the ...CV estimators; the rest is that of the estimator beside it."""

    ALPHAS: tuple[float, ...] = (1e-1, 1e-2, 1e-3, 1e-4)

    # Set by the constructors.
    ks: Any
    alphas: Any
    cv: Any
    scoring: Any
    rule: str
    verbose: int
    random_state: Any

    def fit(
        self: Any, X: Any, y: Any, sample_weight: Any = None, *, offset: Any = None, callback: Callback | None = None
    ) -> Any:
        """Choose k and alpha, and fit the model of that choice to all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The data. float32 and float64 in Fortran order and CSC matrices are read where they lie; other layouts are
            copied once.
        y : array-like of shape (n_samples,)
            The target: numbers for regression, labels (numbers or strings) for classification.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, in fits and in scores; integers mean repeated samples.
        offset : array-like of shape (n_samples,), default=None
            What is added to the linear predictor of every sample, in fits and in scores. For regressions without
            `scoring`.
        callback : callable, default=None
            Called once per iteration with a `Progress`; returning True or raising StopIteration ends the search.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if self.rule not in ("best", "1se"):
            raise ValueError(f"rule must be 'best' or '1se', got {self.rule!r}.")
        X, targets, weights = self._prepare(X, y, sample_weight)
        added = check_offset(offset, X.shape[0])
        if added is not None and self.scoring is not None:
            raise ValueError("scoring knows nothing of an offset: leave one of them out.")
        # The labels as they were given: splitters and scorers need them.
        labels = targets[0] if not hasattr(self, "classes_") else self.classes_[_codes(targets)]
        n_features = X.shape[1]
        splits = self._splits(X, labels)
        search = self._search(n_features)
        ks, alphas = check_ks(self.ks, countable(n_features, search["groups"]), KS), self._alphas()
        design = _core.Design(as_matrix(X), search["threads"])
        watcher = Watcher(type(self).__name__, self.verbose, callback, n_features)
        training = [np.ascontiguousarray(train, dtype=np.int64) for train, _ in splits]
        # One grid per predictor and fold; `cells[fold][cell]` then is a list of models, one per predictor.
        grids = []
        for target in targets:
            data = self._data(design, target, weights, added)
            grids.append(_core.grids(data, search, ks, alphas, training, watcher.callback()))
        cells = [list(zip(*(_flat(grid[fold]) for grid in grids))) for fold in range(len(splits))]
        complete = [fold for fold in range(len(splits)) if len(cells[fold]) == len(ks) * len(alphas)]
        if not complete:
            raise RuntimeError(
                "Cross-validation was stopped before a fold was finished: there is nothing to choose from."
            )
        held_out = [(cells[fold], splits[fold][1]) for fold in complete]
        scores = np.array([self._fold_scores(found, X, labels, weights, added, test) for found, test in held_out])
        sizes = np.array([_total(weights, splits[fold][1]) for fold in complete], dtype=np.float64)
        self._choose(scores, sizes, ks, alphas)
        self._finish(design, targets, weights, added, X.dtype, ks, search, watcher)
        return self

    def _alphas(self) -> list[float]:
        given = self.ALPHAS if self.alphas is None else np.atleast_1d(np.asarray(self.alphas, dtype=object))
        alphas = sorted({check_alpha(alpha, "alphas") for alpha in given}, reverse=True)
        if not alphas:
            raise ValueError("alphas must hold at least one ridge.")
        return alphas

    def _splits(self: Any, X: Any, labels: NDArray[Any]) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        cv = 5 if self.cv is None else self.cv
        if isinstance(cv, (int, np.integer)):
            folds = StratifiedKFold if hasattr(self, "classes_") else KFold
            cv = folds(int(cv), shuffle=True, random_state=seed(self.random_state))
        splits = list(check_cv(cv, labels, classifier=hasattr(self, "classes_")).split(X, labels))
        if not splits:
            raise ValueError("cv yields no split.")
        return splits

    def _fold_scores(
        self: Any,
        cells: Sequence[Sequence[Model]],
        X: Any,
        labels: NDArray[Any],
        weights: NDArray[np.float64] | None,
        offset: NDArray[np.float64] | None,
        test: NDArray[Any],
    ) -> list[float]:
        """The score of every cell on the rows held out."""
        held_out, expected = X[test], labels[test]
        weight = None if weights is None else weights[test]
        candidate = copy.copy(self)
        vars(candidate).pop("feature_names_in_", None)  # the rows held out are an array, whatever X was
        scorer = None if self.scoring is None else check_scoring(self, scoring=self.scoring)
        scores = []
        for models in cells:
            candidate._set_models(models, X.dtype)
            if scorer is not None:
                options = {} if weight is None else {"sample_weight": weight}
                scores.append(float(scorer(candidate, held_out, expected, **options)))
            else:
                z = candidate._scores(held_out).astype(np.float64)
                z = z if offset is None else z + offset[test][:, None]
                scores.append(-self._deviance(z, candidate._signs(expected), weight))
        return scores

    def _deviance(
        self: Any, z: NDArray[np.float64], y: NDArray[np.float64], weight: NDArray[np.float64] | None
    ) -> float:
        """The sum over the predictors, columns of z and y."""
        name, parameter = self._loss()
        columns = ((np.ascontiguousarray(a), np.ascontiguousarray(b)) for a, b in zip(z.T, y.T))
        return sum((_core.deviance(name, parameter, a, b, weight) for a, b in columns), 0.0)

    def _signs(self: Any, labels: NDArray[Any]) -> NDArray[np.float64]:
        """Targets as the loss takes them, a column per predictor."""
        if not hasattr(self, "classes_"):
            return labels[:, None].astype(np.float64)
        positive = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        return np.where(labels[:, None] == positive[None, :], 1.0, -1.0)

    def _choose(
        self: Any, scores: NDArray[np.float64], sizes: NDArray[np.float64], ks: list[int], alphas: list[float]
    ) -> None:
        """The cell that wins, and what there is to know about all of them."""
        cells = [(k, alpha) for alpha in alphas for k in ks]
        if not np.isfinite(scores).all(axis=0).any():
            raise ValueError("No cell has a finite score: check the scorer.")
        found = _core.choose(cells, scores, sizes.tolist(), self.rule)
        self.k_, self.alpha_ = cells[found["index"]]
        self.best_score_ = float(found["mean"][found["index"]])
        self.cv_results_ = {
            "k": np.tile(ks, len(alphas)),
            "alpha": np.repeat(alphas, len(ks)),
            "mean_score": found["mean"],
            "std_error": found["std_error"],
            **{f"split{fold}_score": row for fold, row in enumerate(scores)},
        }

    def _finish(
        self: Any,
        design: Design,
        targets: list[NDArray[np.float64]],
        weights: NDArray[np.float64] | None,
        offset: NDArray[np.float64] | None,
        dtype: Any,
        ks: list[int],
        search: Any,
        watcher: Watcher,
    ) -> None:
        """The path at the chosen alpha on all rows, and the better of its solution and one from zero."""
        models, paths = [], []
        names = getattr(self, "feature_names_in_", None)
        for target in targets:
            data = self._data(design, target, weights, offset)
            on_path = _core.grids(data, search, ks, [self.alpha_], None, watcher.callback())[0][0]
            direct = _core.fit(data, search, self.k_, self.alpha_, None, watcher.callback(), self._epochs())
            reached = dict(zip(ks, on_path)).get(self.k_)
            if reached is not None and reached["objective"] < direct["objective"]:
                # A bound holds for every model of this size.
                direct = {**reached, "lower_bound": direct["lower_bound"]}
            models.append(direct)
            paths.append(path_result(ks, on_path, self.n_features_in_, self.alpha_, names))
        watcher.close(f"chose k={self.k_}, alpha={self.alpha_:g}")
        self.path_ = paths[0] if len(paths) == 1 else paths
        self._store(models, dtype)


def _codes(targets: list[NDArray[np.float64]]) -> NDArray[np.intp]:
    """The number of the class of every sample, from its targets -1 and +1."""
    if len(targets) == 1:
        return (targets[0] > 0).astype(np.intp)
    codes: NDArray[np.intp] = np.argmax(np.asarray(targets), axis=0)
    return codes


def _flat(paths: list[list[Model]]) -> list[Model]:
    return [model for path in paths for model in path]


def _total(weights: NDArray[np.float64] | None, rows: NDArray[Any]) -> float:
    return float(len(rows) if weights is None else weights[rows].sum())
