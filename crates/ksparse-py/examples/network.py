"""A network with exactly 40 edges, and how many edges the data support."""

import sys

import numpy as np

import ksparse

X, truth = ksparse.datasets.make_network(400, 30, random_state=1)
true_edges = {tuple(edge) for edge in np.argwhere(np.triu(truth, 1)).tolist()}

model = ksparse.SparsePrecision(k=40).fit(X)
right = sum(tuple(edge) in true_edges for edge in model.edges_.tolist())
print(f"{len(model.edges_)} edges asked for and found; {right} of them among the {len(true_edges)} true ones")
strongest = np.argsort(-abs(model.partial_correlations_))[:5]
for (i, j), strength in zip(model.edges_[strongest], model.partial_correlations_[strongest]):
    print(f"  {i:2} - {j:2}  partial correlation {strength:+.2f}")

chosen = ksparse.SparsePrecisionCV(ks=range(10, 91, 10)).fit(X)
print(f"held-out likelihood prefers {chosen.k_} edges")

if len(sys.argv) > 1:
    ksparse.plot_graph(model).figure.savefig(sys.argv[1], dpi=110)
