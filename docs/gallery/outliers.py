"""Wild targets

A tenth of the targets are far off. Least squares selects columns that explain them; Huber's loss does not.
"""

import ksparse
import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 50))
clean = 2 * X[:, 3] - X[:, 17]
y = clean + 0.3 * rng.normal(size=300)
y[::10] += 50 * rng.standard_cauchy(size=30)

figure, axes = plt.subplots(1, 2, figsize=(8, 4), sharey=True, layout="constrained")
for ax, estimator in zip(axes, (ksparse.SparseLinearRegression, ksparse.SparseRobustRegression)):
    model = estimator(k=2).fit(X, y)
    print(f"{estimator.__name__:23s} columns", *model.support_)
    ax.scatter(clean, model.predict(X), s=12, alpha=0.7)
    ax.axline((0, 0), slope=1, color="0.5", linewidth=0.8)
    ax.set(xlabel="without noise", ylim=(-15, 15), title=estimator.__name__)
axes[0].set_ylabel("predicted")
