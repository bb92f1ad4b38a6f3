"""Three wines from two measurements

One set of columns for all classes: with two of thirteen, the regions can be drawn.
"""

import ksparse
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

X, y = load_wine(return_X_y=True, as_frame=True)
model = ksparse.SparseMultinomialRegression(k=2, alpha=1e-2, standardize=True).fit(X, y)
first, second = model.support_
print(f"{X.columns[first]} and {X.columns[second]}: {model.score(X, y):.3f} of the wines told apart")

# The model on a grid over these two; others do not matter.
across = np.linspace(X.iloc[:, first].min(), X.iloc[:, first].max(), 200)
up = np.linspace(X.iloc[:, second].min(), X.iloc[:, second].max(), 200)
grid = np.zeros((across.size * up.size, X.shape[1]))
grid[:, first], grid[:, second] = (part.ravel() for part in np.meshgrid(across, up))
labels = model.predict(pd.DataFrame(grid, columns=X.columns))

figure, ax = plt.subplots(figsize=(7, 5), layout="constrained")
ax.contourf(across, up, labels.reshape(up.size, across.size), levels=[-0.5, 0.5, 1.5, 2.5], alpha=0.25,
            colors=["C0", "C1", "C2"])  # fmt: skip
for label in range(3):
    rows = X[y == label]
    ax.scatter(rows.iloc[:, first], rows.iloc[:, second], s=18, color=f"C{label}", label=f"wine {label}")
ax.set(xlabel=X.columns[first], ylabel=X.columns[second], title="Two of thirteen measurements")
ax.legend(frameon=False)
