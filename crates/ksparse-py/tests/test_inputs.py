"""What goes in: every layout gives the same fit, nothing is changed, and what cannot be fitted is refused as
scikit-learn would."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import CV_ESTIMATORS, ESTIMATORS, data_for

import ksparse
from ksparse._validation import as_matrix

EVERY = ESTIMATORS + CV_ESTIMATORS


def sparse_forms(X):
    """The same matrix in every form SciPy has for it, canonical and not."""
    base = sp.csr_matrix(X)
    for form in ("csr", "csc", "coo", "lil", "dok", "bsr"):
        yield base.asformat(form)
    yield sp.csr_array(X)
    yield sp.coo_array(X)
    for kind in (sp.csr_matrix, sp.csc_matrix):
        matrix = kind(X)
        matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
        yield matrix
        shuffled = kind(X)
        for start, end in zip(shuffled.indptr, shuffled.indptr[1:]):
            shuffled.indices[start:end] = shuffled.indices[start:end][::-1].copy()
            shuffled.data[start:end] = shuffled.data[start:end][::-1].copy()
        shuffled.has_sorted_indices = False
        yield shuffled
        # Every entry as two halves.
        parts = kind(X)
        halves = kind(
            (np.repeat(parts.data / 2, 2), np.repeat(parts.indices, 2), 2 * parts.indptr), shape=parts.shape
        )
        yield halves


def test_every_layout_gives_the_same_fit(regression):
    X, y, _ = regression
    X = X * (np.abs(X) > 0.3)
    expected = ksparse.SparseLinearRegression(k=4).fit(X, y)
    read_only = X.copy()
    read_only.flags.writeable = False
    spaced = np.zeros((X.shape[0], 2 * X.shape[1]))
    spaced[:, ::2] = X
    shifted = np.frombuffer(b"\0" + np.ascontiguousarray(X).tobytes(), dtype=np.uint8)[1:]
    unaligned = shifted.view(np.float64).reshape(X.shape)
    assert not unaligned.flags.aligned
    backwards = np.ascontiguousarray(X[::-1])[::-1]
    dense = [np.ascontiguousarray(X), np.asfortranarray(X), read_only, spaced[:, ::2], unaligned, backwards]
    dense += [X.astype(">f8"), X.tolist()]
    for other in [*dense, *sparse_forms(X)]:
        model = ksparse.SparseLinearRegression(k=4).fit(other, y)
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-12)
        np.testing.assert_allclose(model.predict(other), expected.predict(X), rtol=1e-10, atol=1e-12)


def test_no_copy_where_the_layout_allows():
    X = np.asfortranarray(np.random.default_rng(0).normal(size=(30, 5)))
    for array in (X, np.ascontiguousarray(X), X.astype(np.float32, order="F")):
        assert np.shares_memory(as_matrix(array), array)
    for kind in (sp.csc_matrix, sp.csr_matrix):
        matrix = kind(X)
        _, _, _, indices, data = as_matrix(matrix)
        assert np.shares_memory(indices, matrix.indices) and np.shares_memory(data, matrix.data)


def test_the_users_matrix_is_never_changed(regression):
    X, y, _ = regression
    for matrix in sparse_forms(X * (np.abs(X) > 0.5)):
        if not hasattr(matrix, "indptr"):
            continue
        before = [part.copy() for part in (matrix.data, matrix.indices, matrix.indptr)]
        ksparse.SparseLinearRegression(k=3).fit(matrix, y)
        for part, old in zip((matrix.data, matrix.indices, matrix.indptr), before):
            np.testing.assert_array_equal(part, old)


@pytest.mark.parametrize("estimator", EVERY)
def test_single_precision_in_single_precision_out(estimator):
    X, y = data_for(estimator)
    model = estimator().fit(X.astype(np.float32), y)
    assert model.coef_.dtype == np.float32
    assert model.transform(X.astype(np.float32)).dtype == np.float32
    shown = model.decision_function if hasattr(model, "classes_") else model.predict
    assert shown(X.astype(np.float32)).dtype == np.float32
    double = estimator().fit(X, y)
    np.testing.assert_array_equal(model.support_, double.support_)
    np.testing.assert_allclose(model.coef_, double.coef_, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames(library, regression):
    frames = pytest.importorskip(library)
    X, y, _ = regression
    names = [f"column {j}" for j in range(X.shape[1])]
    frame = frames.DataFrame(X, columns=names) if library == "pandas" else frames.DataFrame(X, schema=names)
    model = ksparse.SparseLinearRegression(k=4, keep=["column 3"]).fit(frame, y)
    assert model.feature_names_in_.tolist() == names
    assert 3 in model.support_
    np.testing.assert_allclose(model.coef_, ksparse.SparseLinearRegression(k=4, keep=[3]).fit(X, y).coef_, rtol=1e-12)


BAD = {
    "one dimension": (lambda X: X[:, 0], "2D array"),
    "three dimensions": (lambda X: X[:, :, None], "dim 3|dimension"),
    "no rows": (lambda X: X[:0], "0 sample"),
    "no columns": (lambda X: X[:, :0], "0 feature"),
    "NaN": (lambda X: np.where(X > 2, np.nan, X), "NaN"),
    "infinity": (lambda X: np.where(X > 2, np.inf, X), "infinity"),
    "too large for float64": (lambda X: np.where(X > 2, 10**400, X.astype(object)), "infinity|large|int"),
    "words": (lambda X: X.astype(object) + "x" if False else np.full(X.shape, "word"), "could not convert|dtype"),
    "complex": (lambda X: X + 1j, "Complex data not supported"),
    "fewer rows than targets": (lambda X: X[:-1], "inconsistent numbers of samples"),
    "sparse NaN": (lambda X: sp.csr_matrix(np.where(X > 2, np.nan, X)), "NaN"),
    "complex sparse": (lambda X: sp.csr_matrix(X + 1j), "Complex data not supported"),
}


@pytest.mark.parametrize("estimator", EVERY)
@pytest.mark.parametrize("what", BAD)
def test_bad_data(estimator, what):
    X, y = data_for(estimator)
    spoil, message = BAD[what]
    with pytest.raises((ValueError, OverflowError), match=message):
        estimator().fit(spoil(X), y)


@pytest.mark.parametrize("estimator", EVERY)
def test_bad_targets_and_weights(estimator):
    X, y = data_for(estimator)
    model = estimator()
    for target in (y[:-1], np.column_stack([y, y]), None, np.full(len(y), np.nan)):
        with pytest.raises(ValueError):
            model.fit(X, target)
    for weights in (np.ones(3), -np.ones(len(y)), np.zeros(len(y)), np.full(len(y), np.nan), np.ones((len(y), 2))):
        with pytest.raises(ValueError, match="(?i)weight"):
            model.fit(X, y, weights)
    words = np.resize(["low", "high"], len(y))
    if hasattr(model, "decision_function"):
        with pytest.raises(ValueError, match="class: same"):
            model.fit(X, np.full(len(y), "same"))
    elif np.asarray(y).ndim == 1:
        for kind in (words, words.astype(object)):
            with pytest.raises(ValueError, match=r"words \('low'\).*SparseLogisticRegression"):
                model.fit(X, kind)


@pytest.mark.parametrize("estimator", EVERY)
def test_bad_parameters(estimator):
    X, y = data_for(estimator)
    for parameters in (
        {"solver": "lasso"},
        {"solver": 3},
        {"tol": -1.0},
        {"max_iter": 0},
        {"n_jobs": 0},
        {"keep": [99]},
        {"keep": ["no such column"]},
        {"keep": [True, False]},
        {"keep": [0.5]},
        {"time_limit": -1.0},
        {"solver_options": {"no such option": 1}},
    ):
        with pytest.raises((ValueError, TypeError), match=next(iter(parameters)).replace("solver_options", "option")):
            estimator(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("k", "message"),
    [
        (3.0, "got the float 3.0: for 3 of them pass k=3"),
        (2.5, r"got the float 2.5\."),
        (float("nan"), "got the float nan"),
        ("auto", "got 'auto': the estimators whose names end in CV choose k"),
        (np.str_("zz"), "got 'zz'"),
        (True, "got True of type bool"),
        ([1, 2], r"got \[1, 2\] of type list"),
    ],
)
def test_k_says_what_it_may_be(k, message):
    X, y = data_for(ksparse.SparseLinearRegression)
    with pytest.raises((TypeError, ValueError), match=message):
        ksparse.SparseLinearRegression(k=k).fit(X, y)
    with pytest.raises((TypeError, ValueError), match="k must be a number of pairs of variables.*" + message):
        ksparse.SparsePrecision(k=k).fit(X)


@pytest.mark.parametrize(
    ("estimator", "name", "message"),
    [
        (ksparse.SparseLogisticRegression, "C", r"alpha = 1/\(n C\)"),
        (ksparse.SparseLinearRegressionCV, "support_size", "k .*ks"),
        (ksparse.SparseCoxRegression, "always_select", "keep"),
        (ksparse.SparsePrecision, "support_size", "k "),
        (ksparse.SparseSVC, "penalty", "k takes the place"),
    ],
)
def test_names_of_other_packages_are_known(estimator, name, message):
    with pytest.raises(TypeError, match=f"{estimator.__name__} has no parameter '{name}'.*{message}"):
        estimator(**{name: 1})


def test_one_ridge_is_not_a_list_of_ridges(regression):
    X, y, _ = regression
    with pytest.raises(ValueError, match="keep names 'zz', but X has no column names"):
        ksparse.SparseLinearRegression(keep=[np.str_("zz")]).fit(X, y)
    assert ksparse.SparseLinearRegression(k=1, keep=[-1]).fit(X, y).support_[-1] == X.shape[1] - 1
    with pytest.raises(TypeError, match=r"alphas must be a list of ridges, got 10: for one ridge pass alphas=\[10\]"):
        ksparse.SparseLinearRegressionCV(alphas=10).fit(X, y)


def pointers(matrix, where, value):
    matrix.indptr[where] = value


def entries(matrix, value):
    matrix.indices[3] = value


SPOILT = {
    "an index beyond the end": (lambda m: entries(m, 10_000), r"X\.indices.* holds 10000, expected numbers from 0 to"),
    "a negative index": (lambda m: entries(m, -1), r"X\.indices.* holds -1"),
    "a pointer beyond the end": (lambda m: pointers(m, 1, m.nnz + 5), r"X\.indptr.* must not descend"),
    "a last pointer beyond the end": (lambda m: pointers(m, -1, m.nnz + 5), r"X\.indptr.* ends with .* but only"),
    "a pointer far beyond the end": (lambda m: pointers(m, -1, 2**31 - 1), r"X\.indptr.* ends with 2147483647"),
    "a negative pointer": (lambda m: pointers(m, 2, -7), r"X\.indptr.* must not descend"),
    "a first pointer other than 0": (lambda m: pointers(m, 0, 1), r"X\.indptr.* begins with 1, expected 0"),
    "too few pointers": (lambda m: setattr(m, "indptr", m.indptr[:-1].copy()), r"X\.indptr.* has shape"),
    "too many pointers": (lambda m: setattr(m, "indptr", np.append(m.indptr, m.nnz)), r"X\.indptr.* has shape"),
    "fewer values than pointers say": (lambda m: setattr(m, "data", m.data[:-3].copy()), r"X\.indptr.* ends with"),
}


@pytest.mark.parametrize("what", SPOILT)
@pytest.mark.parametrize("kind", [sp.csc_matrix, sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("canonical", [True, False])
def test_malformed_sparse_matrices_never_crash(regression, what, kind, canonical):
    X, y, _ = regression
    spoil, message = SPOILT[what]
    model = ksparse.SparseLinearRegression(k=2).fit(X, y)
    matrix = kind(X)
    if canonical:
        matrix.has_canonical_format = True  # no word about itself is to be believed
    spoil(matrix)
    for use in (ksparse.SparseLinearRegression(k=2).fit, ksparse.SparseLogisticRegressionCV().fit):
        with pytest.raises(ValueError, match=message):
            use(matrix, y > 0)
    with pytest.raises(ValueError, match=message):
        model.predict(matrix)


#: Requests that no machine has the memory for. An allocation that fails in the core would end the process.
TOO_LARGE = {
    "2^40 columns": ("fit(2**40)", "ValueError", "1099511627776 columns"),
    "2^62 columns": ("fit(2**62)", "ValueError", "4611686018427387904 columns"),
    "nearly 2^32 columns": ("fit(2**32 - 2)", "MemoryError", "4294967294 columns"),
    "2^40 variables": ("minimize(2**40)", "MemoryError", "dim = 1099511627776"),
    "2^62 variables": ("minimize(2**62)", "MemoryError", "dim = 4611686018427387904"),
    "simulated": ("ksparse.datasets.make_regression(2**40, 2**40)", "MemoryError", "n_samples = 1099511627776"),
    "simulated labels": ("ksparse.datasets.make_classification(3, 2**50)", "MemoryError", "1125899906842624"),
    "a simulated network": ("ksparse.datasets.make_network(3, 2**40)", "MemoryError", "n_features = 1099511627776"),
    "simulated text": ("ksparse.datasets.make_text(2**40, 3)", "MemoryError", "n_samples = 1099511627776"),
}
LARGE = """
import resource
import numpy as np, scipy.sparse as sp
import ksparse
resource.setrlimit(resource.RLIMIT_AS, (2**36, 2**36))  # the same on machines that promise more than they have
def fit(p):
    X = sp.csr_matrix((np.ones(3), np.arange(3), np.arange(4)), shape=(3, p))
    ksparse.SparseLinearRegression(k=1).fit(X, [1.0, 2.0, 3.0])
