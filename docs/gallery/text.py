"""How many words?

Accuracy on documents held out against the number of words, beside logistic regression with an L1 penalty.
"""

import ksparse
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

X, y, _ = ksparse.datasets.make_text(4000, 2000, mean_tokens=60, random_state=3)
train, test = slice(0, 3000), slice(3000, None)
path = ksparse.path(ksparse.SparseLogisticRegression(alpha=2e-5), X[train], y[train], ks=[10, 30, 100, 300])
ours = [np.mean(np.sign(X[test] @ path.coef(k) + b) == y[test]) for k, b in zip(path.ks, path.intercepts)]
words, theirs = [], []
for C in (0.2, 0.4, 0.8):
    lasso = LogisticRegression(l1_ratio=1, C=C, solver="liblinear", random_state=0).fit(X[train], y[train])
    words.append(np.count_nonzero(lasso.coef_))
    theirs.append(lasso.score(X[test], y[test]))

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(path.ks, ours, marker="o", markersize=4, label="at most k words")
ax.plot(words, theirs, marker="s", markersize=4, label="L1 penalty")
ax.set(xscale="log", xlabel="words with a coefficient", ylabel="accuracy", title="3,000 documents, 2,000 words")
ax.legend(frameon=False)
for k, score in zip(path.ks, ours):
    print(f"{k:5d} words: {score:.3f}")
