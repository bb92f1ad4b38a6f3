"""A fit over a local Spark is the fit over all rows."""

import numpy as np
import pandas as pd
import pytest
from ksparse_spark import SparkRounds

import ksparse
from ksparse import shards

pyspark_sql = pytest.importorskip("pyspark.sql")


@pytest.fixture(scope="module")
def spark():
    builder = pyspark_sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "3").getOrCreate()
    yield session
    session.stop()


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_a_fit_over_partitions(spark, loss):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((600, 30))
    z = 2 * X[:, 3] - X[:, 7] + 0.5 * X[:, 20] + 0.3 * rng.standard_normal(600)
    y = z if loss == "squared" else np.where(z > 0, 1.0, -1.0)
    names = [f"x{j}" for j in range(30)]
    frame = spark.createDataFrame(pd.DataFrame(X, columns=names).assign(y=y)).repartition(3)
    kind = ksparse.SparseLinearRegression if loss == "squared" else ksparse.SparseLogisticRegression
    whole = kind(k=3, alpha=1e-3, solver="working-set").fit(X, y)
    rounds = SparkRounds(frame, names, "y", (loss, None))
    model = shards.fit(kind(k=3, alpha=1e-3), rounds, 30)
    assert rounds.count == 3 and model.n_samples_ == 600
    assert model.support_.tolist() == whole.support_.tolist() == [3, 7, 20]
    assert model.objective_ == pytest.approx(whole.objective_, rel=1e-9)
    assert (model.predict(X) == whole.predict(X)).mean() > 0.99 or loss == "squared"
    print(loss, model.communication_)
