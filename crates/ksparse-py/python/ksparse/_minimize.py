"""Any convex function, with at most k non-zero coordinates."""

from __future__ import annotations

import functools
import numbers
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_scalar

from . import _core
from ._looks import compared, falls_for_ever
from ._progress import Watcher
from ._results import MinimizeResult, Progress, minimize_result
from ._validation import KSparseWarning, check_bounds, check_k, check_keep, check_total, seed

if TYPE_CHECKING:
    from ._core import Function, Search

Floats = NDArray[np.float64]
P = ParamSpec("P")
R = TypeVar("R")


def second_argument_is_k(function: Callable[P, R]) -> Callable[P, R]:
    """Says so to who passes a starting point there, as SciPy has it."""

    @functools.wraps(function)
    def called(*args: P.args, **named: P.kwargs) -> R:
        if len(args) > 1 and (np.ndim(args[1]) > 0 or "k" in named):  # type: ignore[arg-type]
            name = function.__name__
            raise TypeError(f"{name}(fun, k, dim): the second argument is k; pass a starting point as x0=, k as k=.")
        return function(*args, **named)

    return called


@second_argument_is_k
def minimize(
    fun: Callable[[Any], Any],
    k: int,
    dim: int,
    grad: Callable[[Any], Any] | bool | str | None = None,
    hess: Callable[[Any], Any] | str | None = None,
    x0: Any = None,
    solver: str = "auto",
    keep: Any = None,
    *,
    nonnegative: bool = False,
    bounds: Any = None,
    total: float | None = None,
    tol: float | None = None,
    max_iter: int | None = None,
    time_limit: float | None = None,
    solver_options: Mapping[str, object] | None = None,
    random_state: Any = None,
    check_grad: bool = True,
    callback: Callable[[Progress], object] | None = None,
    verbose: int = 0,
) -> MinimizeResult:
    """Minimise a smooth convex function of `dim` variables, at most k of them non-zero.

    Parameters
    ----------
    fun : callable
        ``fun(x)`` is the value at x, an array of shape (dim,); or a pair of value and gradient (see `grad`). What it
        returns may be NumPy, JAX or PyTorch: anything that NumPy can read.
    k : int
        How many coordinates may be non-zero, beside those in `keep`. A float in (0, 1] is a share of `dim`.
    dim : int
        The number of variables.
    grad : callable, True, 'jax', 'torch', '2-point' or None, default=None
        ``grad(x)`` is the gradient. True: `fun` returns value and gradient. 'jax' and 'torch': `fun` is written in that
        library, is called with an array of it, and is differentiated by it. '2-point': central differences, 2 dim + 1
        evaluations for one gradient. None: the pair, if `fun` returns one, else finite differences, with a warning.
    hess : callable, 'jax' or None, default=None
        ``hess(x)`` is the Hessian, an array or sparse matrix of shape (dim, dim): Newton steps on supports instead of
        quasi-Newton ones, and for 'auto' moves scored by second derivatives.
    x0 : array-like of shape (dim,), default=None
        Where to start: its k largest entries. None is zero.
    solver : str, default='auto'
        One of ``ksparse.SOLVERS`` that needs no samples.
    keep : array-like of int or bool, default=None
        Coordinates that are free: never set to zero, not counted in k.
    nonnegative : bool, default=False
        No coordinate below 0. With the solver 'auto'.
    bounds : pair, dict or None, default=None
        What coordinates may be, as for the estimators: (lower, upper), or a dict of such pairs. 0 must be allowed.
    total : float or None, default=None
        What the coordinates add up to, as 1 for the weights of a portfolio.
    tol, max_iter, time_limit, solver_options, random_state
        As for the estimators.
    check_grad : bool, default=True
        Compare a gradient of your own with a difference of `fun` at the start, along one direction (two evaluations):
        one that does not belong to `fun` is a ValueError.
    callback : callable, default=None
        Called once per iteration with a `Progress`; returning True or raising StopIteration ends the search.
    verbose : int, default=0
        1 shows the progress on stderr.

    Returns
    -------
    result : MinimizeResult
        With ``x``, ``fun``, ``support``, ``success``, ``status``, ``message``, ``nit``, ``nfev`` and ``trace``.

    Raises
    ------
    Whatever `fun`, `grad`, `hess` or `callback` raise, as they raised it.

    Examples
    --------
    The 2-sparse point nearest to (3, -1, 2):

    >>> import numpy as np, ksparse
    >>> target = np.array([3.0, -1.0, 2.0])
    >>> result = ksparse.minimize(lambda x: 0.5 * ((x - target) ** 2).sum(), k=2, dim=3, grad=lambda x: x - target)
    >>> result.support
    array([0, 2])
    >>> result.x.round(6)
    array([3., 0., 2.])
    """
    function, counted = as_function(fun, dim, grad, hess)
    search = function_search(
        solver, tol, max_iter, time_limit, solver_options, random_state, keep, function["dim"], nonnegative, bounds,
        total,
    )
    start = None
    if x0 is not None:
        x0 = as_floats(x0, "x0")
        if x0.shape != (function["dim"],):
            raise ValueError(f"x0 has shape {x0.shape}, expected {(function['dim'],)}.")
        if not np.isfinite(x0).all():
            raise ValueError("x0 contains NaN or infinity.")
        support = np.flatnonzero(x0)
        start = support.tolist(), x0[support].tolist()
    size = check_k(k, function["dim"], "coordinates")
    if check_grad and counted.own_gradient:
        function["value_and_gradient"] = compared(function["value_and_gradient"])
    watcher = Watcher("minimize", verbose, callback, function["dim"])
    solution = _core.minimize(function, search, size, start, watcher.callback())
    watcher.close(solution["message"])
    result = minimize_result(solution, function["dim"], counted.calls)
    if result.status == "max-iterations" and falls_for_ever(function["value_and_gradient"], result.x):
        result.status = "unbounded"
        result.message = "no minimum: fun falls for ever along the ray through x"
    return result


