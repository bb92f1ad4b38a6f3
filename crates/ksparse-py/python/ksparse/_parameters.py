"""The parameters of the estimators, each said once: a constructor has the fields of its class and of those above it.

scikit-learn reads parameters off the signature of a constructor that keeps them and does nothing else: what a dataclass
makes. `parameters` goes over every class that adds one or has another default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:  # For type checkers alone, and not in the oldest Python.

    def dataclass_transform(**_: Any) -> Any:
        return lambda function: function


Estimator = TypeVar("Estimator")


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def parameters(cls: type[Estimator]) -> type[Estimator]:
    """A constructor of the fields, by keyword. Estimators are compared and shown as scikit-learn does it."""
    return dataclass(eq=False, repr=False, kw_only=True)(cls)


@parameters
class Searching:
    """How any estimator searches."""

    solver: str = "auto"
    standardize: bool = False
    tol: float | None = None
    max_iter: int | None = None
    time_limit: float | None = None
    solver_options: Mapping[str, object] | None = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0


@parameters
class Columns(Searching):
    """Columns of a linear predictor."""

    keep: Any = None
    penalty_factors: Any = None
    device: str | None = None


@parameters
class Intercept:
    """Beside an intercept."""

    fit_intercept: bool = True


@parameters
class ClassWeight:
    """Of classes."""

    class_weight: Mapping[Any, float] | str | None = None


@parameters
class Constrained:
    """What is asked of columns beside their number."""

    groups: Any = None
    nonnegative: bool = False
    bounds: Any = None


@parameters
class Bounded(Constrained):
    """A number a row: a sum of the coefficients, a lower bound of the objective."""

    total: float | None = None
    certify: bool | int = False


@parameters
class Size:
    """With a k."""

    k: int | float | None = field(default=None, kw_only=False)


@parameters
class Given(Size):
    """With a k and a ridge."""

    alpha: float = 1e-5


@parameters
class Fit(Columns, Intercept, Bounded, Given):
    """A fit with a number a row for a target."""

    warm_start: bool = False


@parameters
class JointFit(Constrained, Given):
    """A fit with more than a number a row for a target."""


@parameters
class Sizes:
    """With sizes to choose from."""

    ks: Any = field(default=None, kw_only=False)
    cv: Any = None
    rule: str = "best"


@parameters
class Compared(Sizes):
    """With sizes and ridges to choose from."""

    alphas: Any = None
    scoring: Any = None


@parameters
class Chosen(Compared):
    """With two ridges."""

    refit_alphas: Any = None
    rule: str = "lean"
    resamples: int = 0
    ensemble: bool = False


@parameters
class JointChoice(Constrained, Chosen):
    """A choice with more than a number a row for a target."""


@parameters
class Choice(Columns, Intercept, Bounded, Chosen):
    """A choice with a number a row for a target."""


@parameters
class Edges(Searching):
    """A precision matrix."""

    standardize: bool = True
    inner: str | None = None
    xi: float | None = None
    eigenvalue_bounds: tuple[float, float] | None = None
