"""Looks at a function of the user's own: whether its gradient is its own, whether it has a minimum."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Pair = Callable[[Floats], tuple[float, Floats]]


def compared(pair: Pair) -> Pair:
    """The same, the first gradient compared with differences of the values."""
    first = True

    def checked(x: Floats) -> tuple[float, Floats]:
        nonlocal first
        at = x.copy()
        value, gradient = pair(x)
        if first:
            first = False
            compare_gradient(pair, at, value, gradient)
        return value, gradient

    return checked


def compare_gradient(pair: Pair, x: Floats, value: float, gradient: Floats) -> None:
    """Refuses a gradient that is not the function's, as far as one direction at x can tell."""
    length = np.linalg.norm(gradient)
    if not (np.isfinite(value) and np.isfinite(length) and length > 0.0 and gradient.shape == x.shape):
        return
    # Half along the gradient, where a sign or a factor shows, half anywhere.
    aside = np.random.default_rng(0).standard_normal(x.size)
    direction = gradient / length + aside / np.linalg.norm(aside)
    direction /= np.linalg.norm(direction)
    step = np.cbrt(np.finfo(np.float64).eps) * max(1.0, float(np.linalg.norm(x)))
    ahead, behind = (pair(x + side * step * direction)[0] for side in (1.0, -1.0))
    said, seen = float(gradient @ direction), (ahead - behind) / (2.0 * step)
    # What rounding and bends may do to a difference that is right.
    noise = 1e3 * np.finfo(np.float64).eps * max(abs(ahead), abs(behind), abs(value)) / step
    if np.isfinite(seen) and abs(said - seen) > 0.1 * max(abs(said), abs(seen)) + noise:
        raise ValueError(
            f"The gradient does not belong to fun: along a direction at the start, fun changes by {seen:.3g} a unit "
            f"and the gradient says {said:.3g}. Check its sign, its factors and its coordinates, or leave it out "
            "(grad='2-point'); check_grad=False skips this comparison, for a function that bends sharply at the start."
        )


def falls_for_ever(pair: Pair, x: Floats) -> bool:
    """Whether a convex function goes on falling on the ray through x: twice as much for twice the way."""
    first, second, third = (pair(2.0**far * x)[0] for far in (20, 21, 22))
    return bool(np.isfinite(third) and third < second < first and second - third > 1.5 * (first - second))
