"""Functions of one's own."""

import sys
import time
import types

import numpy as np
import pytest
import scipy.sparse as sp

import ksparse

TARGET = np.array([3.0, -1.0, 2.0, 0.5, -4.0])


def value(x):
    return 0.5 * ((x - TARGET) ** 2).sum()


def gradient(x):
    return x - TARGET


@pytest.mark.parametrize("solver", ["auto", "grahtp", "fgrahtp", "htp", "iht", "grasp", "fbs", "foba"])
def test_every_way_to_give_derivatives(solver):
    ways = [
        {"fun": value, "grad": gradient},
        {"fun": lambda x: (value(x), gradient(x)), "grad": True},
        {"fun": lambda x: (value(x), gradient(x))},
        {"fun": value, "grad": "2-point"},
        {"fun": value, "grad": gradient, "hess": lambda x: np.eye(5)},
        {"fun": value, "grad": gradient, "hess": lambda x: sp.eye_array(5, format="csr")},
    ]
    for way in ways:
        result = ksparse.minimize(k=2, dim=5, solver=solver, **way)
        assert result.success and result.support.tolist() == [0, 4]
        np.testing.assert_allclose(result.x, [3, 0, 0, 0, -4], atol=1e-4)
        np.testing.assert_allclose(result.fun, value(result.x), rtol=1e-9)
        assert result.nfev > 0 and result["nit"] == result.nit


def test_without_a_gradient_it_warns():
    with pytest.warns(ksparse.KSparseWarning, match="finite differences"):
        assert ksparse.minimize(value, 2, 5).support.tolist() == [0, 4]


def test_agrees_with_the_estimator():
    X, y, _ = ksparse.datasets.make_regression(80, 30, 4, noise=0.2, random_state=1)

    def fun(w):
        r = X @ w - y
        return 0.5 * (r @ r) / len(y), X.T @ r / len(y)

    model = ksparse.SparseLinearRegression(k=4, fit_intercept=False, solver="grahtp").fit(X, y)
    result = ksparse.minimize(fun, 4, 30)
    assert result.support.tolist() == model.support_.tolist()
    assert abs(result.fun - model.objective_) < 1e-8
    exact = ksparse.minimize(fun, 4, 30, grad=True, hess=lambda w: X.T @ X / len(y), solver="auto")
    np.testing.assert_allclose(exact.x, model.coef_, atol=1e-8)


class Foreign:
    """An array of another library: NumPy can read it, nothing more."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.array, dtype=dtype)


class Tensor(Foreign):
    """One that is recorded for differentiation, as PyTorch's."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("detach first")

    def detach(self):
        return Foreign(self.array)


@pytest.mark.parametrize("kind", [Foreign, Tensor])
def test_arrays_of_other_libraries(kind):
    result = ksparse.minimize(lambda x: kind(value(x)), 2, 5, lambda x: kind(gradient(x)))
    assert result.support.tolist() == [0, 4]


def test_jax_and_torch_differentiate(monkeypatch):
    jax = types.ModuleType("jax")
    jax.numpy = np
    jax.value_and_grad = lambda fun: lambda x: (fun(x), gradient(x))
    jax.hessian = lambda fun: lambda x: np.eye(5)
    compiled = []
    jax.jit = lambda fun: compiled.append(fun) or fun
    jax.errors = types.SimpleNamespace(ConcretizationTypeError=TypeError, TracerArrayConversionError=TypeError)
    monkeypatch.setitem(sys.modules, "jax", jax)
    assert ksparse.minimize(value, 2, 5, grad="jax", hess="jax", solver="auto").support.tolist() == [0, 4]
    assert len(compiled) == 3

    class Point(np.ndarray):
        def requires_grad_(self, wanted):
            return self

    import contextlib

    torch = types.ModuleType("torch")
    torch.from_numpy = lambda x: x.view(Point)
    torch.no_grad = contextlib.nullcontext
    torch.autograd = types.SimpleNamespace(grad=lambda value, point: (gradient(np.asarray(point)),))
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert ksparse.minimize(value, 2, 5, grad="torch").support.tolist() == [0, 4]


@pytest.mark.parametrize("where", ["fun", "grad", "hess", "callback"])
@pytest.mark.parametrize("solver", ["auto", "grahtp", "fgrahtp", "grasp", "fbs", "foba"])
def test_an_exception_comes_out_as_itself(where, solver):
    if (where, solver) == ("hess", "fgrahtp"):
        return  # it asks for no Hessian

    class Own(Exception):
        pass

    calls = 0

    def fail(*_):
        nonlocal calls
        calls += 1
        if calls > 1 or where in ("hess", "callback"):
            raise Own("mine")

    def wrap(name, fun):
        return (lambda x: (fail(), fun(x))[1]) if name == where else fun

    with pytest.raises(Own, match="mine"):
        ksparse.minimize(
            wrap("fun", value), 2, 5, wrap("grad", gradient), wrap("hess", lambda x: np.eye(5)), solver=solver,
            callback=fail if where == "callback" else None,
        )  # fmt: skip


