"""Hard thresholding pursuit as one writes it in PyTorch: what there is to compare with."""

import torch


def htp(X, y, k, logistic, rounds=50):
    """At most k coefficients and an intercept; f is the mean of squares over 2, or of logistic losses at twice z."""
    n, p = X.shape
    work = X.dtype
    y, b = y.to(work), torch.zeros((), dtype=work, device=X.device)
    w, support = torch.zeros(p, dtype=work, device=X.device), None

    def derivative(z):
        return -2 * y * torch.sigmoid(-2 * y * z) if logistic else z - y

    step = 0.5 / float((X[: min(n, 4096)].double() ** 2).mean())
    for _ in range(rounds):
        r = derivative(X[:, support] @ w[support] + b if support is not None else b.expand(n))
        moved = w - step * (X.T @ r) / n
        chosen = torch.topk(moved.abs(), k).indices.sort().values
        if support is not None and torch.equal(chosen, support):
            break
        support, A = chosen, torch.cat([X[:, chosen], torch.ones((n, 1), dtype=work, device=X.device)], 1).double()
        beta = torch.cat([moved[chosen], b.reshape(1)]).double()
        for _ in range(12 if logistic else 1):
            z = A @ beta
            curvature = 4 * torch.sigmoid(2 * z) * torch.sigmoid(-2 * z) if logistic else torch.ones_like(z)
            H = A.T @ (A * curvature[:, None]) / n + 1e-5 * torch.eye(k + 1, dtype=torch.float64, device=X.device)
            beta = beta - torch.linalg.solve(H, A.T @ derivative(z) / n)
        w = torch.zeros_like(w)
        w[chosen], b = beta[:-1].to(work), beta[-1].to(work)
    z = X[:, support].double() @ w[support].double() + b.double()
    loss = torch.nn.functional.softplus(-2 * y * z) if logistic else 0.5 * (z - y.double()) ** 2
    return support, float(loss.mean())
