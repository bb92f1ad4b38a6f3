"""From what users pass to what the core takes: arrays, parameters, threads."""

from __future__ import annotations

import numbers
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array, check_random_state, check_scalar

from . import _core
from ._categories import Indicators, expanded
from ._device import DeviceMatrix, device_number, is_on_device, to_host, validate_on_device

if TYPE_CHECKING:
    from ._core import Compressed

#: The default number of coefficients, where there are as many columns.
DEFAULT_K = 5

#: A larger `n_jobs` means so many threads, or four per core where that is more; as in the command.
MOST_THREADS = 64


class KSparseWarning(UserWarning):
    """Something was adjusted: the message says what."""


def validate(estimator: Any, X: Any, *args: Any, **options: Any) -> Any:
    """scikit-learn's `validate_data`, which was a method before 1.6, of a matrix that is safe to read."""
    if is_on_device(X):
        return validate_on_device(estimator, X, *args, **options)
    check_compressed(X)
    if options.get("y_numeric") and args:
        check_numbers(args[0])
    if getattr(estimator, "_takes_words", False):
        X = expanded(estimator, X, options.get("reset", True))
    try:
        from sklearn.utils.validation import validate_data
    except ImportError:
        return estimator._validate_data(X, *args, **options)
    return validate_data(estimator, X, *args, **options)


def check_numbers(y: Any) -> None:
    """Refuses a target of words before NumPy does, which would not say what to do."""
    values = np.asarray(y)
    if values.dtype.kind not in "USO":
        return
    for value in values.ravel()[:1000]:
        try:
            float(value)
        except ValueError:
            raise ValueError(
                f"The target holds words ({str(value)!r}), where a regression needs numbers; for classes take "
                "SparseLogisticRegression."
            ) from None
        except TypeError:
            return  # what it is, scikit-learn says


def check_compressed(X: Any) -> None:
    """Refuses compressed storage that points outside itself: SciPy follows pointers without a look."""
    if not (sp.issparse(X) and X.format in ("csr", "csc", "bsr")):
        return
    by_columns = X.format == "csc"
    block = X.blocksize[0] if X.format == "bsr" else 1
    lines, stored = X.shape[by_columns] // block, min(len(X.indices), len(X.data))
    pointers, name = np.asarray(X.indptr), f"X.indptr, of a {X.format.upper()} matrix,"
    if pointers.shape != (lines + 1,):
        raise ValueError(f"{name} has shape {pointers.shape}, expected {(lines + 1,)} for X of shape {X.shape}.")
    if pointers[0] != 0:
        raise ValueError(f"{name} begins with {pointers[0]}, expected 0.")
    falls = np.flatnonzero(pointers[1:] < pointers[:-1])
    if falls.size:
        at = int(falls[0])
        step = f"from {pointers[at]} to {pointers[at + 1]} at position {at + 1}"
        raise ValueError(f"{name} must not descend, but goes {step}.")
    if pointers[-1] > stored:
        raise ValueError(f"{name} ends with {pointers[-1]}, but only {stored} entries are stored.")
    indices = np.asarray(X.indices)[: int(pointers[-1])]
    bound = X.shape[not by_columns] // (X.blocksize[1] if X.format == "bsr" else 1)
    if indices.size and not 0 <= indices.min() <= indices.max() < bound:
        wrong = indices.min() if indices.min() < 0 else indices.max()
        name = f"X.indices, of a {X.format.upper()} matrix,"
        raise ValueError(f"{name} holds {wrong}, expected numbers from 0 to {bound - 1}.")


#: How every estimator takes X: no copy of a float32 or float64 array, CSC or CSR matrix.
TAKES: dict[str, Any] = {"accept_sparse": ("csc", "csr"), "dtype": (np.float64, np.float32)}


