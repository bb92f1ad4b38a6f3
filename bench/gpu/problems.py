"""Large problems, drawn on the device itself: nothing has to travel."""

import torch


def generator(seed):
    return torch.Generator(device="cuda").manual_seed(seed)


def autoregressive(n, p, rho, dtype, seed):
    """Rows with correlation rho^|i-j| between columns; by columns, so that X.T is contiguous."""
    rng = generator(seed)
    turned = torch.empty((p, n), dtype=dtype, device="cuda")
    for start in range(0, p, 2000):
        block = turned[start : start + 2000]
        block.copy_(torch.randn(block.shape, dtype=dtype, device="cuda", generator=rng))
    fresh = (1 - rho * rho) ** 0.5
    for j in range(1, p):
        turned[j].mul_(fresh).add_(turned[j - 1], alpha=rho)
    return turned.T


def independent(n, p, dtype, seed):
    """Normal entries by rows, as PyTorch lays a matrix out."""
    rng = generator(seed)
    X = torch.empty((n, p), dtype=dtype, device="cuda")
    for start in range(0, n, 10_000):
        block = X[start : start + 10_000]
        block.copy_(torch.randn(block.shape, dtype=dtype, device="cuda", generator=rng))
    return X


def truth(p, k, seed):
    """k columns spread evenly, and effects of size 1 to 2 with either sign."""
    rng = generator(seed)
    support = torch.arange(k, device="cuda") * (p // k) + p // (2 * k)
    sizes = 1 + torch.rand(k, device="cuda", generator=rng, dtype=torch.float64)
    signs = torch.where(torch.rand(k, device="cuda", generator=rng) < 0.5, -1.0, 1.0)
    return support, sizes * signs


def linear_target(X, k, noise, seed):
    support, effects = truth(X.shape[1], k, seed)
    signal = X[:, support].double() @ effects
    error = torch.randn(X.shape[0], dtype=torch.float64, device="cuda", generator=generator(seed + 1))
    return signal + noise * error, support


def logistic_target(X, k, seed):
    support, effects = truth(X.shape[1], k, seed)
    signal = X[:, support].double() @ effects
    signal *= 2.5 / signal.std()
    chance = torch.sigmoid(2 * signal)
    drawn = torch.rand(X.shape[0], dtype=torch.float64, device="cuda", generator=generator(seed + 1))
    return torch.where(drawn < chance, 1.0, -1.0).double(), support


def text(n, p, tokens, seed):
    """The text model of ksparse.datasets.make_text, as a sparse tensor by columns."""
    rng = generator(seed)
    lengths = torch.poisson(torch.full((n,), float(tokens), device="cuda"), generator=rng).clamp(min=5).long()
    rows = torch.repeat_interleave(torch.arange(n, device="cuda"), lengths)
    popularity = 1 / (torch.arange(p, device="cuda", dtype=torch.float64) + 10)
    ladder = torch.cumsum(popularity, 0) / popularity.sum()
    drawn = torch.rand(len(rows), dtype=torch.float64, device="cuda", generator=rng)
    words = torch.searchsorted(ladder, drawn).clamp(max=p - 1)
    keys, counts = torch.unique(words * n + rows, return_counts=True)
    rows, words = keys % n, keys // n
    frequency = torch.bincount(words, minlength=p)
    values = (1 + counts.double().log()) * (1 + ((1 + n) / (1 + frequency[words]).double()).log())
    norms = torch.zeros(n, dtype=torch.float64, device="cuda").index_add_(0, rows, values**2).sqrt()
    values /= norms[rows]
    pointers = torch.zeros(p + 1, dtype=torch.int64, device="cuda")
    pointers[1:] = torch.cumsum(frequency, 0)
    X = torch.sparse_csc_tensor(pointers, rows, values, size=(n, p))
    support = torch.randperm(5000, device="cuda", generator=rng)[:500]
    w = torch.zeros(p, dtype=torch.float64, device="cuda")
    w[support] = torch.randn(500, dtype=torch.float64, device="cuda", generator=rng)
    signal = torch.zeros(n, dtype=torch.float64, device="cuda").index_add_(0, rows, values * w[words])
    signal *= 2.5 / signal.std()
    drawn = torch.rand(n, dtype=torch.float64, device="cuda", generator=rng)
    return X, torch.where(drawn < torch.sigmoid(2 * signal), 1.0, -1.0).double()
