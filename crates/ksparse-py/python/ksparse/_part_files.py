"""Files as partitions of a Dask cluster: each is read by the worker that holds it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import dask
from distributed import Client
from sklearn.datasets import load_svmlight_file


def are_files(X: Any) -> bool:
    """Whether X is a list of names."""
    return isinstance(X, (list, tuple)) and bool(X) and all(isinstance(name, (str, os.PathLike)) for name in X)


def load(name: str, target: str | None, columns: int | None) -> tuple[Any, Any]:
    """The rows of a file and their targets: the column called `target` of a table, the labels of svmlight text."""
    if name.endswith(".parquet"):
        import pandas as pd

        table = pd.read_parquet(name)
        if target not in table:
            raise ValueError(f"there is no column {target!r}: y names the column to predict.")
        return table.drop(columns=[target]), table[target].to_numpy()
    found: tuple[Any, Any] = load_svmlight_file(name, n_features=columns)
    return found


def width(name: str) -> int:
    """The columns of a file of svmlight text."""
    return int(load_svmlight_file(name)[0].shape[1])


def blocks(client: Client, names: Sequence[Any], y: Any) -> tuple[list[Any], list[Any]]:
    """Delayed rows and targets of some files."""
    files = [os.fspath(name) for name in names]
    for name in files:
        if not name.endswith((".parquet", ".svm", ".svmlight", ".libsvm")):
            raise ValueError(
                f"{name}: files are Parquet (.parquet) or svmlight text (.svm); for others, pass a list of "
                "dask.delayed(your_loader)(name)."
            )
    if y is not None and not isinstance(y, str):
        raise TypeError("y must name the column to predict, or be None for svmlight text, where X is a list of files.")
    # All partitions have the columns of all files, which svmlight text does not tell.
    text = [name for name in files if not name.endswith(".parquet")]
    columns = max(client.gather(client.map(width, text, pure=False)), default=None)
    parts = [dask.delayed(load, nout=2, pure=False)(name, y, columns) for name in files]
    return [part[0] for part in parts], [part[1] for part in parts]
