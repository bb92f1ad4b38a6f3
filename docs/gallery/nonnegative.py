"""Spectra: few parts, none of them negative

A mixture of three of 25 known spectra, noise on top. Without signs the best three absorb noise; with them, they are the
parts.
"""

import ksparse
import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(8)
wavelength = np.linspace(400, 700, 150)
centres = np.linspace(410, 690, 25)
library = np.exp(-(((wavelength[:, None] - centres) / 25) ** 2))
amounts = np.zeros(25)
amounts[[6, 8, 17]] = [1.0, 0.7, 0.4]
mixture = library @ amounts + 0.06 * rng.normal(size=150)
model = ksparse.SparseLinearRegression(k=3, nonnegative=True, fit_intercept=False).fit(library, mixture)
print("parts", *model.support_, "  amounts", *model.coef_[model.support_].round(2))

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
ax.plot(wavelength, mixture, ".", markersize=3, color="0.5", label="measured")
ax.plot(wavelength, model.predict(library), linewidth=2, label="three parts together")
for part in model.support_:
    ax.fill_between(wavelength, library[:, part] * model.coef_[part], alpha=0.25, label=f"part {part}")
ax.set(xlabel="wavelength", ylabel="absorption", title="Three of 25 spectra")
ax.legend(frameon=False)
