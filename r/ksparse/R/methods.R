# What R's users expect of a fitted model.

print.ksparse <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  cat("\nCall:  ", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
  print(path_table(x), digits = digits, row.names = FALSE)
  invisible(x)
}

# One row per k.
path_table <- function(x) {
  table <- data.frame(k = x$k, Df = x$df, `%Dev` = 100 * (1 - x$dev / x$nulldev), Lambda = x$lambda,
                      check.names = FALSE)
  if (!is.null(x$criteria)) table$EBIC <- x$criteria[, "ebic"]
  table
}

summary.ksparse <- function(object, k = NULL, ...) {
  at <- one_place(object, k)
  used <- nonzero_of(object, at)
  beta <- if (is.list(object$beta)) object$beta else list(Estimate = object$beta)
  estimates <- vapply(beta, function(b) b[used, at], numeric(length(used)))
  estimates <- matrix(estimates, nrow = length(used), dimnames = list(used, names(beta)))
  if (object$intercept) {
    a0 <- if (is.list(object$beta)) object$a0[, at] else object$a0[[at]]
    estimates <- rbind(`(Intercept)` = a0, estimates)
  }
  structure(list(call = object$call, family = object$family, k = object$k[at], lambda = object$lambda,
                 coefficients = estimates, dev = object$dev[at], nulldev = object$nulldev, nobs = object$nobs,
                 message = object$message[at], criteria = object$criteria[at, ], thresholds = object$thresholds[[at]],
                 lower_bound = object$lower_bound[at], objective = object$objective[at]), class = "summary.ksparse")
}

print.summary.ksparse <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  cat("\nCall:  ", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
  cat(x$family, " model of at most ", x$k, " columns, lambda = ", format(x$lambda, digits = digits), "\n\n", sep = "")
  print(x$coefficients, digits = digits)
  if (length(x$thresholds)) cat("\nCut points: ", format(x$thresholds, digits = digits), "\n")
  cat("\nDeviance ", format(x$dev, digits = digits), " of ", format(x$nulldev, digits = digits), " without columns, ",
      x$nobs, " rows\n", sep = "")
  if (length(x$criteria)) cat(paste0(toupper(names(x$criteria)), " ", format(x$criteria, digits = digits)), "\n")
  cat("Search: ", x$message, "\n", sep = "")
  invisible(x)
}

nobs.ksparse <- function(object, ...) object$nobs

deviance.ksparse <- function(object, k = NULL, ...) object$dev[places(object, k)]

family.ksparse <- function(object, ...) {
  switch(object$family, gaussian = stats::gaussian(), binomial = stats::binomial(), poisson = stats::poisson(),
         gamma = stats::Gamma("log"), complain("family = \"", object$family, "\" is none of those in ?family"))
}

variable.names.ksparse <- function(object, ...) object$names

# The likelihood of one k; the deviance knows it up to a constant of the data, and of the dispersion.
logLik.ksparse <- function(object, k = NULL, ...) {
  at <- one_place(object, k)
  value <- switch(object$family,
    binomial = , multinomial = , ordinal = , cox = -object$dev[at] / 2,
    gaussian = gaussian_likelihood(object, at),
    poisson = , gamma = counted_likelihood(object, at),
    complain("there is no likelihood of family = \"", object$family, "\" without the covariance of its responses"))
  outputs <- if (is.list(object$beta)) length(object$beta) - 1L else 1L
  df <- outputs * (object$df[at] + object$intercept) + object$family %in% c("gaussian", "gamma")
  if (object$family == "ordinal") df <- object$df[at] + length(object$levels) - 1L
  structure(value, df = df, nobs = object$nobs, class = "logLik")
}

gaussian_likelihood <- function(object, at) {
  weights <- object$data$weights
  shift <- if (is.null(weights)) 0 else sum(log(weights[weights > 0]))
  n <- if (is.null(weights)) object$nobs else sum(weights > 0)
  0.5 * (shift - n * (log(2 * pi * object$dev[at] / n) + 1))
}

counted_likelihood <- function(object, at) {
  if (is.null(object$data)) complain("the likelihood needs the data: fit with model = TRUE")
  y <- object$data$y
  weights <- if (is.null(object$data$weights)) rep(1, length(y)) else object$data$weights
  mu <- predict.ksparse(object, k = object$k[at], type = "response")
  if (object$family == "poisson") return(sum(weights * stats::dpois(round(y), mu, log = TRUE)))
  dispersion <- object$dev[at] / sum(weights)
  sum(weights * stats::dgamma(y, 1 / dispersion, scale = mu * dispersion, log = TRUE))
}

fitted.ksparse <- function(object, k = NULL, ...) {
  predict.ksparse(object, k = if (is.null(k)) object$k[one_place(object, NULL)] else k, type = "response")
}

residuals.ksparse <- function(object, k = NULL, type = c("response", "deviance", "pearson"), ...) {
  type <- match.arg(type)
  if (!object$family %in% c("gaussian", "binomial", "poisson", "gamma", "mgaussian")) {
    complain("residuals of family = \"", object$family, "\" are not defined here: see predict()")
  }
  if (is.null(object$data)) complain("residuals need the data: fit with model = TRUE")
  at <- one_place(object, k)
  mu <- fitted.ksparse(object, object$k[at])
  y <- object$data$y
  if (type == "response" || object$family == "mgaussian") return(y - mu)
  family <- family.ksparse(object)
  weights <- if (is.null(object$data$weights)) rep(1, length(y)) else object$data$weights
  if (type == "pearson") return((y - mu) * sqrt(weights / family$variance(mu)))
  sign(y - mu) * sqrt(pmax(family$dev.resids(y, mu, weights), 0))
}
