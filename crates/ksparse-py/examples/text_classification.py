"""Text classification: 50 words out of 20,000.

Simulated documents with the statistics of news stories (nothing is downloaded); `CountVectorizer` and friends give
matrices of the same kind.
"""

from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import ksparse

X, y, truth = ksparse.datasets.make_text(8_000, 20_000, random_state=1)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
print(f"{X.shape[0]} documents, {X.shape[1]} words, {X.nnz / X.shape[0]:.0f} words a document")

for k in (10, 50, 200):
    model = ksparse.SparseLogisticRegression(k=k, alpha=1e-5).fit(X_train, y_train)
    true = int((truth[model.support_] != 0).sum())
    accuracy = model.score(X_test, y_test)
    print(f"k = {k:3}: test accuracy {accuracy:.3f}, {true} of the words chosen carry weight in truth")

dense = LogisticRegression(C=1.0, max_iter=200).fit(X_train, y_train)
print(f"ridge:   test accuracy {dense.score(X_test, y_test):.3f} with all {X.shape[1]} words")
