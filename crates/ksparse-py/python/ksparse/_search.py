"""The choice of k and two ridges by cross-validation: one computation in the core, worded for scikit-learn here."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import check_scoring
from sklearn.model_selection import KFold, PredefinedSplit, StratifiedKFold, check_cv

from . import _core
from ._base import Callback
from ._parameters import Choice
from ._progress import Watcher
from ._results import path_result
from ._validation import as_design, check_alpha, check_ks, check_offset, countable, seed

if TYPE_CHECKING:
    from ._core import Comparison

KS = (1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64)
#: Halves of the rows whose models an ensemble averages.
HALVES = 50
#: Prices per coefficient instead of folds.
CRITERIA = ("aic", "bic", "ebic", "gic")

Splits = list[tuple[NDArray[np.int64], NDArray[np.int64]]]
#: (support, coefficients, intercept) of every linear predictor.
Models = Sequence[tuple[NDArray[np.int64], NDArray[np.float64], float]]


class Comparing:
    """What every choice compares, and what it has to say."""

    def _check_rule(self: Any) -> None:
        if self.rule not in ("best", "lean", "1se"):
            raise ValueError(f"rule must be 'best', 'lean' or '1se', got {self.rule!r}.")

    def _comparison(self: Any, units: int) -> Comparison:
        """What to compare, k counting at most so many.

        Cells that the user lists are solved in full, those from the data by the quick search."""
        alphas, refits = _ridges(self.alphas, "alphas"), self.refit_alphas
        same = isinstance(refits, str)
        if same and refits != "same":
            raise ValueError(f"refit_alphas must be 'same', None or ridges, got {refits!r}.")
        return {
            "ks": None if self.ks is None else check_ks(self.ks, units, KS),
            "alphas": alphas,
            "refit_alphas": None if same else _ridges(refits, "refit_alphas"),
            "one_ridge": same or (refits is None and alphas is not None),
            "thorough": self.solver != "auto" or alphas is not None,
            "rule": self.rule,
            "resamples": self._halves(),
        }

    def _halves(self: Any) -> int:
        """How many random halves of the rows the choice is fitted to as well."""
        count = self.resamples
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 0:
            raise ValueError(f"resamples must be a whole number, 0 or more, got {count!r}.")
        return int(count) or (HALVES if self.ensemble else 0)

    def _describe(self: Any, found: Any) -> None:
        """What there is to know beside the model itself."""
        self.k_, self.alpha_, self.select_alpha_ = found["k"], found["alpha"], found["select_alpha"]
        mean, scores = found["mean"], found["scores"]
        self.best_score_ = float(mean[found["index"]])
        ks, alphas, selects = found["ks"], found["alphas"], found["select_alphas"]
        cells = zip(ks.tolist(), alphas.tolist(), selects.tolist())
        self.cv_results_ = {
            "params": [{"k": k, "alpha": alpha, "select_alpha": select} for k, alpha, select in cells],
            "param_k": ks,
            "param_alpha": alphas,
            "param_select_alpha": selects,
            "mean_test_score": mean,
            "std_test_score": scores.std(axis=1),
            "rank_test_score": _ranks(mean),
            "std_error": found["std_error"],
            **{f"split{split}_test_score": scores[:, place] for place, split in enumerate(found["splits"].tolist())},
        }
        self.notes_ = found["edges"]
        predictors = found["predictors"]
        shares = [predictor.get("resampled_frequencies", predictor["frequencies"]) for predictor in predictors]
        frequencies = np.array(shares)
        alternatives = [predictor["alternatives"] for predictor in predictors]
        names = getattr(self, "feature_names_in_", None)
        paths = []
        for predictor in predictors:
            reached, steps = zip(*predictor["path"])
            for solutions in zip(*(step if isinstance(step, list) else [step] for step in steps)):
                paths.append(
                    path_result(list(reached), list(solutions), self.n_features_in_, self.select_alpha_, names)
                )
        single = len(predictors) == 1
        self.frequencies_ = frequencies[0] if single else frequencies
        self.alternatives_ = alternatives[0] if single else alternatives
        self.path_ = paths[0] if len(paths) == 1 else paths

    def _keep_average(self: Any, predictors: Any, dtype: Any) -> None:
        """The mean of the models of the halves instead of the model, where that was asked for."""
        if self.ensemble:
            self._set_models([_average(predictor) for predictor in predictors], dtype)


class CrossValidated(Comparing, Choice):
    """`fit` of the ...CV estimators; the rest is that of the estimator beside it."""

    def fit(
        self: Any,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        groups: Any = None,
        callback: Callback | None = None,
    ) -> Any:
        """Choose k and the ridges, and fit the model of that choice to all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The data, in the layouts that the estimator beside this one reads without a copy.
        y : array-like of shape (n_samples,)
            Its target.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, in fits and in scores; integers mean repeated samples.
        offset : array-like of shape (n_samples,), default=None
            What is added to the linear predictor of every sample, in fits and in scores. For regressions without
            `scoring`.
        groups : array-like of shape (n_samples,), default=None
            For splitters that keep groups of samples together, such as ``GroupKFold``.
        callback : callable, default=None
            Called now and then with a `Progress`; returning True or raising StopIteration ends the search: what was
            scored by then decides.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._check_rule()
        X, targets, weights = self._prepare(X, y, sample_weight)
        added = check_offset(offset, X.shape[0])
        if added is not None and self.scoring is not None:
            raise ValueError("scoring knows nothing of an offset: leave one of them out.")
        # The labels as they were given: splitters and scorers need them.
        labels = targets[0] if not hasattr(self, "classes_") else self.classes_[_codes(targets)]
        n_features = X.shape[1]
        if isinstance(self.cv, str):
            return self._by_criterion(X, targets, weights, added, callback)
        splits = self._splits(X, labels, groups)
        search = self._search(n_features)
        comparison = self._comparison(countable(n_features, search["groups"]))
        design = as_design(X, search["threads"], self.device)
        data = [self._data(design, target, weights, added) for target in targets]
        watcher = Watcher(type(self).__name__, self.verbose, callback, n_features)
        scorer = None if self.scoring is None else self._scorer(X, labels, weights, splits)
        found = _core.choose_model(data, search, comparison, splits, scorer, watcher.callback(), self._epochs())
        watcher.close("; ".join([f"chose k={found['k']}, alpha={found['alpha']:g}", *found["edges"]]))
        self._describe(found)
        predictors = found["predictors"]
        self._store(predictors, X.dtype)
        self._keep_average(predictors, X.dtype)
        return self

    def _by_criterion(
        self: Any,
        X: Any,
        targets: list[NDArray[np.float64]],
        weights: NDArray[np.float64] | None,
        offset: NDArray[np.float64] | None,
        callback: Callback | None,
    ) -> Any:
        """The cell of least fit plus price, on all rows."""
        if self.cv not in CRITERIA:
            raise ValueError(f"cv must be a number of folds, a splitter, splits or one of {CRITERIA}, got {self.cv!r}.")
        if len(targets) > 1:
            raise ValueError("information criteria choose among models of two classes: with more use folds.")
        if self.ensemble or self.resamples:
            raise ValueError("resamples and ensemble belong to a choice by folds: leave cv out, or give a number.")
        n_features = X.shape[1]
        search = self._search(n_features)
        # Shrunken coefficients are priced in full: as little ridge as the loss can do with.
        alphas = _ridges(self.alphas, "alphas") or [1e-5 if hasattr(self, "classes_") else 0.0]
        ks = None if self.ks is None else check_ks(self.ks, countable(n_features, search["groups"]), KS)
        data = self._data(as_design(X, search["threads"], self.device), targets[0], weights, offset)
        watcher = Watcher(type(self).__name__, self.verbose, callback, n_features)
        found = _core.choose_by_criterion(data, search, ks, alphas, self.cv, watcher.callback())
        cells, scores, index = found["cells"], found["scores"], found["index"]
        self.k_, self.alpha_, model = cells[index]
        self.select_alpha_ = self.alpha_
        watcher.close(f"chose k={self.k_}, alpha={self.alpha_:g} by {self.cv}")
        self.best_score_ = float(-scores[index])
        self.cv_results_ = {
            "params": [{"k": k, "alpha": alpha} for k, alpha, _ in cells],
            "param_k": np.array([k for k, _, _ in cells]),
            "param_alpha": np.array([alpha for _, alpha, _ in cells]),
            "mean_test_score": -scores,
            "rank_test_score": _ranks(-scores),
        }
        own = [(k, solution) for k, alpha, solution in cells if alpha == self.alpha_]
        reached, solutions = zip(*own)
        names = getattr(self, "feature_names_in_", None)
        self.path_ = path_result(list(reached), list(solutions), self.n_features_in_, self.alpha_, names)
        self._store([model], X.dtype)
        return self

    def _splits(self: Any, X: Any, labels: NDArray[Any], groups: Any) -> Splits:
        return splits_of(self.cv, self.random_state, X, labels, hasattr(self, "classes_"), groups)

    def _scorer(
        self: Any, X: Any, labels: NDArray[Any], weights: NDArray[np.float64] | None, splits: Splits
    ) -> Callable[[int, Models], float]:
        """Scores the models of a cell on the rows held out of a split."""
        scorer = check_scoring(self, scoring=self.scoring)

        @functools.cache
        def held_out(split: int) -> tuple[Any, NDArray[Any], dict[str, Any]]:
            test = splits[split][1]
            return X[test], labels[test], {} if weights is None else {"sample_weight": weights[test]}

        def score(split: int, models: Models) -> float:
            # A copy of its own for every call: splits are scored side by side.
            candidate = copy.copy(self)
            vars(candidate).pop("feature_names_in_", None)  # the rows held out are an array, whatever X was
            keys = ("support", "coef", "intercept")
            candidate._set_models([dict(zip(keys, model)) for model in models], X.dtype)
            rows, expected, options = held_out(split)
            return float(scorer(candidate, rows, expected, **options))

        return score


