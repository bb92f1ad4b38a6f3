"""The compiled half of the package: plain arrays in, plain dictionaries out."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray
from typing_extensions import NotRequired

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Compressed = tuple[str, tuple[int, int], NDArray[np.uint64], NDArray[np.uint32], NDArray[Any]]
Callback = Callable[[dict[str, Any]], object]

__version__: str
SOLVERS: list[str]
#: Solver, option, what it may be, what it does, what the paper has.
SOLVER_OPTIONS: list[tuple[str, str, str, str, str | None]]

class Design:
    def __init__(
        self, matrix: NDArray[Any] | Compressed | tuple[Any, ...], threads: int, device: int | None = None
    ) -> None: ...

class Data(TypedDict):
    design: Design
    target: Floats
    weights: Floats | None
    offset: Floats | None
    loss: str
    loss_parameter: float | None
    intercept: bool
    standardize: bool
    penalty_factors: Floats | None

class Sharded(TypedDict):
    loss: str
    loss_parameter: float | None
    alpha: float
    intercept: bool
    standardize: bool
    penalty_factors: Floats | None

class Samples(TypedDict):
    design: Design
    centred: bool
    standardize: bool
    precomputed: bool
    inner: str | None
    xi: float | None
    eigenvalue_bounds: tuple[float, float] | None

class Search(TypedDict):
    solver: str
    tol: float | None
    max_iter: int | None
    time_limit: float | None
    options: Mapping[str, object]
    keep: Sequence[int]
    groups: Sequence[Sequence[int]]
    bounds: tuple[Floats, Floats] | None
    total: float | None
    threads: int
    seed: int

class Function(TypedDict):
    dim: int
    value_and_gradient: Callable[[Floats], tuple[float, Floats]]
    value: Callable[[Floats], float] | None
    hessian_block: Callable[[Floats, Indices, Indices], Floats] | None
    hessian_diagonal: Callable[[Floats], Floats] | None

class Trace(TypedDict):
    iteration: Indices
    objective: Floats
    entered: Indices
    left: Indices
    step: Floats
    refits: Indices
    seconds: Floats
    # Where X lies on a device.
    launches: NotRequired[Indices]
    uploaded_bytes: NotRequired[Indices]
    downloaded_bytes: NotRequired[Indices]

class Solution(TypedDict):
    support: Indices
    coef: Floats
    objective: float
    n_iter: int
    n_refits: int
    status: str
    converged: bool
    message: str
    remedy: str | None
    trace: Trace
    # One number per sample, from 'diht' and 'sdiht'.
    dual_vector: Floats | None

class Model(Solution, total=False):
    intercept: float
    lower_bound: float
    at_bounds: Indices

class Said(TypedDict):
    rounds: int
    bytes_up: int
    bytes_down: int
    seconds: float

class ShardedModel(Model):
    communication: Said
    rows: int

class ShardedChoice(ShardedModel):
    index: int
    cells: list[tuple[int, float]]
    mean: Floats
    std_error: Floats
    scores: Floats

class JointData(TypedDict):
    design: Design
    kind: str
    weights: Floats | None
    time: Floats | None
    event: NDArray[np.bool_] | None
    entry: Floats | None
    strata: Indices | None
    ties: str
    count: int
    classes: Indices | None
    responses: Floats | None
    intercept: bool
    standardize: bool
    penalty_factors: Floats | None

class JointModel(Solution, total=False):
    intercept: Floats
    baselines: list[tuple[Floats, Floats, float]]
    at_bounds: Indices
    thresholds: Floats
    frequencies: Floats
    alternatives: list[tuple[Indices, float]]
    path: list[tuple[int, list[Model]]]

class Network(Solution):
    precision: Floats
    edges: Indices
    partial_correlations: Floats
    location: Floats

class Predictor(Model):
    frequencies: Floats
    alternatives: list[tuple[Indices, float]]
    path: list[tuple[int, Model]]

class Comparison(TypedDict):
    ks: Sequence[int] | None
    alphas: Sequence[float] | None
    refit_alphas: Sequence[float] | None
    one_ridge: bool
    thorough: bool
    rule: str
    resamples: int

class Compared(TypedDict):
    k: int
    alpha: float
    select_alpha: float
    index: int
    ks: Indices
    alphas: Floats
    select_alphas: Floats
    mean: Floats
    std_error: Floats
    scores: Floats
    splits: Indices
    edges: list[str]

class Chosen(Compared):
    predictors: list[Predictor]

class JointChosen(Compared):
    predictors: list[JointModel]

class Choice(TypedDict):
    index: int
    mean: Floats
    std_error: Floats

def fit(
    data: Data,
    search: Search,
    k: int,
    alpha: float,
    start: tuple[Sequence[int], Sequence[float], float] | None = None,
    callback: Callback | None = None,
    certify: int = 0,
) -> Model: ...
def shard_answer(data: Data, frame: Mapping[str, Any], question: Mapping[str, Any], threads: int) -> Floats: ...
def fit_shards(
    rounds: Any,
    problem: Sharded,
    search: Search,
    k: int,
    start: tuple[Sequence[int], Sequence[float], float] | None = None,
    callback: Callback | None = None,
) -> ShardedModel: ...
def choose_over_shards(
    shards: Any,
    problem: Sharded,
    search: Search,
    ks: Sequence[int] | None,
    alphas: Sequence[float] | None,
    rule: str,
    callback: Callback | None = None,
) -> ShardedChoice: ...
def rows_of_moments(
    gram: Floats, cross: Floats, square: float, n: int, means: tuple[Floats, float] | None = None
) -> tuple[Floats, Floats]: ...
def fit_joint(
    data: JointData,
    search: Search,
    k: int,
    alpha: float,
    callback: Callback | None = None,
) -> JointModel: ...
def choose_joint(
    data: JointData,
    search: Search,
    comparison: Comparison,
    splits: Sequence[tuple[Indices, Indices]],
    metric: str | None,
    callback: Callback | None = None,
) -> JointChosen: ...
def concordance(
    z: Floats,
    time: Floats,
    event: NDArray[np.bool_],
    strata: Indices | None = None,
    weights: Floats | None = None,
) -> float: ...
def certify(
    data: Data,
    search: Search,
    k: int,
    alpha: float,
    model: tuple[Sequence[int], Sequence[float], float],
    tolerance: float,
    max_epochs: int,
    callback: Callback | None = None,
) -> dict[str, Any]: ...
def theory(data: Data, k: int, alpha: float) -> dict[str, Any]: ...
def precision_path(
    samples: Samples,
    search: Search,
    ks: Sequence[int],
    start: Floats | None = None,
    callback: Callback | None = None,
) -> list[Network]: ...
def precision_scores(
    samples: Samples,
    search: Search,
    ks: Sequence[int],
    folds: Sequence[tuple[Indices, Indices]],
    callback: Callback | None = None,
) -> list[list[float] | None]: ...
def choose_model(
    data: Sequence[Data],
    search: Search,
    comparison: Comparison,
    splits: Sequence[tuple[Indices, Indices]],
    scorer: Callable[[int, Any], float] | None = None,
    callback: Callback | None = None,
    certify: int = 0,
) -> Chosen: ...
def deal(rows: int) -> tuple[int, int]: ...
def folds(
    rows: int, count: int, times: int, seed: int, labels: NDArray[np.float64] | None = None
) -> list[NDArray[np.int64]]: ...
def choose_by_criterion(
    data: Data,
    search: Search,
    ks: Sequence[int] | None,
    alphas: Sequence[float],
    name: str,
    callback: Callback | None = None,
) -> dict[str, Any]: ...
def deviance(loss: str, loss_parameter: float | None, z: Floats, y: Floats, weights: Floats | None) -> float: ...
def choose(
    cells: Sequence[tuple[int, float]], scores: Floats, fold_weights: Sequence[float], rule: str
) -> Choice: ...
def grids(
    data: Data,
    search: Search,
    ks: Sequence[int],
    alphas: Sequence[float],
    rows: Sequence[Indices] | None = None,
    callback: Callback | None = None,
    stop_at: float | None = None,
) -> list[list[list[Model]]]: ...
def criterion_penalty(name: str, n: float, p: int, s: int) -> float: ...
def minimize(
    function: Function,
    search: Search,
    k: int,
    start: tuple[Sequence[int], Sequence[float]] | None = None,
    callback: Callback | None = None,
) -> Solution: ...
def minimize_path(
    function: Function,
    search: Search,
    ks: Sequence[int],
    callback: Callback | None = None,
    stop_at: float | None = None,
) -> list[Solution]: ...
def simulate_linear(n: int, p: int, k: int, rho: float, noise: float, seed: int) -> dict[str, Any]: ...
def simulate_logistic(n: int, p: int, k: int, rho: float, seed: int) -> dict[str, Any]: ...
def simulate_text(n: int, p: int, mean_tokens: float, seed: int) -> dict[str, Any]: ...
def simulate_precision(n: int, p: int, seed: int) -> dict[str, Any]: ...
