"""Few of thirty measurements tell tumours apart

Logistic regression on scikit-learn's breast cancer data: accuracy on rows held out against the number of measurements.
"""

import ksparse
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
path = ksparse.path(ksparse.SparseLogisticRegression(alpha=1e-3, standardize=True), X_train, y_train, ks=range(1, 16))
print("k = 3:", ", ".join(X.columns[path.supports[2]]))


def accuracy(k, rows, labels):
    return np.mean((rows @ path.coef(k) + path.intercepts[path.ks == k] > 0) == labels)



figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, rows, labels in (("rows fitted", X_train, y_train), ("rows held out", X_test, y_test)):
    ax.plot(path.ks, [accuracy(k, rows, labels) for k in path.ks], marker="o", markersize=4, label=name)
ax.set(xlabel="k", ylabel="accuracy", title="Breast cancer: how many measurements are needed")
ax.legend(frameon=False)