def as_design(X: Any, threads: int, device: Any = None) -> _core.Design:
    """X as the core works with it, on the device asked for or where it lies already."""
    number = device_number(device)
    if not isinstance(X, DeviceMatrix):
        return _core.Design(as_matrix(X), threads, number)
    if device == "cpu":
        raise ValueError("device='cpu', but X lies on a CUDA device: leave device out, or bring X to the host.")
    return _core.Design(X.describe(), threads, None)


def as_matrix(X: Any) -> NDArray[Any] | Compressed:
    """X as the core takes it. Only what the core cannot read as it lies is copied; X itself is never changed."""
    if not sp.issparse(X):
        if not (X.flags.f_contiguous or X.flags.c_contiguous) or not X.flags.aligned:
            X = np.array(X, order="F")
        return np.asarray(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    nnz = int(X.indptr[-1])
    parts: Compressed = (
        X.format,
        X.shape,
        X.indptr.astype(np.uint64),
        _as_uint32(X.indices[:nnz]),
        np.ascontiguousarray(X.data[:nnz]),
    )
    return parts


def _as_uint32(indices: NDArray[Any]) -> NDArray[np.uint32]:
    """Indices in 32 bits: the same memory where SciPy has 32 already."""
    if indices.dtype == np.int32:
        return np.ascontiguousarray(indices).view(np.uint32)
    if indices.size and (indices.min() < 0 or indices.max() > np.iinfo(np.uint32).max):
        raise ValueError("Sparse matrix with indices that are negative or do not fit in 32 bits is not supported.")
    return indices.astype(np.uint32)


def check_weights(sample_weight: Any, n_samples: int) -> NDArray[np.float64] | None:
    """Sample weights: None, a number, or one per sample."""
    if sample_weight is None:
        return None
    sample_weight = to_host(sample_weight)
    if isinstance(sample_weight, numbers.Real):
        sample_weight = np.full(n_samples, sample_weight, dtype=np.float64)
    weights: NDArray[np.float64] = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, order="C", input_name="sample_weight"
    )
    if weights.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if weights.shape != (n_samples,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n_samples,)}!")
    if (weights < 0).any():
        raise ValueError("Negative values in data passed to `sample_weight`")
    if not weights.sum() > 0:
        raise ValueError("Sample weights must not all be zero.")
    return weights


def check_offset(offset: Any, n_samples: int) -> NDArray[np.float64] | None:
    """What is added to every prediction: None, or one number per sample."""
    if offset is None:
        return None
    offset = to_host(offset)
    added: NDArray[np.float64] = check_array(offset, ensure_2d=False, dtype=np.float64, order="C", input_name="offset")
    if added.shape != (n_samples,):
        raise ValueError(f"offset.shape == {added.shape}, expected {(n_samples,)}.")
    return added


def check_k(k: Any, n_features: int, of: str = "features") -> int:
    """The number of coefficients: `k` as it is, a fraction of the columns, or the default, which never warns."""
    if k is None:
        return min(DEFAULT_K, n_features)
    meant = f"a number of {of}, or a float in (0, 1], a share of them"
    if isinstance(k, str):
        raise TypeError(f"k must be {meant}, got {str(k)!r}: the estimators whose names end in CV choose k themselves.")
    if isinstance(k, (bool, np.bool_)) or not isinstance(k, numbers.Real):
        raise TypeError(f"k must be {meant}, got {k!r} of type {type(k).__name__}.")
    if isinstance(k, numbers.Integral):
        k = check_scalar(int(k), "k", int, min_val=0)
        if k > n_features:
            warnings.warn(
                f"k={k} is more than the {n_features} {of} there are: k={n_features} is used.",
                KSparseWarning,
                stacklevel=4,
            )
            return n_features
        return int(k)
    share = float(k)
    if not 0.0 < share <= 1.0:
        whole = f": for {int(share)} of them pass k={int(share)}" if share > 1.0 and share.is_integer() else ""
        raise ValueError(f"k must be {meant}, got the float {share}{whole}.")
    return max(1, round(share * n_features))


