"""How far from the best? A proven bound

No model with k coefficients is below the lower line. The stronger the ridge, the closer the two.
"""

import ksparse
import matplotlib.pyplot as plt
import numpy as np

X, y, _ = ksparse.datasets.make_classification(300, 60, 5, random_state=3)
alphas = np.geomspace(3e-3, 0.3, 5)
found, bounds = [], []
for alpha in alphas:
    model = ksparse.SparseLogisticRegression(k=5, alpha=alpha, certify=True).fit(X, y)
    found.append(model.objective_)
    bounds.append(model.lower_bound_)
    print(f"alpha {alpha:.4f}: f = {found[-1]:.4f}, at most {found[-1] / bounds[-1] - 1:.1%} above the best")

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(alphas, found, marker="o", markersize=4, label="f of the model found")
ax.plot(alphas, bounds, marker="v", markersize=4, color="C3", label="no model of five columns is below")
ax.fill_between(alphas, bounds, found, alpha=0.15)
ax.set(xscale="log", xlabel="alpha, the ridge", ylabel="f", title="Logistic regression, 5 of 60 columns")
ax.legend(frameon=False)
