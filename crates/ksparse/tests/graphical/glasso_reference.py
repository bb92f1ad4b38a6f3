"""scikit-learn's graphical lasso on small covariance matrices: writes glasso_reference.json beside itself.

    python3 glasso_reference.py          (scikit-learn 1.9.1, as in bench/requirements.txt)
"""
import json
import pathlib

import numpy as np
import sklearn
from sklearn.covariance import graphical_lasso

from reference import covariance

CASES = [("n > p", 6, 40, 7, [0.3, 0.1, 0.02]), ("n < p", 10, 6, 8, [0.4, 0.2, 0.1]), ("larger", 20, 60, 9, [0.3, 0.1])]


def main():
    cases = []
    for name, p, n, seed, penalties in CASES:
        s = np.array(covariance(p, n, seed))
        fits = []
        for penalty in penalties:
            _, o = graphical_lasso(s, alpha=penalty, tol=1e-10, enet_tol=1e-12, max_iter=5000)
            off = ~np.eye(p, dtype=bool)
            value = -np.linalg.slogdet(o)[1] + np.sum(s * o) + penalty * np.abs(o[off]).sum()
            fits.append({"penalty": penalty, "value": value, "precision": o.tolist()})
            print(name, penalty, value, int((np.abs(o[off]) > 1e-8).sum() // 2), "edges")
        cases.append({"name": name, "covariance": s.tolist(), "fits": fits})
    path = pathlib.Path(__file__).with_suffix(".json")
    path.write_text(json.dumps({"scikit-learn": sklearn.__version__, "cases": cases}, indent=1) + "\n")


if __name__ == "__main__":
    main()
