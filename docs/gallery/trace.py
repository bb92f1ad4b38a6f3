"""The trace of a search

f after each iteration of one fit, and the bound below which no model of that size goes.
"""

import ksparse

X, y, _ = ksparse.datasets.make_classification(800, 400, 20, correlation=0.5, random_state=2)
model = ksparse.SparseLogisticRegression(k=20, alpha=0.03, solver="fbs", certify=True).fit(X, y)
print(f"f = {model.objective_:.4f} after {model.n_iter_} iterations, bound {model.lower_bound_:.4f}")
ksparse.plot_gap(model, against="iteration").set_title("Forward selection, and what is possible")
