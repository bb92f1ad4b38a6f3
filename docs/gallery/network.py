"""A network

Which variables depend on each other given all others? 24 variables, 400 samples, as many edges as
the truth has.
"""

import ksparse
import numpy as np

X, truth = ksparse.datasets.make_network(400, 24, random_state=2)
true = {tuple(pair) for pair in np.argwhere(np.triu(truth, 1)).tolist()}
network = ksparse.SparsePrecision(k=len(true)).fit(X)
found = {tuple(pair) for pair in network.edges_.tolist()}
print(f"{len(found & true)} of {len(true)} edges are true")
ksparse.plot_graph(network, feature_names=[f"gene {j}" for j in range(24)])
