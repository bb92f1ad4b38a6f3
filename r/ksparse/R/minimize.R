# A function of one's own under the same constraint.

ksparse_minimize <- function(fn, gr = NULL, ..., dim, k, start = NULL, keep = NULL, groups = NULL, solver = "auto",
                             effort = NULL, nthreads = NULL, verbose = FALSE, control = ksparse_control()) {
  if (!is.function(fn)) complain("`fn` must be a function of a numeric vector that returns one number")
  if (!is.null(gr) && !is.function(gr)) complain("`gr` must be a function of a numeric vector: the gradient of `fn`")
  if (missing(dim)) {
    if (is.null(start)) complain("`dim` is missing: how many variables `fn` has")
    dim <- length(start)
  }
  dim <- check_count(dim, "dim")
  if (missing(k) || is.null(k)) complain("`k` is missing: how many variables may be non-zero")
  names <- if (is.null(names(start))) paste0("x", seq_len(dim)) else names(start)
  keep <- check_columns(keep, names, dim, "keep")
  groups <- check_groups(groups, names, dim)
  k <- at_most_all(check_k(k), countable(dim, groups, keep), if (is.null(groups)) "variable" else "group")
  if (!is.null(start)) {
    if (!is.numeric(start) || length(start) != dim || any(!is.finite(start))) {
      complain("`start` must be ", dim, " numbers, one per variable")
    }
    if (length(k) > 1L) complain("`start` is for one `k`: several are started from each other")
    start <- as.double(start)
  }
  gradient <- if (is.null(gr)) function(x, ...) differences(fn, x, ...) else gr
  both <- function(x) {
    value <- fn(x, ...)
    slope <- gradient(x, ...)
    if (!is.numeric(value) || length(value) != 1L) complain("`fn` must return one number; it returned ", shown(value))
    if (!is.numeric(slope) || length(slope) != dim) {
      complain("`gr` must return ", dim, " numbers; it returned ", length(slope))
    }
    as.double(c(value, slope))
  }
  search <- bare_search(k, NULL, keep, groups, NULL, solver, effort, nthreads, verbose, control)
  found <- core_minimize(list(dim = dim, both = both, start = start), search)
  out <- lapply(found, minimum_of, dim = dim, names = names)
  if (length(out) == 1L) out[[1L]] else stats::setNames(out, vapply(out, function(one) one$k, 0L))
}

minimum_of <- function(found, dim, names) {
  par <- stats::setNames(numeric(dim), names)
  par[found$support] <- found$coef
  structure(list(k = found$k, par = par, value = found$objective, support = found$support,
                 iterations = found$iterations, status = found$status, message = found$message),
            class = "ksparse_minimum")
}

# Central differences: 2 dim evaluations.
differences <- function(fn, x, ...) {
  step <- .Machine$double.eps^(1 / 3) * pmax(abs(x), 1)
  vapply(seq_along(x), function(j) {
    up <- down <- x
    up[j] <- x[j] + step[j]
    down[j] <- x[j] - step[j]
    (fn(up, ...) - fn(down, ...)) / (up[j] - down[j])
  }, 0)
}

print.ksparse_minimum <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  cat("Minimum with at most ", x$k, " non-zeros: ", format(x$value, digits = digits), " (", x$message, ")\n", sep = "")
  print(x$par[x$support], digits = digits)
  invisible(x)
}