def test_start_keep_and_path():
    result = ksparse.minimize(value, 1, 5, gradient, keep=[3])
    assert result.support.tolist() == [3, 4]
    assert ksparse.minimize(value, 2, 5, gradient, x0=[0, 0, 1, 1, 0]).fun <= value(np.zeros(5))
    path = ksparse.path(value, dim=5, grad=gradient, ks=range(6))
    assert (np.diff(path.objectives) <= 0).all() and path.coef(5).round(6).tolist() == TARGET.tolist()
    assert [support.size for support in path.supports] == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"fun": 3}, TypeError, "callable"),
        ({"dim": 0}, ValueError, "dim"),
        ({"k": -1}, ValueError, "k"),
        ({"grad": "no such way"}, ValueError, "grad"),
        ({"hess": "jax"}, ValueError, "hess"),
        ({"x0": [1.0]}, ValueError, "x0"),
        ({"x0": [np.nan] * 5}, ValueError, "NaN"),
        ({"grad": lambda x: x[:2]}, ValueError, "gradient has length 2, expected 5"),
        ({"fun": lambda x: x}, TypeError, "number"),
        ({"fun": lambda x: np.nan}, ValueError, "not finite"),
        ({"solver": "lasso"}, ValueError, "lasso"),
        ({"solver": "diht"}, NotImplementedError, "diht"),
        ({"keep": [7]}, ValueError, "keep"),
        ({"x0": [1j] * 5}, TypeError, "x0 must be real, got complex"),
        ({"fun": lambda x: np.complex128(value(x))}, TypeError, "value of fun must be real, got complex"),
        ({"fun": lambda x: np.complex64(value(x)), "grad": "2-point"}, TypeError, "value of fun must be real"),
        ({"fun": lambda x: (value(x), gradient(x) + 1j), "grad": None}, TypeError, "gradient must be real"),
        ({"grad": lambda x: gradient(x) + 0j}, TypeError, "gradient must be real, got complex"),
        ({"hess": lambda x: np.eye(5) * (1 + 1j)}, TypeError, "Hessian must be real, got complex"),
        ({"hess": lambda x: sp.eye_array(5, dtype=complex).tocsr()}, TypeError, "Hessian must be real, got complex"),
    ],
)
def test_bad_requests(arguments, error, message):
    request = {"fun": value, "k": 2, "dim": 5, "grad": gradient, **arguments}
    with pytest.raises(error, match=message):
        ksparse.minimize(**request)


def test_a_start_in_the_place_of_k_is_told():
    for arguments in ((value, np.zeros(5)), (value, np.zeros(5), 3), (value, 3, 5)):
        with pytest.raises(TypeError, match="the second argument is k; pass a starting point as x0="):
            ksparse.minimize(*arguments, k=3)
    with pytest.raises(TypeError, match="the second argument is k"):
        ksparse.minimize(value, [0.0] * 5, 3)


@pytest.mark.parametrize(
    "grad",
    [
        lambda x: -gradient(x),
        lambda x: 3.0 * gradient(x),
        lambda x: np.roll(gradient(x), 1),
    ],
    ids=["sign", "factor", "coordinates"],
)
def test_a_gradient_of_another_function_is_refused(grad):
    with pytest.raises(ValueError, match="does not belong to fun.*check_grad=False"):
        ksparse.minimize(value, k=2, dim=5, grad=grad)
    with pytest.raises(ValueError, match="does not belong to fun"):
        ksparse.minimize(lambda x: (value(x), grad(x)), k=2, dim=5)
    assert ksparse.minimize(value, k=2, dim=5, grad=grad, check_grad=False) is not None


def test_a_gradient_that_a_difference_cannot_judge_is_taken():
    # Flat at the start, and with values so large that a difference is all rounding.
    assert ksparse.minimize(lambda x: (x**4).sum(), k=2, dim=5, grad=lambda x: 4 * x**3).success
    assert ksparse.minimize(lambda x: 1e12 + value(x), k=2, dim=5, grad=gradient).support.tolist() == [0, 4]


@pytest.mark.parametrize("at_zero", [0.0, np.nan])
def test_a_function_without_values_is_an_error(at_zero):
    with pytest.raises(ValueError, match="not finite"):
        ksparse.minimize(lambda x: np.nan if x.any() else at_zero, k=2, dim=5, grad=lambda x: np.ones(5))


