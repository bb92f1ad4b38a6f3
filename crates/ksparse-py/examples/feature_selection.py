"""Feature selection: which measurements tell benign from malignant tumours?

A bundled data set of scikit-learn, a path over k, and the choice of k by cross-validation.
"""

import sys

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ksparse

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

# As a step of a pipeline: keep the best 5 of 30 columns.
scaler = StandardScaler().set_output(transform="pandas")
select = make_pipeline(scaler, ksparse.SparseLogisticRegression(k=5, alpha=1e-3))
select.fit(X_train, y_train)
model = select[-1]
print(f"5 columns, test accuracy {select.score(X_test, y_test):.3f}:")
for name in model.get_feature_names_out():
    print(f"  {name}")

# The smallest k that predicts as well as any, to one standard error.
chosen = ksparse.SparseLogisticRegressionCV(ks=range(1, 13), rule="1se").fit(scaler.transform(X_train), y_train)
accuracy = chosen.score(scaler.transform(X_test), y_test)
print(f"chosen: k = {chosen.k_}, alpha = {chosen.alpha_:g}, test accuracy {accuracy:.3f}")

if len(sys.argv) > 1:
    ksparse.plot_path(chosen).figure.savefig(sys.argv[1], dpi=110)
