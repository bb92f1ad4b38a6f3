"""A proof by branch and bound

The bound on every model of eight columns rises with the nodes of the tree until it meets the best model known: then
that is the best there is.
"""

import warnings

import ksparse
import matplotlib.pyplot as plt
from sklearn.exceptions import ConvergenceWarning

X, y, truth = ksparse.datasets.make_regression(100, 60, 8, correlation=0.5, noise=2.0, random_state=1)
found = []
for nodes in (1, 4, 8, 16, 24, 32):
    model = ksparse.SparseLinearRegression(k=8, alpha=0.1, solver="exact", max_iter=nodes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # stopped by the limit
        model.fit(X, y)
    found.append((nodes, model.objective_, model.lower_bound_))
    print(f"{nodes:3d} nodes: f = {found[-1][1]:.4f}, bound {found[-1][2]:.4f}, {model.status_}")

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
nodes, objective, bound = zip(*found)
ax.plot(nodes, objective, marker="o", markersize=4, label="f of the best model so far")
ax.plot(nodes, bound, marker="v", markersize=4, color="C3", label="no model of eight columns is below")
ax.fill_between(nodes, bound, objective, alpha=0.15)
ax.set(xlabel="nodes of the tree", ylabel="f", title="8 of 60 columns, proven")
ax.legend(frameon=False)