def _average(predictor: Any) -> dict[str, Any]:
    """The mean of the models of the halves; the model itself where there was no time for one."""
    return {key: predictor.get(f"average_{key}", value) for key, value in predictor.items()}


def _ranks(scores: NDArray[np.float64]) -> NDArray[np.int32]:
    """1 for the best; equal scores share the better rank."""
    order = np.argsort(-scores, kind="stable")
    ranks = np.empty(len(scores), dtype=np.int32)
    ranks[order] = np.searchsorted(-scores[order], -scores[order]) + 1
    return ranks


def _ridges(given: Any, name: str) -> list[float] | None:
    """Distinct ridges, descending; None where none are given."""
    if given is None:
        return None
    listed = np.asarray(given, dtype=object)
    if listed.ndim != 1:
        raise TypeError(f"{name} must be a list of ridges, got {given!r}: for one ridge pass {name}=[{given!r}].")
    ridges = sorted({check_alpha(alpha, name) for alpha in listed}, reverse=True)
    if not ridges:
        raise ValueError(f"{name} must hold at least one ridge.")
    return ridges


def splits_of(
    cv: Any, random_state: Any, X: Any, labels: NDArray[Any] | None, classes: bool = False, groups: Any = None
) -> Splits:
    """Rows to train on and rows held out, by `cv`; folds of a number with even shares of the labels of classes."""
    if cv is None or isinstance(cv, (int, np.integer)):
        cv = _dealt(cv, X.shape[0], labels if classes else None, seed(random_state))
    splits = check_cv(cv, labels, classifier=classes).split(X, labels, groups)
    rows = [(_numbers(training), _numbers(held_out)) for training, held_out in splits]
    if not rows:
        raise ValueError("cv yields no split.")
    return rows


