"""A custom objective: Poisson regression, of which the package has no estimator.

Counts y_i with mean exp(x_i'w): only the function, its gradient and (optionally) its Hessian are needed.
"""

import numpy as np

import ksparse

rng = np.random.default_rng(0)
n, p, k = 400, 100, 4
X = rng.normal(size=(n, p))
truth = np.zeros(p)
truth[[7, 21, 42, 90]] = [0.8, -0.6, 0.7, 0.5]
y = rng.poisson(np.exp(X @ truth))


def deviance(w):
    """Negative log-likelihood per sample, without its constant, and a little ridge."""
    z = X @ w
    return (np.exp(z) - y * z).mean() + 5e-4 * w @ w


def gradient(w):
    return X.T @ (np.exp(X @ w) - y) / n + 1e-3 * w


def hessian(w):
    return (X.T * (np.exp(X @ w) / n)) @ X + 1e-3 * np.eye(p)


result = ksparse.minimize(deviance, k, p, gradient, hessian, solver="auto")
print(result.message)
for j in result.support:
    print(f"column {j:2}: {result.x[j]:+.3f} (truth {truth[j]:+.3f})")

path = ksparse.path(deviance, dim=p, grad=gradient, ks=range(1, 9))
for size, value, _, _ in path:
    print(f"k = {size}: f = {value:.4f}")
