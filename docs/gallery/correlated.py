"""Correlated columns: how often each is selected

Twenty columns in pairs, correlated 0.95; the first of four pairs matter. On random halves of the rows the columns of a
pair stand in for each other; their sum is steady.
"""

import ksparse
import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(5)
shared = rng.normal(size=(120, 10))
X = np.repeat(shared, 2, axis=1) + 0.23 * rng.normal(size=(120, 20))
y = X[:, [0, 2, 4, 6]] @ [1.5, -1.2, 1.0, 0.8] + rng.normal(size=120)
chosen = ksparse.SparseLinearRegressionCV(ks=[4], resamples=50).fit(X, y)

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
first, second = chosen.frequencies_[::2], chosen.frequencies_[1::2]
ax.bar(range(10), first, label="first of the pair")
ax.bar(range(10), second, bottom=first, label="second", alpha=0.6)
ax.set_xticks(range(10))
ax.set(xlabel="pair", ylabel="share of the halves that select it", title="Pairs 0 to 3 matter, by their first column")
ax.legend(frameon=False)
print("selected on all rows:", *chosen.support_)
for support, value in chosen.alternatives_:
    print("nearly as good:      ", *support, f"  f = {value:.4f}")