def function_search(
    solver: str,
    tol: float | None,
    max_iter: int | None,
    time_limit: float | None,
    solver_options: Mapping[str, object] | None,
    random_state: Any,
    keep: Any,
    dim: int,
    nonnegative: bool = False,
    bounds: Any = None,
    total: float | None = None,
) -> Search:
    """The options of a search, checked."""
    if not isinstance(solver, str):
        raise TypeError(f"solver must be a string, got {type(solver).__name__}.")
    if max_iter is not None:
        max_iter = int(check_scalar(max_iter, "max_iter", numbers.Integral, min_val=1))
    return {
        "solver": solver,
        "tol": None if tol is None else float(check_scalar(tol, "tol", numbers.Real, min_val=0.0)),
        "max_iter": max_iter,
        "time_limit": None if time_limit is None else float(time_limit),
        "options": {} if solver_options is None else dict(solver_options),
        "keep": check_keep(keep, dim),
        "groups": [],
        "bounds": check_bounds(nonnegative, bounds, dim),
        "total": check_total(total),
        "threads": 1,
        "seed": seed(random_state),
    }


def as_floats(value: Any, name: str) -> Floats:
    """A float64 array from an array of any library; `name` is what it comes from."""
    if hasattr(value, "detach"):  # PyTorch, possibly on a device and recorded for differentiation
        value = value.detach()
        value = value.cpu() if hasattr(value, "cpu") else value
    array = np.asarray(value)
    # NumPy would drop the imaginary parts with a warning.
    if np.iscomplexobj(array):
        raise TypeError(f"{name} must be real, got complex numbers ({array.dtype}): take their real part, if meant.")
    return np.ascontiguousarray(array, dtype=np.float64)


def as_number(value: Any) -> float:
    """A number from a number or an array of one entry."""
    array = as_floats(value, "the value of fun")
    if array.size != 1:
        raise TypeError(
            f"fun must return a number, or a pair of a number and a gradient, not an array of shape {array.shape}."
        )
    return float(array.reshape(()))


class Counted:
    """Calls a function and counts how often."""

    def __init__(self, fun: Callable[[Any], Any]) -> None:
        self.fun = fun
        self.calls = 0
        #: Whether the user says what its gradient is.
        self.own_gradient = False

    def __call__(self, x: Any) -> Any:
        self.calls += 1
        return self.fun(x)


def as_function(fun: Any, dim: Any, grad: Any, hess: Any) -> tuple[Function, Counted]:
    """A user's callables as the core takes them, and the count of evaluations."""
    if not callable(fun):
        raise TypeError(f"fun must be callable, got {type(fun).__name__}.")
    dim = int(check_scalar(dim, "dim", numbers.Integral, min_val=1))
    counted = Counted(fun)
    value: Callable[[Floats], float] | None = None
    if grad is None:
        grad = "pair" if returns_pair(counted, dim) else "2-point, unasked"
    counted.own_gradient = grad is True or grad == "pair" or callable(grad)
    if grad is True or grad == "pair":
        pair = returned_pair(counted)
    elif callable(grad):
        pair, value = two_callables(counted, grad)
    elif grad == "jax":
        pair, value, derived = through_jax(counted)
        hess = derived if hess == "jax" else hess
    elif grad == "torch":
        pair, value = through_torch(counted)
    elif grad in ("2-point", "2-point, unasked"):
        if grad != "2-point":
            warnings.warn(
                f"No gradient was given: finite differences are used, {2 * dim + 1} evaluations for each gradient. "
                "Pass grad, or grad='2-point' to say that this is meant.",
                KSparseWarning,
                stacklevel=3,
            )
        pair, value = finite_differences(counted)
    else:
        raise ValueError(f"grad must be a function, True, 'jax', 'torch', '2-point' or None, got {grad!r}.")
    if hess is not None and not callable(hess):
        raise ValueError(f"hess must be a function, None, or 'jax' together with grad='jax', got {hess!r}.")
    second = None if hess is None else SecondDerivatives(hess, dim)
    function: Function = {
        "dim": dim,
        "value_and_gradient": pair,
        "value": value,
        "hessian_block": None if second is None else second.block,
        "hessian_diagonal": None if second is None else second.diagonal,
    }
    return function, counted


