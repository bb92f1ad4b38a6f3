"""Multinomial regression and multi-response least squares by scikit-learn: writes reference.json beside itself.

    python3 reference.py        (scikit-learn 1.9)
"""
import json
import pathlib

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge

random = np.random.default_rng(5)
n, p, classes = 90, 4, 3
x = np.round(random.normal(size=(n, p)), 3)
scores = np.round(x @ random.normal(size=(p, classes)) + random.gumbel(size=(n, classes)), 3)
y = scores.argmax(axis=1)
weights = random.integers(1, 4, size=n).astype(float)
responses = scores[:, :2]

out = {"x": x.tolist(), "classes": y.tolist(), "weights": weights.tolist(), "responses": responses.tolist()}
# The sum of the losses plus 1/(2C) ||w||^2, divided by the total weight.
ridge = 0.05
for name, weight in [("plain", None), ("weighted", weights)]:
    total = n if weight is None else weight.sum()
    model = LogisticRegression(C=1 / (ridge * total), tol=1e-12, max_iter=100000, solver="newton-cg")
    model.fit(x, y, sample_weight=weight)
    linear = Ridge(alpha=ridge * total, solver="svd").fit(x, responses, sample_weight=weight)
    out[name] = {
        "multinomial": {"coefficients": model.coef_.tolist(), "intercepts": model.intercept_.tolist()},
        "responses": {"coefficients": linear.coef_.tolist(), "intercepts": linear.intercept_.tolist()},
    }
out["ridge"] = ridge
pathlib.Path(__file__).with_suffix(".json").write_text(json.dumps(out, indent=1) + "\n")
