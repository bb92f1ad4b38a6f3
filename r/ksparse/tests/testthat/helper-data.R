# Small data with a known truth: columns 3, 7 and 9 of 20 count.
made <- function(n = 120, p = 20, seed = 1) {
  set.seed(seed)
  x <- matrix(stats::rnorm(n * p), n, dimnames = list(NULL, paste0("g", seq_len(p))))
  list(x = x, eta = x[, 3] - 2 * x[, 7] + 0.8 * x[, 9], n = nrow(x), p = ncol(x))
}

sparse_of <- function(x) methods::as(Matrix::Matrix(x * (abs(x) > 0.8), sparse = TRUE), "CsparseMatrix")
