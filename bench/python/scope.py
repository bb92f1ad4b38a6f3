"""skscope: sparse minimisers of a function given in JAX."""

from __future__ import annotations

import tempfile
from typing import Callable

import numpy as np
import scipy.sparse.linalg as sla

from problem import Problem

Fit = Callable[[], np.ndarray]
Steps = Callable[[Problem], list[float]]


def solver(problem: Problem, name: str, double: bool = False, steps: Steps | None = None) -> Fit:
    """A solver as shipped (JAX in single precision), or in double; for each of `steps`, if given, and the best of them.

    `sample_size` stays at its default: giving it n makes ScopeSolver stop early at twice the objective on the logistic
    data.
    """
    import jax
    import jax.numpy as jnp
    import skscope
    from jax.experimental.sparse import BCOO

    # JAX keeps what it compiles beside the data: after the first fit compilation is a look-up, and the clocks need no
    # correction.
    jax.config.update("jax_compilation_cache_dir", tempfile.mkdtemp(dir=problem.where))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    jax.config.update("jax_enable_x64", double)
    x = jnp.asarray(problem.x) if problem.dense else BCOO.from_scipy_sparse(problem.x)
    data = x, jnp.asarray(problem.y)

    def squared(w, data):
        x, y = data
        return 0.5 * jnp.mean((y - x @ w) ** 2) + 0.5 * problem.ridge * jnp.sum(w * w)

    def logistic(w, data):
        x, y = data
        return jnp.mean(jnp.logaddexp(0.0, -problem.scale * y * (x @ w))) + 0.5 * problem.ridge * jnp.sum(w * w)

    objective = logistic if problem.logistic else squared

    def once(**settings) -> tuple[float, np.ndarray]:
        fitted = getattr(skscope, name)(problem.x.shape[1], problem.k, **settings)
        fitted.solve(objective, data=data, jit=True)
        return float(fitted.objective_value), np.asarray(fitted.params, dtype=float)

    def fit() -> np.ndarray:
        if steps is None:
            return once()[1]
        sizes = steps(problem)
        found = [once(step_size=size) for size in sizes]
        values = [value if np.isfinite(value) else np.inf for value, _ in found]
        best = int(np.argmin(values))
        problem.notes.append(f"step {sizes[best]:.3g}, number {best + 1} of {len(sizes)}")
        return found[best][1]

    return fit


def multiples_of_safe_step(problem: Problem) -> list[float]:
    """4, 8, ..., 128 over L, the smoothness of the objective: a step of 1 / L is safe and far too short."""
    n = problem.x.shape[0]
    largest = float(sla.svds(sla.aslinearoperator(problem.x), k=1, return_singular_vectors=False, random_state=0)[0])
    curvature = problem.scale**2 / 4 if problem.logistic else 1.0
    smoothness = curvature * largest**2 / n + problem.ridge
    return [factor / smoothness for factor in (4, 8, 16, 32, 64, 128)]


SOLVERS: dict[str, Callable[[Problem], Fit]] = {
    "scope": lambda problem: solver(problem, "ScopeSolver"),
    "scope-double": lambda problem: solver(problem, "ScopeSolver", double=True),
    "htp": lambda problem: solver(problem, "HTPSolver"),
    "htp-tuned": lambda problem: solver(problem, "HTPSolver", steps=multiples_of_safe_step),
    "iht": lambda problem: solver(problem, "IHTSolver"),
    "grasp": lambda problem: solver(problem, "GraspSolver"),
    "scope-omp": lambda problem: solver(problem, "OMPSolver"),
    "foba": lambda problem: solver(problem, "FobaSolver"),
}
