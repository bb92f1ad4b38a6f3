"""Columns of words in a data frame: each becomes indicators of its words but the first, in or out together."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Names of such columns, and the columns of their indicators.
Indicators = Mapping[Any, list[int]]


def _is_number(word: Any) -> bool:
    try:
        float(word)
    except (TypeError, ValueError):
        return False
    return True


def _holds_words(column: Any) -> bool:
    """Whether a column of pandas holds words: numbers as text do not count, categories always do."""
    kind = getattr(column.dtype, "name", "")
    if kind == "category":
        return True
    if kind != "object" and not kind.startswith("str"):
        return False
    return any(isinstance(value, str) and not _is_number(value) for value in column)


def _levels(name: Any, column: Any) -> NDArray[Any]:
    """The values of a column: in the order of its categories, or ascending."""
    _refuse_missing(name, column)
    if column.dtype.name == "category":
        present = set(column)
        return np.array([level for level in column.cat.categories if level in present], dtype=object)
    words = sorted({str(value) for value in column})
    if 2 * len(words) > len(column):
        raise ValueError(
            f"column {name!r} holds {len(words)} different words in {len(column)} rows, as {words[0]!r}: leave a "
            "column that names rows out, or make it one of categories with astype('category')."
        )
    return np.array(words, dtype=object)


def _refuse_missing(name: Any, column: Any) -> None:
    missing = np.flatnonzero(np.asarray(column.isna()))
    if missing.size:
        raise ValueError(
            f"column {name!r} is missing in row {missing[0]}: leave such rows out, or give them a word of their own, "
            "as with fillna('missing')."
        )


def expanded(estimator: Any, X: Any, reset: bool) -> Any:
    """X with indicators in the place of words; what is no data frame of pandas is left alone."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(X, pandas.DataFrame):
        if reset:
            _forget(estimator)
        return X
    if reset:
        _forget(estimator)
        found = {name: _levels(name, X[name]) for name in X.columns if _holds_words(X[name])} if _unique(X) else {}
        if not found:
            return X
        estimator.categories_ = found
    known = getattr(estimator, "categories_", None)
    if not known or not any(name in known for name in X.columns):
        return X
    used = set(getattr(estimator, "support_", ())) if not reset else None
    parts: dict[str, Any] = {}
    indicators: dict[Any, list[int]] = {}
    for name in X.columns:
        if name not in known:
            parts[name] = X[name]
            continue
        levels = known[name]
        columns = list(range(len(parts), len(parts) + len(levels) - 1))
        needed = used is None or any(j in used for j in columns)
        codes = _codes(name, X[name], levels, needed)
        for level, column in enumerate(columns, start=1):
            parts[f"{name}={levels[level]}"] = (codes == level).astype(np.float64)
            indicators[name] = [*indicators.get(name, []), column]
        indicators.setdefault(name, [])
    if not parts:
        raise ValueError("X has no features: every column has one word in all rows.")
    if reset:
        estimator._indicators = indicators
    return pandas.DataFrame(parts, index=X.index)


def _unique(X: Any) -> bool:
    return bool(X.columns.is_unique)


def _forget(estimator: Any) -> None:
    for name in ("categories_", "_indicators"):
        if hasattr(estimator, name):
            delattr(estimator, name)


def _codes(name: Any, column: Any, levels: NDArray[Any], needed: bool) -> NDArray[np.int64]:
    """The place of every value among the levels."""
    _refuse_missing(name, column)
    place = {level: at for at, level in enumerate(levels)}
    words = column if column.dtype.name == "category" or not all(isinstance(level, str) for level in levels) else (
        str(value) for value in column
    )
    codes = np.array([place.get(value, -1) for value in words], dtype=np.int64)
    unknown = np.flatnonzero(codes < 0)
    if unknown.size and needed:
        shown = ", ".join(repr(level) for level in levels[:8]) + (", ..." if len(levels) > 8 else "")
        raise ValueError(
            f"column {name!r} has {column.iloc[unknown[0]]!r} in row {unknown[0]}, which was not there in fit, but "
            f"{shown}: leave the row out, or fit again with such rows."
        )
    return np.maximum(codes, 0)