class Names:
    """What the columns of an estimator are called, those that stand for a column of words together by its name."""

    def __init__(self, estimator: Any) -> None:
        names = getattr(estimator, "feature_names_in_", None)
        self.known: dict[Any, list[int]] = {} if names is None else {name: [j] for j, name in enumerate(names)}
        self.indicators: Indicators = getattr(estimator, "_indicators", {})
        self.known.update(self.indicators)

    def __getitem__(self, name: Any) -> list[int]:
        return self.known[name]


def check_keep(keep: Any, n_features: int, names: Names | None = None, what: str = "keep") -> list[int]:
    """Columns that are in at no charge, by number, by name or as a mask."""
    if keep is None:
        return []
    if isinstance(keep, (str, numbers.Integral)):
        keep = [keep]
    chosen = np.asarray(keep)
    if chosen.size == 0:
        return []
    if chosen.ndim != 1:
        raise ValueError(f"{what} must be one-dimensional, got shape {chosen.shape}.")
    if chosen.dtype == bool:
        if chosen.size != n_features:
            raise ValueError(f"{what} is a mask of length {chosen.size}, but there are {n_features} features.")
        return [int(j) for j in np.flatnonzero(chosen)]
    if chosen.dtype.kind in "UO":
        known = {} if names is None else names.known
        unknown = [name for name in chosen if name not in known]
        if unknown:
            reason = "no such column" if known else "X has no column names"
            raise ValueError(f"{what} names {str(unknown[0])!r}, but {reason}.")
        return [j for name in chosen for j in known[name]]
    if chosen.dtype.kind not in "iu":
        raise TypeError(f"{what} must hold column numbers, names or a mask, got dtype {chosen.dtype}.")
    if chosen.min() < -n_features or chosen.max() >= n_features:
        stranger = chosen.min() if chosen.min() < 0 else chosen.max()
        raise ValueError(f"{what} names column {stranger}, but there are {n_features}.")
    return [int(j) % n_features for j in chosen]


def check_groups(groups: Any, n_features: int, names: Names | None = None) -> list[list[int]]:
    """Groups of columns: a label per column, or lists of columns by number or name; columns in none stand alone."""
    words = [] if names is None else [columns for columns in names.indicators.values() if len(columns) > 1]
    if groups is None:
        return words
    parts = list(groups)
    if any(isinstance(part, (list, tuple, set, range, np.ndarray)) for part in parts):
        found = [check_keep(list(part), n_features, names, "groups") for part in parts]
        empty = [position for position, part in enumerate(found) if not part]
        if empty:
            raise ValueError(f"groups has nothing at position {empty[0]}: leave it out, or name its columns.")
    else:
        if len(parts) != n_features:
            raise ValueError(f"groups has {len(parts)} labels, but there are {n_features} features.")
        members: dict[Any, list[int]] = {}
        for column, label in enumerate(parts):
            members.setdefault(label, []).append(column)
        found = list(members.values())
    seen = np.zeros(n_features, dtype=int)
    for part in found:
        np.add.at(seen, part, 1)
    if (seen > 1).any():
        raise ValueError(f"groups has column {int(np.flatnonzero(seen > 1)[0])} twice: groups must not overlap.")
    # Columns of words that no group names are groups of their own.
    taken = {j for part in found if len(part) > 1 for j in part}
    found += [columns for columns in words if not taken.intersection(columns)]
    return [part for part in found if len(part) > 1]


