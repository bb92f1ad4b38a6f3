"""The data sets written by `ksparse-bench data`, memory-mapped."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import scipy.sparse as sp

Matrix = np.ndarray | sp.csc_matrix


@dataclass(frozen=True)
class Problem:
    """min (1/n) sum_i loss(x_i'w, y_i) + (ridge/2) ||w||^2 with at most k non-zeros in w; no intercept.

    With the loss "logdet": min -log det O + <S, O> with at most k edges, S the covariance of the rows of x. An edge i <
    j is numbered i p + j.
    """

    where: Path
    meta: dict
    x: Matrix
    y: np.ndarray
    k: int
    loss: str
    scale: float
    ridge: float
    truth: list[int]
    notes: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, directory: str | Path) -> "Problem":
        where = Path(directory)
        meta = json.loads((where / "meta.json").read_text())
        x, y = table(where, "", meta["n"], meta)
        return cls(where, meta, x, y, meta["k"], meta["loss"], meta["scale"], meta["lambda"], meta["truth"])

    def held_out(self) -> tuple[Matrix, np.ndarray] | None:
        """Rows and targets nobody fits on; for the judge."""
        rows = self.meta["held_out"]
        return table(self.where, "test.", rows, self.meta) if rows else None

    @property
    def dense(self) -> bool:
        return isinstance(self.x, np.ndarray)

    @property
    def logistic(self) -> bool:
        return self.loss == "logistic"


def table(where: Path, prefix: str, n: int, meta: dict) -> tuple[Matrix, np.ndarray]:
    def array(name: str, dtype: str) -> np.ndarray:
        path = where / (prefix + name)
        return np.memmap(path, dtype=dtype, mode="r") if path.stat().st_size else np.array([], dtype)

    p = meta["p"]
    if meta["sparse"]:
        # SciPy wants both index arrays of one type; 32 bits are enough for these sizes.
        parts = array("values.f64", "<f8"), array("rows.u32", "<i4"), array("pointers.u64", "<i8").astype(np.int32)
        x = sp.csc_matrix(parts, shape=(n, p), copy=False)
    else:
        x = array("x.f64", "<f8").reshape(p, n).T
    return x, np.array(array("target.f64", "<f8"))
