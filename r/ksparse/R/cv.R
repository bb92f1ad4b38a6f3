# The choice of k and of two ridges by cross-validation.

cv.ksparse <- function(x, ...) UseMethod("cv.ksparse")

cv.ksparse.default <- function(x, y, k = NULL, lambda = NULL, lambda.refit = NULL,
                               family = c("gaussian", "binomial", "poisson", "gamma", "multinomial", "ordinal",
                                          "mgaussian", "cox"),
                               nfolds = NULL, foldid = NULL, type.measure = NULL, rule = NULL, resamples = 0,
                               seed = NULL, weights = NULL, offset = NULL, keep = NULL, groups = NULL,
                               penalty.factor = NULL, nonnegative = FALSE, lower = NULL, upper = NULL,
                               total = NULL, intercept = TRUE, standardize = FALSE, strata = NULL,
                               ties = c("efron", "breslow"), solver = "auto", effort = NULL, nthreads = NULL,
                               verbose = FALSE, control = ksparse_control(), model = TRUE, ...) {
  refuse_more(...)
  if (missing(family) && !missing(y) && inherits(y, "Surv")) family <- "cox"
  problem <- problem_of(x, y, family, weights, offset, intercept, standardize, strata, match.arg(ties),
                        penalty.factor)
  control$seed <- seed_of(seed, foldid)
  search <- search_of(problem, if (is.null(k)) 0L else k, NULL, keep, groups, nonnegative, lower, upper, solver,
                      effort, nthreads, verbose, control)
  search$core$total <- check_total(total, problem)
  comparison <- list(k = if (!is.null(k)) search$core$k, lambda = check_ridges(lambda, "lambda"),
                     refit = check_ridges(lambda.refit, "lambda.refit"),
                     nfolds = if (!is.null(nfolds)) check_count(nfolds, "nfolds", 2),
                     foldid = check_foldid(foldid, problem$n), metric = check_measure(type.measure, problem$family),
                     rule = check_rule(rule), resamples = check_count(resamples, "resamples", 0),
                     rows = as.double(problem$n))
  found <- if (problem$joint) core_choose_joint(problem$core, search$core, comparison)
           else core_choose(problem$core, search$core, comparison)
  choice_of(found, problem, search, match.call(), check_flag(model, "model"))
}

cv.ksparse.formula <- function(formula, data, ..., weights = NULL, subset = NULL, na.action = NULL, groups = NULL) {
  parts <- formula_parts(match.call(expand.dots = FALSE), parent.frame(), groups)
  fit <- with_family(parts, function(...) {
    cv.ksparse.default(parts$x, parts$y, weights = parts$weights, offset = parts$offset, groups = parts$groups,
                       intercept = parts$intercept, ...)
  }, ...)
  fit$call <- plain_call(match.call(), "cv.ksparse")
  fit$fits <- lapply(fit$fits, function(one) {
    one[c("terms", "xlevels", "contrasts")] <- parts[c("terms", "xlevels", "contrasts")]
    one
  })
  fit
}

# Without a seed one is drawn, so that set.seed() decides; seed = 1 deals the folds of the command `ksparse path`.
seed_of <- function(seed, foldid) {
  if (!is.null(seed)) return(check_count(seed, "seed", 0))
  if (!is.null(foldid)) 1 else as.double(sample.int(.Machine$integer.max, 1L))
}

check_ridges <- function(lambda, name) {
  if (is.null(lambda)) return(NULL)
  if (!is.numeric(lambda) || !length(lambda) || any(!is.finite(lambda)) || any(lambda < 0)) {
    complain("`", name, "` is ", shown(lambda), ", but must be numbers, 0 or more")
  }
  sort(unique(as.double(lambda)), decreasing = TRUE)
}

# A column for each time that the rows are dealt; a vector is one column.
check_foldid <- function(foldid, n, times = Inf) {
  if (is.null(foldid)) return(NULL)
  of <- as.matrix(foldid)
  if (nrow(of) != n || ncol(of) > times || !is_whole(foldid) || any(foldid < 1)) {
    complain("`foldid` must be ", n, " whole numbers from 1 on: the fold that holds each row out",
             if (times > 1) " (several columns of them, as many folds each, for rows dealt several times)")
  }
  numbered <- apply(of, 2, function(one) match(one, sort(unique(one))))
  folds <- apply(numbered, 2, max)
  if (any(folds < 2L)) complain("`foldid` names one fold only: two or more are needed")
  if (any(folds != folds[1])) complain("`foldid` must name as many folds in every column, not ", shown(folds))
  as.integer(numbered) - 1L
}

measures <- c(deviance = "deviance", class = "error", error = "error", auc = "auc", mse = "mse", C = "concordance",
              concordance = "concordance")

check_measure <- function(measure, family) {
  if (is.null(measure)) return(NULL)
  if (!is.character(measure) || length(measure) != 1L || !measure %in% names(measures)) {
    complain("`type.measure` is ", shown(measure), ", but must be one of ", shown_choices(names(measures)))
  }
  measure <- measures[[measure]]
  fits <- switch(measure, error = c("binomial", "multinomial", "ordinal"), auc = "binomial", concordance = "cox",
                 mse = c("gaussian", "poisson", "gamma", "mgaussian"), families)
  if (!family %in% fits) complain("`type.measure` = \"", measure, "\" is not for family = \"", family, "\"")
  measure
}

