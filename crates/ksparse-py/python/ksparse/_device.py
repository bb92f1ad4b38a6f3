"""Matrices on a CUDA device: found, described for the core, read where they lie. Nothing here imports CUDA's libraries
unless a device is asked for."""

from __future__ import annotations

import ctypes
import glob
import math
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array, check_consistent_length, column_or_1d

#: DLPack's number for CUDA.
CUDA = 2


def device_number(device: Any) -> int | None:
    """Which CUDA device `device` names; None is the processor."""
    if device is None or device == "cpu":
        return None
    kind, _, number = str(device).partition(":")
    if kind != "cuda" or not (number == "" or number.isdecimal()):
        raise ValueError(f"device must be None, 'cpu', 'cuda' or 'cuda:N', got {device!r}.")
    _load_libraries()
    return int(number or 0)


def _load_libraries() -> None:
    """Loads the cuBLAS that pip installs with CuPy or PyTorch, so that the core finds it; else the system's is used."""
    for folder in sys.path:
        # cuBLAS needs its other half first.
        for name in ("libcublasLt.so.*", "libcublas.so.*"):
            for file in sorted(glob.glob(f"{folder}/nvidia/*/lib/{name}")):
                try:
                    ctypes.CDLL(file)
                except OSError:
                    continue


def is_on_device(X: Any) -> bool:
    """Whether X is a matrix on a CUDA device: of CuPy, PyTorch, or any library with DLPack."""
    if isinstance(X, np.ndarray):
        return False
    if isinstance(X, DeviceMatrix):
        return True
    part = X.data if _is_cupy_sparse(X) else X
    where = getattr(getattr(part, "device", None), "type", None)
    if where is not None:
        return bool(where == "cuda")
    try:
        return bool(part.__dlpack_device__()[0] == CUDA)
    except (AttributeError, BufferError, TypeError):
        return False


def to_host(values: Any) -> Any:
    """A vector as NumPy has it; what is not on a device is left alone."""
    if not is_on_device(values):
        return values
    return values.get() if hasattr(values, "get") else values.detach().cpu().numpy()


def _is_cupy_sparse(X: Any) -> bool:
    return type(X).__module__.startswith("cupyx.")


class DeviceMatrix:
    """A matrix on a CUDA device, held as its library has it; the core reads that memory."""

    def __init__(self, X: Any) -> None:
        if hasattr(X, "detach"):
            X = X.detach()
        self._sparse = _is_cupy_sparse(X) or "sparse" in str(getattr(X, "layout", ""))
        if not self._sparse and not hasattr(X, "__cuda_array_interface__"):
            X = _by_dlpack(X)
        if len(X.shape) != 2:
            raise ValueError(f"Expected 2D array, got {len(X.shape)}D array on the device instead.")
        if self._sparse:
            X = _by_columns(X)
        self.array = X
        self.shape = (int(X.shape[0]), int(X.shape[1]))
        self.dtype = np.dtype(str(X.dtype).rpartition(".")[2])
        if self.dtype not in (np.float32, np.float64):
            raise ValueError(f"X on the device must be float32 or float64, got {self.dtype}: convert it there.")
        if 0 in self.shape:
            raise ValueError(f"X on the device has shape {self.shape}: there is nothing to fit.")
        _load_libraries()

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> DeviceMatrix:
        """Some rows, copied on the device."""
        if not hasattr(self.array, "get"):
            rows = _torch().as_tensor(np.asarray(rows), device=self.array.device)
        return DeviceMatrix(self.array[rows])

    def _number(self, part: Any) -> int:
        return int(part.__dlpack_device__()[1])

    def describe(self) -> tuple[Any, ...]:
        """What the core needs to know; it holds on to the array."""
        single = self.dtype == np.float32
        if self._sparse:
            pointers, indices, values = _parts(self.array)
            starts = np.ascontiguousarray(to_host(pointers), dtype=np.uint64)
            owner = (self.array, indices, values)
            number = self._number(values)
            return ("cuda-sparse", owner, self.shape[0], starts, _address(indices), _address(values), single, number)
        about = self.array.__cuda_array_interface__
        strides = about.get("strides") or (self.shape[1] * self.dtype.itemsize, self.dtype.itemsize)
        if any(s % self.dtype.itemsize for s in strides) or min(strides) < 0:
            raise ValueError(f"X on the device has strides {strides}: make a contiguous copy of it there.")
        steps = (strides[0] // self.dtype.itemsize, strides[1] // self.dtype.itemsize)
        return ("cuda-dense", self.array, about["data"][0], self.shape, steps, single, self._number(self.array))

    def check_finite(self) -> None:
        """Refuses entries that are no numbers: their sum is none then, unless it overflows."""
        values = _parts(self.array)[2] if self._sparse else self.array
        if not math.isfinite(values.sum()) and not all(map(math.isfinite, (values.max(), values.min()))):
            raise ValueError("Input X contains NaN or infinity, on the device.")

    def scores(self, support: NDArray[Any], coef: NDArray[Any]) -> NDArray[Any]:
        """X times the rows of `coef`, which are zero outside the support, computed on the device."""
        if not self._sparse:
            columns = self.array[:, support.tolist()]
            coef = coef[:, support]
        else:
            columns = self.array
        weights = np.ascontiguousarray(coef.T, dtype=self.dtype)
        if hasattr(columns, "get"):
            import cupy

            return np.asarray((columns @ cupy.asarray(weights)).get())
        return np.asarray((columns @ _torch().from_numpy(weights).to(columns.device)).cpu().numpy())


def _torch() -> Any:
    import torch

    return torch


def _by_dlpack(X: Any) -> Any:
    """The same memory as an array of CuPy or PyTorch, whichever is there."""
    for library in ("cupy", "torch"):
        try:
            return __import__(library).from_dlpack(X)
        except ImportError:
            continue
    raise ValueError(f"X, a {type(X).__name__} on the device, is read through CuPy or PyTorch: install one of them.")


def _by_columns(X: Any) -> Any:
    """A sparse matrix by columns, rows in order; copied on the device where it is not that already."""
    if not _is_cupy_sparse(X):
        return X.coalesce().to_sparse_csc() if "coo" in str(X.layout) else X.to_sparse_csc()
    X = X.tocsc()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def _parts(X: Any) -> tuple[Any, Any, Any]:
    """Pointers, rows in 32 bits, values."""
    if _is_cupy_sparse(X):
        return X.indptr, X.indices.astype(np.int32, copy=False), X.data
    return X.ccol_indices(), X.row_indices().to(_torch().int32).contiguous(), X.values()


def _address(array: Any) -> int:
    return int(array.__cuda_array_interface__["data"][0])


def validate_on_device(
    estimator: Any, X: Any, y: Any = None, *, reset: bool = True, y_numeric: bool = False, multi_output: bool = False,
    **_: Any
) -> Any:
    """What scikit-learn's `validate_data` does, for a matrix on a device."""
    matrix = X if isinstance(X, DeviceMatrix) else DeviceMatrix(X)
    matrix.check_finite()
    if reset:
        estimator.n_features_in_ = matrix.shape[1]
        if hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
    elif matrix.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {matrix.shape[1]} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )
    if y is None:
        return matrix
    y = check_array(to_host(y), ensure_2d=False, dtype=np.float64 if y_numeric else None, input_name="y")
    y = y if multi_output else column_or_1d(y, warn=True)
    check_consistent_length(matrix, y)
    return matrix, y
