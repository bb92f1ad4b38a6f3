"""The choice of a model: what users get who say nothing, and what they may say."""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, StratifiedKFold

import ksparse


def test_without_arguments(classification, regression):
    X, y, coef = regression
    model = ksparse.SparseLinearRegressionCV().fit(X, y)
    assert model.support_.tolist() == coef.nonzero()[0].tolist() and model.k_ == 4
    assert model.frequencies_.shape == (X.shape[1],) and (model.frequencies_[model.support_] >= 0.6).all()
    assert model.cv_results_["param_k"].min() == 0
    X, y, coef = classification
    model = ksparse.SparseLogisticRegressionCV().fit(X, y)
    assert model.score(X, y) > 0.7 and 0 < model.k_ <= 2 * np.count_nonzero(coef)
    assert {"alpha_", "select_alpha_", "notes_", "alternatives_", "path_"} <= set(vars(model))
    for support, objective in model.alternatives_:
        assert support.size == model.k_ and objective >= model.path_.objectives[model.path_.ks.tolist().index(model.k_)]


def test_the_units_of_the_columns_do_not_matter(regression):
    X, y, _ = regression
    plain = ksparse.SparseLinearRegressionCV().fit(X, y)
    large = ksparse.SparseLinearRegressionCV().fit(1000 * X, y)
    assert plain.k_ == large.k_ and plain.support_.tolist() == large.support_.tolist()
    np.testing.assert_allclose(large.alpha_, 1e6 * plain.alpha_, rtol=1e-6)
    np.testing.assert_allclose(large.coef_ * 1000, plain.coef_, rtol=1e-5)


def test_coefficients_are_those_of_the_refit(classification):
    X, y, _ = classification
    model = ksparse.SparseLogisticRegressionCV().fit(X, y)
    columns = model.support_
    again = ksparse.SparseLogisticRegression(k=columns.size, alpha=model.alpha_).fit(X[:, columns], y)
    np.testing.assert_allclose(model.coef_[0, columns], again.coef_[0], rtol=1e-4, atol=1e-7)
    one = ksparse.SparseLogisticRegressionCV(refit_alphas="same").fit(X, y)
    assert one.alpha_ == one.select_alpha_
    assert (one.cv_results_["param_alpha"][1:] == one.cv_results_["param_select_alpha"][1:]).all()


def test_groups_stay_together(regression):
    X, y, _ = regression
    groups = np.arange(len(y)) % 7
    chosen = ksparse.SparseLinearRegressionCV(cv=GroupKFold(3)).fit(X, y, groups=groups)
    by_hand = ksparse.SparseLinearRegressionCV(cv=list(GroupKFold(3).split(X, y, groups))).fit(X, y)
    assert chosen.k_ == by_hand.k_ and (chosen.coef_ == by_hand.coef_).all()
    with pytest.raises(ValueError, match="groups"):
        ksparse.SparseLinearRegressionCV(cv=GroupKFold(3)).fit(X, y)


def test_balanced_classes_weigh_in_scores(classification):
    X, y, _ = classification
    few = np.concatenate([np.flatnonzero(y < 0), np.flatnonzero(y > 0)[:25]])
    model = ksparse.SparseLogisticRegressionCV(class_weight="balanced", cv=StratifiedKFold(3)).fit(X[few], y[few])
    recall = (model.predict(X[few]) == y[few])[y[few] > 0].mean()
    assert recall > 0.6


def test_bad_input_says_what_to_do(classification):
    X, y, _ = classification
    one_class = [(np.flatnonzero(y > 0), np.flatnonzero(y < 0))]
    with pytest.raises(ValueError, match="only one class to train on: stratify"):
        ksparse.SparseLogisticRegressionCV(cv=one_class).fit(X, y)
    with pytest.raises(ValueError, match="n_splits"):
        ksparse.SparseLogisticRegressionCV(cv=len(y) + 1).fit(X, y)
    with pytest.raises(ValueError, match="refit_alphas"):
        ksparse.SparseLogisticRegressionCV(refit_alphas="other").fit(X, y)

    def broken(model, X, y):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        ksparse.SparseLogisticRegressionCV(scoring=broken).fit(X, y)


def test_what_was_scored_by_then_decides(regression):
    X, y, _ = regression
    assert ksparse.SparseLinearRegressionCV(time_limit=0.0).fit(X, y).k_ == 0
    assert ksparse.SparseLinearRegressionCV().fit(X, y, callback=lambda progress: True).k_ == 0
    constant = ksparse.SparseLinearRegressionCV().fit(X, np.full(len(y), 3.0))
    assert constant.k_ == 0 and constant.predict(X[:2]).tolist() == [3.0, 3.0]


@pytest.mark.parametrize("criterion", ["bic", "ebic", "gic"])
def test_information_criteria(regression, criterion):
    X, y, coef = regression
    model = ksparse.SparseLinearRegressionCV(cv=criterion).fit(X, y)
    assert set(coef.nonzero()[0]) <= set(model.support_.tolist()) and model.k_ <= 6
    best = model.cv_results_["rank_test_score"] == 1
    assert model.cv_results_["param_k"][best].tolist() == [model.k_] and model.path_.ks[0] == 0
    with pytest.raises(ValueError, match="cv must be"):
        ksparse.SparseLinearRegressionCV(cv="cic").fit(X, y)
    with pytest.raises(Exception, match="likelihood"):
        ksparse.SparseSVCCV(cv=criterion).fit(X, np.sign(y))


def test_halves_of_the_rows(regression, classification):
    X, y, _ = regression
    model = ksparse.SparseLinearRegressionCV(resamples=8).fit(X, y)
    assert set(np.unique(model.frequencies_ * 8)) <= set(range(9))
    alone = ksparse.SparseLinearRegressionCV().fit(X, y)
    np.testing.assert_array_equal(model.coef_, alone.coef_)
    mean = ksparse.SparseLinearRegressionCV(resamples=8, ensemble=True).fit(X, y)
    np.testing.assert_array_equal(mean.coef_ != 0, model.frequencies_ > 0)
    assert mean.score(X, y) > 0.9
    X, y, _ = classification
    mean = ksparse.SparseLogisticRegressionCV(ensemble=True, time_limit=60).fit(X, y)
    assert np.isfinite(mean.predict_proba(X)).all() and mean.score(X, y) > 0.7
    with pytest.raises(ValueError, match="resamples must be a whole number"):
        ksparse.SparseLinearRegressionCV(resamples=2.5).fit(*regression[:2])
    with pytest.raises(ValueError, match="belong to a choice by folds"):
        ksparse.SparseLinearRegressionCV(cv="bic", ensemble=True).fit(*regression[:2])
