# Networks: precision matrices with at most k edges, and classes told apart by one.

samples_of <- function(x) {
  x <- check_x(x)
  if (nrow(x) < 2L) complain("`x` has one row: a network needs more")
  x
}

ksparse_graph <- function(x, k, criterion = c("ebic", "bic"), nfolds = NULL, foldid = NULL, resamples = 0,
                          standardize = TRUE, solver = "auto", seed = NULL, nthreads = NULL, verbose = FALSE,
                          control = ksparse_control()) {
  x <- samples_of(x)
  if (missing(k)) complain("`k` is missing: how many edges, or several numbers to choose from")
  k <- at_most_all(check_k(k), ncol(x) * (ncol(x) - 1) / 2, "pair")
  if (is.null(k)) complain("`k` must be whole numbers: how many edges")
  control$seed <- if (is.null(nfolds) && !resamples) control$seed else seed_of(seed, foldid)
  search <- bare_search(k, NULL, integer(), NULL, NULL, solver, NULL, nthreads, verbose, control)
  samples <- list(x = core_matrix(x), standardize = check_flag(standardize, "standardize"),
                  foldid = check_foldid(foldid, nrow(x), 1), criterion = match.arg(criterion),
                  nfolds = if (!is.null(nfolds)) check_count(nfolds, "nfolds", 2),
                  resamples = check_count(resamples, "resamples", 0))
  found <- core_graph(samples, search)
  names <- column_names(x)
  networks <- lapply(found$networks, network_of, names = names)
  shares <- found$frequencies
  structure(list(call = match.call(), k = found$k[found$index], ks = found$k, objective = found$objective,
                 message = found$message[found$index], precision = networks[[found$index]]$precision,
                 edges = networks[[found$index]]$edges, networks = networks,
                 scores = found$scores, se = found$errors,
                 by = if (!is.null(samples$foldid) || !is.null(nfolds)) "cross-validation" else samples$criterion,
                 frequencies = if (!is.null(shares)) `dimnames<-`(shares, list(names, names)), means = found$means,
                 names = names, nobs = nrow(x)), class = "ksparse_graph")
}

network_of <- function(network, names) {
  edges <- data.frame(from = names[network$from], to = names[network$to], partial.correlation = network$partial)
  edges <- edges[order(-abs(edges$partial.correlation)), ]
  rownames(edges) <- NULL
  list(precision = `dimnames<-`(network$precision, list(names, names)), edges = edges)
}

counted <- function(number, noun) paste0(number, " ", noun, if (number != 1L) "s")

print.ksparse_graph <- function(x, n = 20, digits = 3, ...) {
  cat("\nCall:  ", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
  cat("Network of ", counted(nrow(x$edges), "edge"), " among ", length(x$names), " variables, ", x$nobs, " rows\n",
      sep = "")
  if (length(x$ks) > 1L) cat("Chosen among ", length(x$ks), " k by ", x$by, "\n", sep = "")
  cat("\n")
  edges <- x$edges
  if (!is.null(x$frequencies)) edges$found <- x$frequencies[cbind(edges$from, edges$to)]
  print(edges[seq_len(min(n, nrow(edges))), ], digits = digits, row.names = FALSE)
  if (nrow(edges) > n) cat("... and ", nrow(edges) - n, " more: see $edges\n", sep = "")
  invisible(x)
}

coef.ksparse_graph <- function(object, ...) object$precision

plot.ksparse_graph <- function(x, ...) {
  p <- length(x$names)
  angle <- 2 * pi * (seq_len(p) - 1) / p
  at <- cbind(cos(angle), sin(angle))
  settings <- merged(list(x = at, type = "n", axes = FALSE, xlab = "", ylab = "", asp = 1, xlim = c(-1.2, 1.2),
                               ylim = c(-1.2, 1.2)), list(...))
  do.call(graphics::plot, settings)
  from <- at[match(x$edges$from, x$names), , drop = FALSE]
  to <- at[match(x$edges$to, x$names), , drop = FALSE]
  r <- x$edges$partial.correlation
  graphics::segments(from[, 1L], from[, 2L], to[, 1L], to[, 2L], lwd = 0.5 + 4 * abs(r),
                     col = ifelse(r > 0, "steelblue", "firebrick"))
  graphics::points(at, pch = 20)
  graphics::text(1.1 * at, x$names, cex = 0.7)
  invisible(x)
}

ksparse_lda <- function(x, y, k, nfolds = 6, foldid = NULL, solver = "auto", seed = NULL, nthreads = NULL,
                        verbose = FALSE, control = ksparse_control()) {
  x <- samples_of(x)
  if (missing(k) || is.null(k)) complain("`k` is missing: how many edges, or several numbers to choose from")
  k <- at_most_all(check_k(k), ncol(x) * (ncol(x) - 1) / 2, "pair")
  if (missing(y)) complain("`y` is missing: a class per row of `x`")
  check_rows(length(y), nrow(x))
  check_present(y)
  of <- if (is.factor(y)) droplevels(y) else factor(y)
  if (nlevels(of) < 2L) complain("`y` has one class only: there is nothing to learn")
  control$seed <- if (length(k) > 1L) seed_of(seed, foldid) else control$seed
  search <- bare_search(k, NULL, integer(), NULL, NULL, solver, NULL, nthreads, verbose, control)
  samples <- list(x = core_matrix(x), labels = as.double(of), nfolds = check_count(nfolds, "nfolds", 2),
                  foldid = check_foldid(foldid, nrow(x), 1))
  found <- core_lda(samples, search)
  names <- column_names(x)
  network <- network_of(found$network, names)
  structure(list(call = match.call(), k = found$k[found$index], ks = found$k, scores = found$scores,
                 levels = levels(of), directions = `dimnames<-`(found$directions, list(names, levels(of))),
                 offsets = stats::setNames(found$offsets, levels(of)), precision = network$precision,
                 edges = network$edges, names = names, nobs = nrow(x)), class = "ksparse_lda")
}

predict.ksparse_lda <- function(object, newx, type = c("class", "link", "response"), ...) {
  type <- match.arg(type)
  newx <- check_x(newx, "newx")
  if (ncol(newx) != length(object$names)) {
    complain("`newx` has ", ncol(newx), " columns, but the rule was made from ", length(object$names))
  }
  scores <- sweep(as.matrix(newx %*% object$directions), 2L, object$offsets, `+`)
  colnames(scores) <- object$levels
  if (type == "link") return(scores)
  if (type == "class") return(factor(object$levels[max.col(scores, "first")], object$levels))
  raised <- exp(scores - apply(scores, 1L, max))
  raised / rowSums(raised)
}

print.ksparse_lda <- function(x, ...) {
  cat("\nCall:  ", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
  cat("Discriminant analysis of ", length(x$levels), " classes by a network of ", counted(nrow(x$edges), "edge"),
      " among ", length(x$names), " variables, ", x$nobs, " rows\n", sep = "")
  invisible(x)
}
