"""The data sets written by `ksparse-bench data`, memory-mapped."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True)
class Problem:
    """min (1/n) sum_i loss(x_i'w, y_i) + (ridge/2) ||w||^2 with at most k non-zeros in w; no intercept."""

    x: np.ndarray | sp.csc_matrix
    y: np.ndarray
    k: int
    loss: str
    scale: float
    ridge: float
    truth: list[int]

    @classmethod
    def read(cls, directory: str | Path) -> "Problem":
        where = Path(directory)
        meta = json.loads((where / "meta.json").read_text())
        n, p = meta["n"], meta["p"]

        def array(name: str, dtype: str) -> np.ndarray:
            return np.memmap(where / name, dtype=dtype, mode="r")

        if meta["sparse"]:
            # SciPy wants both index arrays of one type; 32 bits are enough for these sizes.
            parts = array("values.f64", "<f8"), array("rows.u32", "<i4"), array("pointers.u64", "<i8").astype(np.int32)
            x = sp.csc_matrix(parts, shape=(n, p), copy=False)
        else:
            x = array("x.f64", "<f8").reshape(p, n).T
        y = np.array(array("target.f64", "<f8"))
        return cls(x, y, meta["k"], meta["loss"], meta["scale"], meta["lambda"], meta["truth"])