def returns_pair(fun: Counted, dim: int) -> bool:
    """Whether a function returns value and gradient, found out at zero."""
    result = fun(np.zeros(dim))
    return isinstance(result, (tuple, list)) and len(result) == 2


def returned_pair(fun: Counted) -> Callable[[Floats], tuple[float, Floats]]:
    def pair(x: Floats) -> tuple[float, Floats]:
        result = fun(x)
        if not (isinstance(result, (tuple, list)) and len(result) == 2):
            raise TypeError("with grad=True, fun must return a pair of value and gradient.")
        return as_number(result[0]), as_floats(result[1], "the gradient")

    return pair


def two_callables(
    fun: Counted, grad: Callable[[Any], Any]
) -> tuple[Callable[[Floats], tuple[float, Floats]], Callable[[Floats], float]]:
    def value(x: Floats) -> float:
        return as_number(fun(x))

    def pair(x: Floats) -> tuple[float, Floats]:
        # Each gets an array of its own: one that is changed in place must not reach the other.
        return as_number(fun(x.copy())), as_floats(grad(x), "the gradient")

    return pair, value


def through_jax(fun: Counted) -> tuple[Any, Any, Any]:
    """Value and gradient, value, and Hessian of a function written in JAX."""
    import jax

    def compiled(function: Callable[[Any], Any]) -> Callable[[Floats], Any]:
        """Compiled by JAX, unless it branches on numbers, which only plain calls can do."""
        quick: Any = jax.jit(function)

        def call(x: Floats) -> Any:
            nonlocal quick
            point = jax.numpy.asarray(x)
            try:
                return quick(point)
            except (jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError):
                if quick is function:
                    raise
                quick = function
                return quick(point)

        return call

    alone, both, second = (compiled(f) for f in (fun.fun, jax.value_and_grad(fun.fun), jax.hessian(fun.fun)))

    def pair(x: Floats) -> tuple[float, Floats]:
        fun.calls += 1
        value, gradient = both(x)
        return as_number(value), as_floats(gradient, "the gradient")

    def value(x: Floats) -> float:
        fun.calls += 1
        return as_number(alone(x))

    return pair, value, second


def through_torch(fun: Counted) -> tuple[Any, Any]:
    """Value and gradient, and value, of a function written in PyTorch."""
    import torch

    def pair(x: Floats) -> tuple[float, Floats]:
        point = torch.from_numpy(x.copy()).requires_grad_(True)
        value = fun(point)
        (gradient,) = torch.autograd.grad(value, point)
        return as_number(value), as_floats(gradient, "the gradient")

    def value(x: Floats) -> float:
        with torch.no_grad():
            return as_number(fun(torch.from_numpy(x.copy())))

    return pair, value


def finite_differences(fun: Counted) -> tuple[Callable[[Floats], tuple[float, Floats]], Callable[[Floats], float]]:
    """Central differences: the gradient must be good enough to choose coordinates by."""

    def value(x: Floats) -> float:
        return as_number(fun(x))

    def pair(x: Floats) -> tuple[float, Floats]:
        gradient = np.empty_like(x)
        for j in range(x.size):
            step = np.cbrt(np.finfo(np.float64).eps) * max(1.0, abs(x[j]))
            ahead, behind = x.copy(), x.copy()
            ahead[j] += step
            behind[j] -= step
            gradient[j] = (value(ahead) - value(behind)) / (ahead[j] - behind[j])
        return value(x), gradient

    return pair, value


class SecondDerivatives:
    """A Hessian, kept from one question to the next at the same point."""

    def __init__(self, hess: Callable[[Any], Any], dim: int) -> None:
        self.hess = hess
        self.dim = dim
        self.point: bytes | None = None
        self.matrix: Any = None

    def at(self, x: Floats) -> Any:
        point = x.tobytes()
        if self.point != point:
            matrix = self.hess(x)
            matrix = sp.csr_array(matrix) if sp.issparse(matrix) else as_floats(matrix, "the Hessian")
            if matrix.shape != (self.dim, self.dim):
                raise ValueError(f"hess returned shape {matrix.shape}, expected {(self.dim, self.dim)}.")
            self.point, self.matrix = point, matrix
        return self.matrix

    def block(self, x: Floats, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Floats:
        """Some rows and columns of the Hessian."""
        matrix = self.at(x)
        part = matrix[rows][:, columns]
        return as_floats(part.toarray() if sp.issparse(part) else part, "the Hessian")

    def diagonal(self, x: Floats) -> Floats:
        """Its diagonal."""
        return as_floats(self.at(x).diagonal(), "the Hessian")
