"""Survival times

Cox regression on 3 of 40 columns; the rows in three parts by their predicted risk, and how long each part survives.
"""

import ksparse
import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(4)
X = rng.normal(size=(400, 40))
time = rng.exponential(np.exp(-X[:, [2, 11, 30]] @ [0.9, -0.7, 0.5]))
censored = rng.exponential(2.0, size=400)
y = np.column_stack([np.minimum(time, censored), time <= censored])
model = ksparse.SparseCoxRegression(k=3).fit(X[:300], y[:300])
print("columns", *model.support_, f"  concordance on other rows {model.score(X[300:], y[300:]):.3f}")

risk = model.predict(X)
parts = np.digitize(risk, np.quantile(risk, [1 / 3, 2 / 3]))
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for part, name in enumerate(("low risk", "middle", "high risk")):
    times, events = y[parts == part].T
    order = np.argsort(times, kind="stable")
    left = np.arange(len(order), 0, -1)
    # Kaplan and Meier.
    ax.step(times[order], np.cumprod(1 - events[order] / left), where="post", label=name)
ax.set(xlim=(0, 4), xlabel="time", ylabel="share that survives", title="Three thirds by predicted risk")
ax.legend(frameon=False)