rules <- c("best", "lean", "1se")

check_rule <- function(rule) {
  if (is.null(rule)) return("lean")
  if (!is.character(rule) || length(rule) != 1L || !rule %in% rules) {
    complain("`rule` is ", shown(rule), ", but must be one of ", shown_choices(rules))
  }
  rule
}

# An object of class "cv.ksparse": the scores, and a fit to all rows for what each rule takes.
choice_of <- function(found, problem, search, call, keep_data) {
  fits <- lapply(found$models, function(of) {
    fit <- model_of(of$model, problem)
    fit$lambda.select <- of$lambda
    finish(fit, problem, search, call, keep_data)
  })
  names(fits) <- found$rules
  ks <- vapply(fits, function(fit) fit$k, 0L)
  scores <- data.frame(k = found$k, lambda = found$lambda, lambda.refit = found$refit, mean = found$mean,
                       se = found$error)
  chosen <- fits[[found$chosen]]
  foldid <- found$folds
  if (length(foldid) > problem$n) foldid <- matrix(foldid, problem$n)
  structure(list(call = plain_call(call, "cv.ksparse"), scores = scores, measure = found$metric, gain = found$gain,
                 folds = found$scores, foldid = foldid, rule = found$rules[found$chosen], fits = fits,
                 k = chosen$k, k.min = ks[["best"]], k.1se = ks[["1se"]], k.lean = ks[["lean"]],
                 lambda.select = chosen$lambda.select, lambda = chosen$lambda,
                 frequencies = named_shares(found$frequencies, problem),
                 resampled = named_shares(found$resampled, problem), edges = found$edges,
                 alternatives = lapply(found$alternatives, function(other) {
                   list(columns = problem$names[other$support], objective = other$objective)
                 }),
                 path = path_of(found$path, problem), nobs = problem$n, family = problem$family),
            class = "cv.ksparse")
}

named_shares <- function(shares, problem) if (!is.null(shares)) stats::setNames(shares, problem$names)

# The path on all rows under the ridge that selects, as coefficients; a matrix per output where there are several.
path_of <- function(path, problem) {
  if (is.null(path)) return(NULL)
  beta <- lapply(seq_len(problem$outputs), function(c) coefficients_of(path, problem, c))
  if (several_outputs(problem$family)) stats::setNames(beta, problem$levels) else beta[[1L]]
}

# Which of the fits is meant: by the name of its k, or by the k itself.
chosen_fit <- function(object, s) {
  if (is.null(s)) return(object$fits[[object$rule]])
  by_name <- c(k.min = "best", k.1se = "1se", k.lean = "lean", best = "best", `1se` = "1se", lean = "lean")
  if (is.character(s) && length(s) == 1L && s %in% names(by_name)) return(object$fits[[by_name[[s]]]])
  complain("`s` is ", shown(s), ", but must be one of \"k.min\", \"k.1se\" and \"k.lean\"")
}

coef.cv.ksparse <- function(object, s = NULL, ...) coef.ksparse(chosen_fit(object, s))

predict.cv.ksparse <- function(object, newx = NULL, s = NULL, ...) predict.ksparse(chosen_fit(object, s), newx, ...)

summary.cv.ksparse <- function(object, s = NULL, ...) summary.ksparse(chosen_fit(object, s))

deviance.cv.ksparse <- function(object, s = NULL, ...) deviance.ksparse(chosen_fit(object, s))

logLik.cv.ksparse <- function(object, s = NULL, ...) logLik.ksparse(chosen_fit(object, s))

nobs.cv.ksparse <- function(object, ...) object$nobs

fitted.cv.ksparse <- function(object, s = NULL, ...) fitted.ksparse(chosen_fit(object, s))

residuals.cv.ksparse <- function(object, s = NULL, ...) residuals.ksparse(chosen_fit(object, s), ...)

print.cv.ksparse <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  cat("\nCall:  ", paste(deparse(x$call), collapse = "\n"), "\n\n", sep = "")
  cat("Measure: ", x$measure, " over ", nrow(x$folds), " folds", if (x$gain) " (higher is better)", "\n\n", sep = "")
  rows <- lapply(names(x$fits), function(rule) {
    fit <- x$fits[[rule]]
    cell <- x$scores[x$scores$k == fit$k & x$scores$lambda == fit$lambda.select & x$scores$lambda.refit == fit$lambda, ]
    data.frame(rule = rule, k = fit$k, lambda = fit$lambda.select, lambda.refit = fit$lambda, score = cell$mean[1L],
               se = cell$se[1L], nonzero = fit$df, chosen = if (rule == x$rule) "*" else "")
  })
  print(do.call(rbind, rows), digits = digits, row.names = FALSE)
  if (length(x$edges)) cat("\nAt an end of what was compared: ", paste(x$edges, collapse = "; "), "\n", sep = "")
  invisible(x)
}