def check_bounds(
    nonnegative: Any, bounds: Any, n_features: int, names: Names | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Lower and upper bounds of the coefficients: a pair for all columns or lists of them, or pairs by column."""
    if bounds is None and not nonnegative:
        return None
    lower, upper = np.full(n_features, -np.inf), np.full(n_features, np.inf)
    if isinstance(bounds, Mapping):
        for column, (low, high) in bounds.items():
            j = check_keep([column], n_features, names, "bounds")
            lower[j] = -np.inf if low is None else low
            upper[j] = np.inf if high is None else high
    elif bounds is not None:
        try:
            low, high = bounds
        except (TypeError, ValueError):
            raise ValueError(
                "bounds must be a pair (lower, upper), of numbers or of one per column, or a dict of pairs by column."
            ) from None
        lower[:] = -np.inf if low is None else low
        upper[:] = np.inf if high is None else high
    if nonnegative:
        lower = np.maximum(lower, 0.0)
    crossed = np.flatnonzero(lower > upper)
    if crossed.size:
        j = crossed[0]
        raise ValueError(
            f"the lower bound {lower[j]:g} of column {j} is above its upper bound {upper[j]:g}: "
            "exchange them, or leave one out."
        )
    return lower, upper


def check_total(total: Any) -> float | None:
    """What coefficients add up to."""
    if total is None:
        return None
    value = float(check_scalar(total, "total", numbers.Real))
    if not np.isfinite(value):
        raise ValueError(f"total must be finite, got {total!r}.")
    return value


def check_penalty_factors(
    factors: Any, n_features: int, names: Names | None = None
) -> NDArray[np.float64] | None:
    """What alpha is multiplied by for each column: one number per column, or a dict of some of them."""
    if factors is None:
        return None
    if isinstance(factors, Mapping):
        given = np.ones(n_features)
        for column, factor in factors.items():
            given[check_keep([column], n_features, names, "penalty_factors")] = factor
    else:
        given = np.ascontiguousarray(factors, dtype=np.float64)
        if given.shape != (n_features,):
            raise ValueError(
                f"penalty_factors has shape {given.shape}, expected {(n_features,)}: one number per column, or a dict "
                "of numbers by column."
            )
    wrong = np.flatnonzero(~(np.isfinite(given) & (given > 0)))
    if wrong.size:
        j = wrong[0]
        remedy = "1e-6, say, leaves a column next to unpenalised" if given[j] == 0 else "1 is the ridge as it is"
        raise ValueError(f"penalty_factors has {given[j]:g} for column {j}: it must be positive; {remedy}.")
    return given


def countable(n_features: int, groups: Sequence[Sequence[int]]) -> int:
    """What k counts: groups, and the columns that stand alone."""
    return n_features - sum(len(part) - 1 for part in groups)


def check_ks(ks: Any, n_features: int, default: Sequence[int]) -> list[int]:
    """Ascending numbers of coefficients, none of them above the number of columns."""
    if ks is None:
        return [k for k in default if k <= n_features] or [n_features]
    chosen = {check_k(k, n_features) for k in np.atleast_1d(np.asarray(ks, dtype=object))}
    if not chosen:
        raise ValueError("ks must hold at least one k.")
    return sorted(chosen)


def check_alpha(alpha: Any, name: str = "alpha") -> float:
    """A ridge: finite and not negative."""
    value = float(check_scalar(alpha, name, numbers.Real, min_val=0.0))
    if not np.isfinite(value):
        raise ValueError(f"{name} == {value}, must be finite.")
    return value


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def thread_count(n_jobs: int | None) -> int:
    """Threads for the core; 0 is one per core. None leaves it to OMP_NUM_THREADS, which joblib sets in its workers.

    Threads beyond the cores gain nothing and change nothing: an absurd number is cut down, not obeyed.
    """
    most = max(MOST_THREADS, 4 * cores())
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
        return min(int(limit), most) if limit.isdecimal() else 0
    count = int(check_scalar(n_jobs, "n_jobs", numbers.Integral))
    if count == 0:
        raise ValueError("n_jobs == 0 has no meaning: use None, a positive number, or -1 for all cores.")
    return min(count, most) if count > 0 else max(1, cores() + 1 + count)


def seed(random_state: Any) -> int:
    """A seed for the core: None is the command's own, so that both give one answer."""
    return 1 if random_state is None else int(check_random_state(random_state).randint(2**31 - 1))


def positive_scale(scale: Any) -> float:
    """What multiplies a loss, or its margin."""
    return float(check_scalar(scale, "scale", numbers.Real, min_val=0.0, include_boundaries="neither"))
