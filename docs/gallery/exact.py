"""A proof by branch and bound

The tree of supports, searched until the bound meets the best model: the trace of both.
"""

import ksparse

X, y, truth = ksparse.datasets.make_regression(100, 60, 8, correlation=0.5, noise=2.0, random_state=1)
model = ksparse.SparseLinearRegression(k=8, alpha=0.3, solver="exact").fit(X, y)
print(model.status_, f"after {model.n_iter_} nodes: f = {model.objective_:.6f}, bound {model.lower_bound_:.6f}")
ksparse.plot_gap(model, against="iteration").set_title("Branch and bound, 8 of 60 columns")
