"""How many edges?

Likelihood of rows held out against the number of edges, and the share of edges that are true.
"""

import ksparse
import matplotlib.pyplot as plt
import numpy as np

X, truth = ksparse.datasets.make_network(150, 20, random_state=3)
true = {tuple(pair) for pair in np.argwhere(np.triu(truth, 1)).tolist()}
other, _ = ksparse.datasets.make_network(1000, 20, random_state=3)
covariance = np.corrcoef(other[150:].T)
rows, right = {}, {}
for k in range(0, 61, 4):
    network = ksparse.SparsePrecision(k=k).fit(X)
    scale = np.sqrt(np.diag(network.covariance_))
    precision = network.precision_ * np.outer(scale, scale)
    rows[k] = np.linalg.slogdet(precision)[1] - np.sum(precision * covariance)
    right[k] = len(true & {tuple(pair) for pair in network.edges_.tolist()})

figure, (top, bottom) = plt.subplots(2, 1, figsize=(7, 6), sharex=True, layout="constrained")
top.plot(list(rows), list(rows.values()), marker="o", markersize=4)
top.axvline(len(true), linestyle=":", color="C1", label=f"{len(true)} true edges")
top.set(ylabel="likelihood of other rows", title="A network of 20 variables")
top.legend(frameon=False)
bottom.plot(list(right), list(right.values()), marker="o", markersize=4, label="true edges among them")
bottom.plot(list(right), list(right), color="0.6", linewidth=0.8, label="edges")
bottom.set(xlabel="k, the number of edges", ylabel="edges")
bottom.legend(frameon=False)
best = max(rows, key=rows.get)
print(f"the likelihood is highest at k = {best}, where {right[best]} of the {len(true)} true edges are found")
