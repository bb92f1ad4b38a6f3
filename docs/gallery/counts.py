"""Counts with exposures

Poisson regression with the logarithm of the hours as an offset: 2 of 50 columns change the rate.
"""

import ksparse
import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 50))
hours = rng.uniform(1, 10, size=300)
rate = np.exp(0.5 * X[:, 3] - 0.4 * X[:, 17])
y = rng.poisson(hours * rate)
model = ksparse.SparsePoissonRegression(k=2).fit(X, y, offset=np.log(hours))
print("columns", *model.support_, "  coefficients", *model.coef_[model.support_].round(2))

figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
ax.scatter(rate, model.predict(X), s=14, alpha=0.7)
ends = [rate.min(), rate.max()]
ax.plot(ends, ends, color="0.5", linewidth=0.8)
ax.set(xlabel="true rate per hour", ylabel="predicted", title="Counts, 2 of 50 columns")
