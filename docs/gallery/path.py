"""A path over k

Coefficients against k on scikit-learn's diabetes data. Each column is in from some k on; with correlated columns the
others change when it comes in, and a column may leave again.
"""

import ksparse
from sklearn.datasets import load_diabetes

X, y = load_diabetes(return_X_y=True, as_frame=True)
path = ksparse.path(ksparse.SparseLinearRegression(), X, y, ks=range(11))
for k, objective in zip(path.ks, path.objectives):
    print(f"k = {k:2d}   f = {objective:.0f}")
ksparse.plot_path(path).set_title("Diabetes: the best k of ten columns")
