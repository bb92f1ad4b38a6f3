"""Targets that cannot be: each is refused, with what to do."""

import numpy as np
import pytest

import ksparse

random = np.random.default_rng(0)
X = random.normal(size=(40, 5))
z = X[:, 0]
row = np.arange(40) == 3
counts, sizes, times = np.round(np.exp(z)), np.exp(z), np.exp(-z)
died = random.random(40) < 0.7
classes = np.digitize(z, [-0.5, 0.5])
rare = np.where(classes == 2, 1, classes)
rare[0] = 2


def survival(event, time):
    return np.rec.fromarrays([event, time], names="event,time")


@pytest.mark.parametrize(
    ("estimator", "y", "words"),
    [
        (ksparse.SparsePoissonRegression, np.where(row, -1, counts), "row 3.*not negative"),
        (ksparse.SparseGammaRegression, np.where(row, 0, sizes), "row 3.*above 0"),
        (ksparse.SparseGammaRegression, np.where(row, -1, sizes), "row 3.*above 0"),
        (ksparse.SparseCoxRegression, np.column_stack([times, 2 * died]), "must be 0 .censored. or 1, got 2"),
        (ksparse.SparseCoxRegression, survival(np.where(died, "yes", "no"), times), "with a comparison"),
        (ksparse.SparseCoxRegression, survival(died, np.where(row, 0, times)), "row 3.*positive times"),
        (ksparse.SparseCoxRegression, survival(died, np.where(row, -1, times)), "row 3.*positive times"),
        (ksparse.SparseCoxRegression, survival(np.zeros(40, bool), times), "all 40 rows are censored"),
        (ksparse.SparseMultinomialRegression, np.zeros(40), "one class"),
        (ksparse.SparseMultiTaskRegression, np.column_stack([z, np.where(row, np.nan, z)]), "NaN"),
    ],
)
def test_it_is_refused(estimator, y, words):
    with pytest.raises(ValueError, match=words):
        estimator(k=2).fit(X, y)


def test_a_class_of_one_row_is_fitted_and_not_folded():
    for estimator in (ksparse.SparseMultinomialRegression, ksparse.SparseOrdinalRegression):
        model = estimator(k=2).fit(X, rare)
        assert list(model.classes_) == [0, 1, 2] and np.isfinite(model.objective_)
    with pytest.warns(UserWarning, match="1 members"), pytest.raises(ValueError, match="leave the class out"):
        ksparse.SparseMultinomialRegressionCV(ks=[1], alphas=[0.1], cv=3).fit(X, rare)


def test_entries_levels_and_groups():
    with pytest.raises(ValueError, match="enter before it leaves"):
        ksparse.SparseCoxRegression(k=2).fit(X, survival(died, times), entry=times + 1)
    with pytest.raises(ValueError, match="levels leave out 2"):
        ksparse.SparseOrdinalRegression(k=2, levels=[0, 1]).fit(X, classes)
    for groups, words in [([[0, 1], []], "position 1"), ([[0, 9]], "column 9"), ([[0, 1], [1, 2]], "overlap")]:
        with pytest.raises(ValueError, match=words):
            ksparse.SparseLinearRegression(k=2, groups=groups).fit(X, z)
