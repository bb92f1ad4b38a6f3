"""Classes, survival times and counts of real files: ksparse's default cross-validation beside L1 peers.

    families_real.py <folder> [names] > table.md

Needs ksparse, scikit-learn and scikit-survival. Every row is five-fold: all choices (k and the ridge, or the strength
of the penalty) are made by cross-validation within the training rows, columns standardised by them.

| file | ours | theirs |
|---|---|---|
| GLIOMA, TOX-171, Isolet | SparseMultinomialRegressionCV, error | LogisticRegression, L1 by saga, 8 strengths, error |
| breast_GSE7390 | SparseCoxRegressionCV, concordance | Coxnet (L1), 30 strengths, concordance |
| randhie | SparsePoissonRegression at k = p | PoissonRegressor: the largest difference of a coefficient |
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path

import numpy as np

FOLDS = 5


def svmlight(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    import io
    import lzma

    from sklearn.datasets import load_svmlight_file

    with lzma.open(folder / f"{name}.svm.xz") as file:
        x, y = load_svmlight_file(io.BytesIO(file.read()))
    return x.toarray(), y.astype(int)


def table(folder: Path, name: str):
    import pandas

    return pandas.read_csv(folder / f"{name}.csv.xz")


def classes(folder: Path, name: str) -> str:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    import ksparse

    x, y = svmlight(folder, name)
    ours = make_pipeline(StandardScaler(), ksparse.SparseMultinomialRegressionCV(random_state=0, rule="lean"))
    lasso = LogisticRegression(solver="saga", l1_ratio=1.0, max_iter=300, tol=1e-2)
    grid = {"logisticregression__C": np.logspace(-2, 1.5, 8)}
    splits = StratifiedKFold(3, shuffle=True, random_state=0)
    theirs = GridSearchCV(make_pipeline(StandardScaler(), lasso), grid, cv=splits)
    results = []
    for model in (ours, theirs):
        errors, counts, clock = [], [], time.process_time()
        for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=1).split(x, y):
            model.fit(x[train], y[train])
            last = model[-1] if model is ours else model.best_estimator_[-1]
            errors.append(np.mean(model.predict(x[test]) != y[test]))
            counts.append(np.count_nonzero(np.abs(last.coef_).sum(axis=0)))
        results.append((np.array(errors), np.mean(counts), time.process_time() - clock))
    return line(name, x.shape, "error", results)


def survival(folder: Path, name: str) -> str:
    from sklearn.model_selection import StratifiedKFold
    from sklearn.preprocessing import StandardScaler
    from sksurv.linear_model import CoxnetSurvivalAnalysis
    from sksurv.metrics import concordance_index_censored

    import ksparse

    frame = table(folder, name)
    event, times = frame["e.tdm"].astype(bool), frame["t.tdm"].astype(float)
    x = frame.drop(columns=["e.tdm", "t.tdm"]).select_dtypes("number").dropna(axis=1).to_numpy(float)
    y = np.rec.fromarrays([event.to_numpy(), times.to_numpy()], names="event,time")

    def score(model, x, y) -> float:
        return concordance_index_censored(y["event"], y["time"], model.predict(x))[0]

    def coxnet(x, y):
        strengths = CoxnetSurvivalAnalysis(l1_ratio=1.0, n_alphas=30, alpha_min_ratio=0.1).fit(x, y).alphas_
        splits = list(StratifiedKFold(5, shuffle=True, random_state=0).split(x, y["event"]))

        def inner(alpha: float) -> float:
            found = []
            for train, test in splits:
                model = CoxnetSurvivalAnalysis(l1_ratio=1.0, alphas=[alpha]).fit(x[train], y[train])
                found.append(score(model, x[test], y[test]))
            return float(np.mean(found))

        best = max(strengths, key=inner)
        return CoxnetSurvivalAnalysis(l1_ratio=1.0, alphas=[best]).fit(x, y)

    results = []
    for fit in (lambda x, y: ksparse.SparseCoxRegressionCV(random_state=0).fit(x, y), coxnet):
        scores, counts, clock = [], [], time.process_time()
        for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=1).split(x, y["event"]):
            scaler = StandardScaler().fit(x[train])
            model = fit(scaler.transform(x[train]), y[train])
            scores.append(score(model, scaler.transform(x[test]), y[test]))
            counts.append(np.count_nonzero(model.coef_))
        results.append((np.array(scores), np.mean(counts), time.process_time() - clock))
    return line(name, x.shape, "concordance", results)


def counts(folder: Path, name: str) -> str:
    from sklearn.linear_model import PoissonRegressor

    import ksparse

    frame = table(folder, name).select_dtypes("number").dropna()
    y = frame["mdvis"].to_numpy(float)
    x = frame.drop(columns=["mdvis"]).to_numpy(float)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    alpha = 1e-4
    started = time.process_time()
    ours = ksparse.SparsePoissonRegression(k=x.shape[1], alpha=alpha).fit(x, y)
    middle = time.process_time()
    theirs = PoissonRegressor(alpha=alpha, tol=1e-12, max_iter=10000, solver="newton-cholesky").fit(x, y)
    apart = np.abs(ours.coef_ - theirs.coef_).max()
    return (f"| {name} | {x.shape[0]} x {x.shape[1]} | largest difference of a coefficient | {apart:.1e} | | "
            f"{middle - started:.2f}, {time.process_time() - middle:.2f} |")


def line(name: str, shape: tuple[int, int], metric: str, results: list) -> str:
    def cell(result) -> str:
        scores, columns, _ = result
        return f"{scores.mean():.3f} +/- {scores.std(ddof=1) / np.sqrt(len(scores)):.3f}, {columns:.0f} columns"

    ours, theirs = results
    return (f"| {name} | {shape[0]} x {shape[1]} | {metric} | {cell(ours)} | {cell(theirs)} | "
            f"{ours[2]:.0f}, {theirs[2]:.0f} |")


KINDS = {"GLIOMA": classes, "TOX-171": classes, "Isolet": classes, "breast_GSE7390": survival, "randhie": counts}


def main() -> None:
    warnings.simplefilter("ignore")
    folder = Path(sys.argv[1])
    print("| file | size | measured | ksparse | L1 peer | CPU s: ksparse, peer |\n|---|---|---|---|---|---|")
    for name in sys.argv[2:] or KINDS:
        print(KINDS[name](folder, name), flush=True)


if __name__ == "__main__":
    main()
