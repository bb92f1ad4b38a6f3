"""X on a CUDA device. What needs one is skipped where there is none, with what the core says about it."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import ksparse
from ksparse import SparseLinearRegression, SparseLinearRegressionCV, SparseLogisticRegression, datasets


def no_device():
    try:
        SparseLinearRegression(1, device="cuda").fit(np.eye(3), np.arange(3.0))
    except RuntimeError as refusal:
        return str(refusal)
    return None


needs_device = pytest.mark.skipif(no_device() is not None, reason=str(no_device()))


class Elsewhere:
    """What looks like an array on a CUDA device."""

    def __init__(self, shape=(20, 5), typestr="<f8", strides=None):
        self.shape, self.dtype = shape, np.dtype(typestr)
        self.__cuda_array_interface__ = {
            "shape": shape, "typestr": typestr, "strides": strides, "data": (4096, False), "version": 3
        }

    def __dlpack_device__(self):
        return 2, 0

    def sum(self):
        return 1.0

    def get(self):
        return np.zeros(self.shape)


def test_importing_and_fitting_on_the_processor_loads_nothing_of_cuda():
    code = (
        "import numpy as np, ksparse\n"
        "ksparse.SparseLinearRegression(1).fit(np.eye(4), np.arange(4.0))\n"
        "print([line for line in open('/proc/self/maps') if 'cuda' in line or 'cublas' in line])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_device_that_is_none():
    X, y, _ = datasets.make_regression(30, 10, 2, random_state=1)
    for device in ("tpu", "cuda:x", "cuda:-1", 3):
        with pytest.raises(ValueError, match="device must be None, 'cpu', 'cuda' or 'cuda:N'"):
            SparseLinearRegression(2, device=device).fit(X, y)
    assert SparseLinearRegression(2, device="cpu").fit(X, y).support_.size == 2
    with pytest.raises(RuntimeError, match="there is no CUDA device"):
        SparseLinearRegression(2, device="cuda:99").fit(X, y)


def test_arrays_elsewhere_are_looked_at_before_they_are_read():
    y = np.arange(20.0)
    fit = SparseLinearRegression(2).fit
    with pytest.raises((RuntimeError, ValueError), match="no CUDA device|not memory of device"):
        fit(Elsewhere(), y)
    with pytest.raises(ValueError, match="must be float32 or float64, got int32"):
        fit(Elsewhere(typestr="<i4"), y)
    with pytest.raises(ValueError, match="Expected 2D array, got 1D"):
        fit(Elsewhere(shape=(20,)), y)
    with pytest.raises(ValueError, match="make a contiguous copy"):
        fit(Elsewhere(strides=(-40, 8)), y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        fit(Elsewhere(), y[:7])
    with pytest.raises(ValueError, match="X lies on a CUDA device"):
        SparseLinearRegression(2, device="cpu").fit(Elsewhere(), y)


@needs_device
def test_the_model_is_that_of_the_processor():
    X, y, _ = datasets.make_regression(500, 300, 8, correlation=0.5, noise=0.5, random_state=2)
    S, z, _ = datasets.make_text(600, 2000, random_state=3)
    for data, target, estimator in [
        (X, y, SparseLinearRegression(8)),
        (np.asfortranarray(X, dtype=np.float32), y, SparseLinearRegression(8)),
        (X, np.where(y > 0, "a", "b"), SparseLogisticRegression(8)),
        (S, z, SparseLogisticRegression(20, solver_options={"effort": "quick"})),
        (sp.csc_matrix(S, dtype=np.float32), z, SparseLogisticRegression(20, solver_options={"effort": "quick"})),
    ]:
        here = estimator.fit(data, target)
        support, objective = here.support_.tolist(), here.objective_
        there = estimator.set_params(device="cuda").fit(data, target)
        assert there.support_.tolist() == support
        assert abs(there.objective_ - objective) <= 1e-9 * objective
        assert there.trace_["launches"][-1] > 0 and there.trace_["uploaded_bytes"][-1] > 0


def arrays(X):
    """X in the libraries that are there, by rows and by columns."""
    torch = pytest.importorskip("torch")
    cupy = pytest.importorskip("cupy")
    yield torch.from_numpy(np.ascontiguousarray(X)).cuda()
    yield torch.from_numpy(np.ascontiguousarray(X.T)).cuda().T
    yield cupy.asarray(X)
    yield cupy.asfortranarray(cupy.asarray(X))


@needs_device
def test_arrays_of_other_libraries_are_read_where_they_lie():
    X, y, _ = datasets.make_regression(400, 200, 5, noise=0.5, random_state=4)
    here = SparseLinearRegression(5).fit(X, y)
    for there in arrays(X):
        model = SparseLinearRegression(5).fit(there, y)
        assert model.support_.tolist() == here.support_.tolist()
        assert abs(model.objective_ - here.objective_) <= 1e-9 * here.objective_
        assert np.allclose(model.predict(there), here.predict(X))
        # Vectors travel, the matrix does not.
        assert model.trace_["uploaded_bytes"][0] < X.nbytes
    certificate = ksparse.certify(SparseLinearRegression(5, alpha=0.1).fit(there, y), there, y)
    assert certificate.lower_bound <= certificate.objective
    assert SparseLinearRegressionCV([2, 5], cv=3).fit(there, y).k_ == 5
    with pytest.raises(ValueError, match="NaN or infinity"):
        there[3, 4] = np.nan
        SparseLinearRegression(5).fit(there, y)


@needs_device
def test_sparse_matrices_of_other_libraries():
    torch, sparse = pytest.importorskip("torch"), pytest.importorskip("cupyx.scipy.sparse")
    S, z, _ = datasets.make_text(600, 2000, random_state=3)
    # Small searches are not what a device is good at: a short one.
    estimator = SparseLogisticRegression(20, solver_options={"effort": "quick"})
    here = clone(estimator).fit(S, z)
    rows = sp.csr_matrix(S)
    parts = [torch.from_numpy(part.astype(np.int64)).cuda() for part in (rows.indptr, rows.indices)]
    values = torch.from_numpy(rows.data).cuda()
    for there in (sparse.csr_matrix(rows), sparse.csc_matrix(sp.csc_matrix(S)),
                  torch.sparse_csr_tensor(*parts, values, size=rows.shape)):
        model = clone(estimator).fit(there, z)
        assert model.support_.tolist() == here.support_.tolist()
        assert abs(model.objective_ - here.objective_) <= 1e-9 * here.objective_
        assert (model.predict(there) == here.predict(S)).all()


def family(name):
    """Data whose target suits an estimator: 3000 x 400, six columns that matter."""
    generator = np.random.default_rng(5)
    X, coef = generator.standard_normal((3000, 400)), np.zeros(400)
    coef[::70] = [0.8, -0.6, 0.5, 0.7, -0.5, 0.6]
    z = X @ coef
    noise = generator.standard_normal(len(z))
    draws = {
        "linear": lambda: z + noise,
        "robust": lambda: z + generator.standard_t(2, len(z)),
        "sign": lambda: np.where(z + noise > 0, "yes", "no"),
        "counts": lambda: generator.poisson(np.exp(0.5 * z)).astype(float),
        "positive": lambda: np.exp(0.5 * z) * generator.gamma(4.0, 0.25, len(z)),
        "classes": lambda: np.digitize(z + noise, [-0.7, 0.7]),
        "responses": lambda: np.column_stack([z + noise, 0.5 * z - noise]),
        "times": lambda: np.column_stack([np.exp(-z) * generator.exponential(1.0, len(z)), noise < 0.8]),
    }
    return X, draws[name]()


FAMILIES = [
    ("SparseLinearRegression", "linear"), ("SparseRobustRegression", "robust"), ("SparseLogisticRegression", "sign"),
    ("SparseSVC", "sign"), ("SparseHuberClassifier", "sign"), ("SparsePoissonRegression", "counts"),
    ("SparseGammaRegression", "positive"), ("SparseMultinomialRegression", "classes"),
    ("SparseOrdinalRegression", "classes"), ("SparseMultiTaskRegression", "responses"),
    ("SparseCoxRegression", "times"),
]


@needs_device
@pytest.mark.parametrize(("name", "target"), FAMILIES)
def test_every_family_its_choice_and_its_bound(name, target):
    X, y = family(target)
    options = {"alpha": 0.01, "standardize": True}
    here, there = (getattr(ksparse, name)(6, device=device, **options).fit(X, y) for device in (None, "cuda"))
    assert there.support_.tolist() == here.support_.tolist()
    assert abs(there.objective_ - here.objective_) <= 1e-9 * abs(here.objective_)
    chosen = [getattr(ksparse, f"{name}CV")(device=device, cv=3, random_state=0).fit(X, y) for device in (None, "cuda")]
    assert chosen[1].k_ == chosen[0].k_
    assert chosen[1].support_.tolist() == chosen[0].support_.tolist()
    np.testing.assert_allclose(chosen[1].coef_, chosen[0].coef_, rtol=1e-6, atol=1e-9)
    if hasattr(here, "dual_gap_"):
        bounds = [ksparse.certify(model, X, y).lower_bound for model in (here, there)]
        assert abs(bounds[1] - bounds[0]) <= 1e-6 * abs(bounds[0])
        values = [ksparse.path(model, X, y, ks=[1, 3, 6]).objectives for model in (here, there)]
        np.testing.assert_allclose(values[1], values[0], rtol=1e-9)
