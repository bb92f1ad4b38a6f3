"""Which k? The curve behind the choice

Cross-validated deviance against k, with one standard error. The default rule takes the smallest k nearly as good as the
best; `rule="1se"` the smallest within one standard error.
"""

import ksparse
import matplotlib.pyplot as plt
import numpy as np

X, y, truth = ksparse.datasets.make_regression(200, 300, 8, correlation=0.7, noise=2.0, random_state=4)
chosen = ksparse.SparseLinearRegressionCV(ks=range(0, 26)).fit(X, y)

table = chosen.cv_results_
ks = np.unique(table["param_k"])
# Of each k the best ridges.
best = [max(np.flatnonzero(table["param_k"] == k), key=lambda i: table["mean_test_score"][i]) for k in ks]
deviance, error = -table["mean_test_score"][best], table["std_error"][best]

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.errorbar(ks, deviance, error, marker="o", markersize=4, capsize=2)
ax.axvline(chosen.k_, linestyle=":", color="C1", label=f"chosen: k = {chosen.k_}")
ax.set(xlabel="k", ylabel="deviance on rows held out", title="Eight of 300 columns matter")
ax.legend(frameon=False)
print(f"chosen k = {chosen.k_}, of them {(truth[chosen.support_] != 0).sum()} true")
