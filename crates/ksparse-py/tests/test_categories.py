"""Columns of words of a data frame: indicators that are in or out together."""

import numpy as np
import pytest

import ksparse

pandas = pytest.importorskip("pandas")

CITIES = {"Berlin": 0.0, "Lyon": 3.0, "Paris": -2.0, "Rome": 1.0}


def frame(n=120, seed=0):
    random = np.random.default_rng(seed)
    city = random.choice(list(CITIES), n)
    size, noise, member = random.normal(size=n), random.normal(size=n), random.choice(["no", "yes"], n)
    X = pandas.DataFrame({"size": size, "city": city, "noise": noise, "member": member})
    return X, 2.0 * X["size"] + X["city"].map(CITIES) + 0.01 * random.normal(size=n)


def test_words_are_in_or_out_together():
    X, y = frame()
    model = ksparse.SparseLinearRegression(k=2).fit(X, y)
    assert list(model.get_feature_names_out()) == ["size", "city=Lyon", "city=Paris", "city=Rome"]
    np.testing.assert_allclose(model.coef_[model.support_], [2.0, 3.0, -2.0, 1.0], atol=0.02)
    assert list(model.categories_) == ["city", "member"] and list(model.categories_["city"]) == list(CITIES)
    # A few rows have not all words; columns come in any order.
    np.testing.assert_allclose(model.predict(X[:3]), y[:3], atol=0.05)
    assert model.transform(X[:5]).shape == (5, 4)
    # By hand.
    indicators = pandas.get_dummies(X[["city", "member"]], drop_first=True, prefix_sep="=").astype(float)
    cities = indicators[[c for c in indicators if c.startswith("city")]]
    numbers = pandas.concat([X[["size"]], cities, X[["noise"]]], axis=1)
    numbers["member=yes"] = indicators["member=yes"]
    by_hand = ksparse.SparseLinearRegression(k=2, groups=[["city=Lyon", "city=Paris", "city=Rome"]]).fit(numbers, y)
    np.testing.assert_array_equal(by_hand.coef_, model.coef_)
    as_categories = ksparse.SparseLinearRegression(k=2).fit(X.astype({"city": "category", "member": "category"}), y)
    np.testing.assert_array_equal(as_categories.coef_, model.coef_)
    again = model.fit(numbers, y)
    assert not hasattr(again, "categories_")


def test_names_of_columns_mean_all_their_words():
    X, y = frame()
    kept = ksparse.SparseLinearRegression(k=1, keep=["city"]).fit(X, y)
    assert len(kept.support_) == 4
    grouped = ksparse.SparseLinearRegression(k=1, groups=[["city", "size"]]).fit(X, y)
    assert len(grouped.support_) == 4
    boxed = ksparse.SparseLinearRegression(k=3, bounds={"city": (0, None)}).fit(X, y)
    assert boxed.coef_.min() >= 0
    dear = ksparse.SparseLinearRegression(k=2, alpha=0.1, penalty_factors={"city": 100.0}).fit(X, y)
    assert np.abs(dear.coef_[1:4]).max() < 0.5
    assert ksparse.SparseLinearRegression(k=0.5).fit(X, y).support_.size  # half of four columns
    exact = ksparse.certify(ksparse.SparseLinearRegression(k=2, alpha=0.1).fit(X, y), X, y)
    assert exact.lower_bound <= exact.objective


CLASSIFIERS = [ksparse.SparseLogisticRegression, ksparse.SparseMultinomialRegression, ksparse.SparseOrdinalRegression]


@pytest.mark.parametrize("estimator", CLASSIFIERS)
def test_classifiers_take_them(estimator):
    X, y = frame()
    two = estimator is ksparse.SparseLogisticRegression
    labels = np.where(y > 1, "high", "low") if two else np.digitize(y, [-1, 1])
    model = estimator(k=2, alpha=1e-3).fit(X, labels)
    assert (model.predict(X) == labels).mean() > 0.85
    assert set(model.support_) >= {1, 2, 3}


def test_what_cannot_be_is_refused():
    X, y = frame()
    model = ksparse.SparseLinearRegression(k=2).fit(X, y)
    far = X[:4].copy()
    far.loc[far.index[2], "city"] = "Oslo"
    with pytest.raises(ValueError, match="column 'city' has 'Oslo' in row 2.*'Berlin'"):
        model.predict(far)
    # The model does not use the other column.
    other = X[:4].copy()
    other["member"] = "perhaps"
    np.testing.assert_array_equal(model.predict(other), model.predict(X[:4]))
    holed = X.copy()
    holed.loc[holed.index[3], "city"] = None
    with pytest.raises(ValueError, match="column 'city' is missing in row 3"):
        ksparse.SparseLinearRegression(k=2).fit(holed, y)
    named = X.assign(who=[f"p{i}" for i in range(len(X))])
    with pytest.raises(ValueError, match="'who' holds 120 different words"):
        ksparse.SparseLinearRegression(k=2).fit(named, y)
    with pytest.raises(ValueError):
        model.predict(X.drop(columns="city"))
    # Numbers that are text stay numbers.
    text = X[["size", "noise"]].astype(str)
    np.testing.assert_allclose(
        ksparse.SparseLinearRegression(k=1).fit(text, y).coef_,
        ksparse.SparseLinearRegression(k=1).fit(X[["size", "noise"]], y).coef_,
    )