def _dealt(count: Any, n: int, labels: NDArray[Any] | None, start: int) -> Any:
    """Folds as the command deals them; where rows are too few, those of scikit-learn, which says so."""
    folds, times = _core.deal(n) if count is None else (int(count), 1)
    codes, fewest = None, n
    if labels is not None:
        _, numbers, sizes = np.unique(labels, return_inverse=True, return_counts=True)
        codes, fewest = numbers.astype(np.float64), int(sizes.min())
    if not 2 <= folds <= fewest:
        return KFold(folds) if codes is None else StratifiedKFold(folds, shuffle=True, random_state=start)
    dealt = _core.folds(n, folds, times, start, codes)
    return [split for of_row in dealt for split in PredefinedSplit(of_row).split()]


def _numbers(rows: Any) -> NDArray[np.int64]:
    """Rows by number, where a splitter gives a mask too."""
    rows = np.asarray(rows)
    return np.ascontiguousarray(np.flatnonzero(rows) if rows.dtype == bool else rows, dtype=np.int64)


def _codes(targets: list[NDArray[np.float64]]) -> NDArray[np.intp]:
    """The number of the class of every sample, from its targets -1 and +1."""
    if len(targets) == 1:
        return (targets[0] > 0).astype(np.intp)
    codes: NDArray[np.intp] = np.argmax(np.asarray(targets), axis=0)
    return codes