def minimize(dim):
    ksparse.minimize(lambda x: (0.0, x), 1, dim, grad=True)
try:
    {call}
except (MemoryError, ValueError) as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize("what", TOO_LARGE)
def test_sizes_are_checked_before_memory_is_taken(what):
    pytest.importorskip("resource")
    call, error, message = TOO_LARGE[what]
    found = subprocess.run([sys.executable, "-c", LARGE.format(call=call)], capture_output=True, text=True, timeout=300)
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith(error) and message in found.stdout


def test_requests_without_an_answer(regression):
    X, y, _ = regression
    with pytest.raises(ValueError, match="alpha is 0, but must be positive"):
        ksparse.SparseLinearRegression(k=2, solver="diht", alpha=0.0).fit(X, y)
    with pytest.raises(NotImplementedError, match="needs"):
        ksparse.SparseSVC(k=2, loss="hinge", solver="grasp").fit(X, y > 0)


@pytest.mark.parametrize("solver", ["auto", "svrght", "diht", "sdiht", "exact", "iht"])
@pytest.mark.parametrize("units", [(1e200, 1.0), (1.0, 1e300)])
def test_numbers_that_overflow_are_refused(regression, solver, units):
    X, y, _ = regression
    model = ksparse.SparseLinearRegression(k=2, alpha=0.1, solver=solver)
    with pytest.raises(ValueError, match="power of ten" if units[0] == 1 else "column 0 .* is too large to be squared"):
        model.fit(units[0] * X, units[1] * y)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_numbers_too_small_to_be_squared_are_refused(regression, storage):
    X, y, _ = regression
    small = X.copy()
    small[:, 7] *= 1e-160
    for estimator in (ksparse.SparseLinearRegression(k=2), ksparse.SparseLinearRegressionCV(ks=[1, 2])):
        with pytest.raises(ValueError, match="column 7 .*multiply it by a power of ten"):
            estimator.fit(storage(small), y)
    with pytest.raises(ValueError, match="the target.*multiply it by a power of ten"):
        ksparse.SparseLinearRegression(k=2).fit(storage(X), 1e-200 * y)
    # Columns that are empty, and those that are small without being too small, are none of these.
    small[:, 7] = 0.0
    small[:, 8] *= 1e-100
    assert ksparse.SparseLinearRegression(k=2).fit(storage(small), y).support_.size == 2