def test_a_function_without_a_minimum_is_no_success():
    result = ksparse.minimize(lambda x: -x.sum(), k=2, dim=5, grad=lambda x: -np.ones(5))
    assert not result.success and result.status == "unbounded" and "no minimum" in result.message


def test_the_time_limit_holds_inside_an_iteration():
    calls = []

    def slow(x):
        time.sleep(0.005)
        calls.append(x)
        return value(x), gradient(x)

    everything = ksparse.minimize(slow, k=2, dim=5)
    enough = len(calls)
    assert everything.success
    calls.clear()
    result = ksparse.minimize(slow, k=2, dim=5, time_limit=0.005)
    # The call under way, those that check the gradient, and what it takes to say where the search stands.
    assert result.status == "time-limit" and len(calls) <= min(10, enough - 1)


def mean_loss(n=90, dim=15, seed=3):
    X, y, coef = ksparse.datasets.make_regression(n, dim, 3, noise=0.5, random_state=seed)

    def loss(w, rows):
        residual = X[rows] @ w - y[rows]
        return 0.5 * np.mean(residual**2), X[rows].T @ residual / len(rows)

    return X, y, coef, loss


def test_k_is_chosen_for_a_function_as_for_an_estimator():
    X, y, coef, loss = mean_loss()
    splits = [(np.arange(90)[np.arange(90) % 3 != v], np.arange(90)[np.arange(90) % 3 == v]) for v in range(3)]
    found = ksparse.minimize_cv(loss, 90, 15, ks=range(1, 7), cv=splits)
    model = ksparse.SparseLinearRegressionCV(
        range(1, 7), cv=splits, alphas=[0.0], rule="best", fit_intercept=False
    ).fit(X, y)
    assert found.k == model.k_
    np.testing.assert_allclose(found.x, model.coef_, atol=1e-5)
    # Twice the mean loss is the deviance.
    scores = 2 * found.cv_results["mean_test_score"]
    np.testing.assert_allclose(scores, model.cv_results_["mean_test_score"], rtol=1e-4)
    assert found.cv_results["param_k"].tolist() == list(range(1, 7)) and len(found.path) == 6
    own = ksparse.minimize_cv(loss, 90, 15, ks=[1, 3], cv=splits, scoring=lambda w, rows: -np.count_nonzero(w))
    assert own.k == 1
    signs = ksparse.minimize_cv(loss, 90, 15, ks=[2, 3], cv=3, nonnegative=True)
    assert (signs.x >= 0).all()


def test_criteria_price_the_coordinates_of_a_function():
    X, y, coef, loss = mean_loss()
    for name in ("aic", "bic", "ebic", "gic"):
        found = ksparse.minimize_cv(loss, 90, 15, ks=range(1, 7), cv=name)
        values = [2 * 90 * f for f in found.path.objectives]
        price = {"aic": 2.0, "bic": np.log(90), "gic": np.log(15) * np.log(np.log(90))}.get(name)
        if price is not None:
            expected = [-(v + price * k) for v, k in zip(values, range(1, 7))]
            np.testing.assert_allclose(found.cv_results["mean_test_score"], expected)
        assert found.k == 1 + int(np.argmax(found.cv_results["mean_test_score"]))


def test_choices_that_cannot_be_made_say_so():
    X, y, coef, loss = mean_loss()
    for wrong, words in [({"cv": "cic"}, "criteria|aic"), ({"rule": "worst"}, "rule"), ({"ks": []}, "at least one k")]:
        with pytest.raises(ValueError, match=words):
            ksparse.minimize_cv(loss, 90, 15, **wrong)
    with pytest.raises(ValueError, match="score of k = 2 is not finite"):
        ksparse.minimize_cv(loss, 90, 15, ks=[1, 2], cv=3, scoring=lambda w, rows: [0, 0, np.nan][np.count_nonzero(w)])
    with pytest.raises(ZeroDivisionError):
        ksparse.minimize_cv(lambda w, rows: 1 / 0, 90, 15, grad=lambda w, rows: w)


def test_a_path_ends_where_the_residual_is_small_enough():
    X, y, coef, loss = mean_loss()
    rows = np.arange(90)
    for whole, cut in [
        (
            lambda **more: ksparse.path(lambda w: loss(w, rows), dim=15, ks=range(1, 8), **more),
            3,
        ),
        (lambda **more: ksparse.path(ksparse.SparseLinearRegression(), X, y, ks=range(1, 8), **more), 2),
    ]:
        values = whole().objectives
        short = whole(stop_at=values[cut])
        assert len(short) == cut + 1 and short.objectives[-1] <= values[cut]
    with pytest.raises(TypeError, match="stop_at"):
        ksparse.path(ksparse.SparseLinearRegression(), X, y, stop_at="soon")
