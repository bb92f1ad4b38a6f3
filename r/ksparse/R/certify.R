# How far a fit can be from the best model of its size.

certify <- function(object, ...) UseMethod("certify")

certify.cv.ksparse <- function(object, s = NULL, ...) certify.ksparse(chosen_fit(object, s), ...)

certify.ksparse <- function(object, k = NULL, tolerance = 1e-4, max_epochs = 1000, time_limit = 60, nthreads = NULL,
                            verbose = FALSE, ...) {
  at <- one_place(object, k)
  problem <- object$data
  if (is.null(problem)) complain("a certificate needs the data: fit with model = TRUE")
  if (problem$joint) complain("there is no certificate for family = \"", object$family, "\" yet")
  if (any(lengths(object$at_bounds) > 0L)) complain("a certificate knows nothing of bounds on coefficients")
  if (object$lambda <= 0) {
    complain("a certificate needs `lambda` above 0: fit again with a small one, 1e-3 for standardised columns, say")
  }
  control <- ksparse_control(time_limit = time_limit)
  search <- bare_search(object$k[at], object$lambda, object$keep - 1L,
                        if (length(object$groups)) lapply(object$groups, `-`, 1L), NULL, "auto", NULL, nthreads,
                        verbose, control)
  beta <- object$beta[, at]
  support <- which(beta != 0)
  found <- core_certify(problem$core, search, list(
    k = as.double(object$k[at]), support = unname(support) - 1L, coef = unname(beta[support]),
    intercept = as.double(object$a0[[at]]), tolerance = check_number(tolerance, "tolerance"),
    max_epochs = check_count(max_epochs, "max_epochs")))
  found$history <- as.data.frame(found$history)
  structure(c(list(k = object$k[at]), found), class = "ksparse_certificate")
}

print.ksparse_certificate <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  cat("Objective of the model of at most ", x$k, " columns: ", format(x$objective, digits = digits), "\n",
      "No such model is below:                 ", format(x$lower_bound, digits = digits), "\n",
      "Relative gap:                           ", format(x$relative_gap, digits = digits), "\n",
      x$message, "\n", sep = "")
  invisible(x)
}
