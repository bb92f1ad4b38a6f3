# One fit or a path of them: checked, handed to the core, made an object.

ksparse <- function(x, ...) UseMethod("ksparse")

ksparse.default <- function(x, y, k = NULL, lambda = NULL,
                            family = c("gaussian", "binomial", "poisson", "gamma", "multinomial", "ordinal",
                                       "mgaussian", "cox"),
                            weights = NULL, offset = NULL, keep = NULL, groups = NULL, penalty.factor = NULL,
                            nonnegative = FALSE, lower = NULL, upper = NULL, total = NULL, intercept = TRUE,
                            standardize = FALSE, strata = NULL, ties = c("efron", "breslow"), solver = "auto",
                            effort = NULL, nthreads = NULL, verbose = FALSE, control = ksparse_control(),
                            model = TRUE, ...) {
  refuse_more(...)
  if (missing(family) && !missing(y) && inherits(y, "Surv")) family <- "cox"
  problem <- problem_of(x, y, family, weights, offset, intercept, standardize, strata, match.arg(ties),
                        penalty.factor)
  search <- search_of(problem, k, lambda, keep, groups, nonnegative, lower, upper, solver, effort, nthreads, verbose,
                      control)
  search$core$total <- check_total(total, problem)
  found <- if (problem$joint) core_fit_joint(problem$core, search$core) else core_fit(problem$core, search$core)
  fit <- model_of(found$models, problem)
  fit$criteria <- criteria_of(found$criteria)
  advise(found$models)
  finish(fit, problem, search, match.call(), check_flag(model, "model"))
}

# A formula: factors become columns that are in or out together.
ksparse.formula <- function(formula, data, k = NULL, ..., weights = NULL, subset = NULL, na.action = NULL,
                            groups = NULL) {
  parts <- formula_parts(match.call(expand.dots = FALSE), parent.frame(), groups)
  fit <- with_family(parts, function(...) {
    ksparse.default(parts$x, parts$y, k = k, weights = parts$weights, offset = parts$offset, groups = parts$groups,
                    intercept = parts$intercept, ...)
  }, ...)
  fit$call <- plain_call(match.call(), "ksparse")
  fit$terms <- parts$terms
  fit$xlevels <- parts$xlevels
  fit$contrasts <- parts$contrasts
  fit
}

# Survival times say which family they are.
with_family <- function(parts, fit, ...) {
  if (inherits(parts$y, "Surv") && is.null(list(...)$family)) fit(..., family = "cox") else fit(...)
}

formula_parts <- function(call, env, groups) {
  call <- call[c(1L, match(c("formula", "data", "subset", "weights", "na.action"), names(call), 0L))]
  call$drop.unused.levels <- TRUE
  call[[1L]] <- quote(stats::model.frame)
  frame <- eval(call, env)
  terms <- attr(frame, "terms")
  full <- stats::model.matrix(terms, frame)
  assign <- attr(full, "assign")
  columns <- assign > 0L
  if (!any(columns)) complain("`formula` has no variables on its right side")
  list(x = full[, columns, drop = FALSE], y = stats::model.response(frame), weights = stats::model.weights(frame),
       offset = stats::model.offset(frame), intercept = attr(terms, "intercept") == 1L,
       groups = if (is.null(groups)) assign[columns] else groups, terms = terms,
       xlevels = stats::.getXlevels(terms, frame), contrasts = attr(full, "contrasts"))
}

refuse_more <- function(...) {
  more <- list(...)
  if (!length(more)) return(invisible())
  name <- names(more)[1L]
  if (is.null(name) || name == "") complain("an argument too many: name those after `lambda`")
  complain("there is no argument `", name, "`: see ?ksparse")
}

# Data and what was asked of them, for the core.
problem_of <- function(x, y, family, weights, offset, intercept, standardize, strata, ties, factors) {
  family <- check_family(family)
  x <- check_x(x)
  n <- nrow(x)
  target <- target_of(y, family, n, strata, ties)
  weights <- check_weights(weights, n)
  joint <- family %in% joint_families
  if ((joint || family == "binomial") && !is.null(offset)) {
    complain("`offset` is not for family = \"", family, "\": leave it out")
  }
  offset <- check_offset(offset, n)
  core <- c(list(x = core_matrix(x), weights = weights, offset = offset,
                 intercept = check_flag(intercept, "intercept"),
                 standardize = check_flag(standardize, "standardize"),
                 penalty_factors = check_factors(factors, ncol(x))), target$core)
  list(core = core, joint = joint, family = family, x = x, y = target$y, levels = target$levels,
       strata = target$strata, outputs = if (is.null(target$outputs)) 1L else target$outputs, names = column_names(x),
       n = n, p = ncol(x), weights = weights, offset = offset,
       intercept = core$intercept && !family %in% c("cox", "ordinal"))
}

ksparse_control <- function(tol = NULL, max_iter = NULL, time_limit = NULL, seed = 1, options = list()) {
  if (!is.null(tol)) tol <- check_number(tol, "tol")
  if (!is.null(max_iter)) max_iter <- check_count(max_iter, "max_iter")
  if (!is.null(time_limit)) time_limit <- check_number(time_limit, "time_limit")
  named <- is.list(options) && (!length(options) || (!is.null(names(options)) && all(nzchar(names(options)))))
  if (!named) complain("`options` must be a list with names, as in list(step = 0.1)")
  list(tol = tol, max_iter = max_iter, time_limit = time_limit, seed = check_count(seed, "seed", 0), options = options)
}

# Threads: all cores, but two while a package is being checked, as CRAN asks.
check_threads <- function(nthreads) {
  if (is.null(nthreads)) {
    limited <- nzchar(Sys.getenv("_R_CHECK_LIMIT_CORES_"))
    return(if (limited) 2 else 0)
  }
  min(check_count(nthreads, "nthreads", 0), max(64, 4 * parallel::detectCores(), na.rm = TRUE))
}

# How to search, for the core; `pause` is how R's thread looks for an interrupt meanwhile.
bare_search <- function(k, lambda, keep, groups, bounds, solver, effort, nthreads, verbose, control) {
  if (!is.character(solver) || length(solver) != 1L || is.na(solver)) complain("`solver` must be one name, as \"auto\"")
  options <- control$options
  if (!is.null(effort)) {
    word <- is.character(effort) && length(effort) == 1L && effort %in% c("quick", "normal", "thorough")
    number <- is.numeric(effort) && length(effort) == 1L && is.finite(effort) && effort > 0
    if (!word && !number) {
      complain("`effort` is ", shown(effort), ", but must be \"quick\", \"normal\", \"thorough\" or a number above 0")
    }
    options$effort <- effort
  }
  list(solver = solver, tol = control$tol, max_iter = control$max_iter, time_limit = control$time_limit,
       seed = control$seed, options = if (length(options)) options, k = k, lambda = lambda, keep = keep,
       groups = groups, lower = bounds$lower, upper = bounds$upper, threads = check_threads(nthreads),
       verbose = check_flag(verbose, "verbose"), pause = function() Sys.sleep(0.001))
}

search_of <- function(problem, k, lambda, keep, groups, nonnegative, lower, upper, solver, effort, nthreads, verbose,
                      control) {
  keep <- check_columns(keep, problem$names, problem$p, "keep")
  groups <- check_groups(groups, problem$names, problem$p)
  bounds <- check_bounds(nonnegative, lower, upper, problem$p)
  units <- countable(problem$p, groups, keep)
  k <- at_most_all(check_k(k), units, if (is.null(groups)) "column" else "group", length(keep) > 0L)
  if (is.null(k) && problem$joint) k <- seq(0L, min(32L, joint_rows(problem), units))
  # Least squares have a minimum without a ridge, of several responses too.
  if (is.null(lambda) && problem$family == "mgaussian") lambda <- 0
  core <- bare_search(k, check_lambda(lambda), keep, groups, bounds, solver, effort, nthreads, verbose, control)
  list(core = core, keep = keep, groups = groups)
}

# So many rows tell columns apart: events, for survival times.
joint_rows <- function(problem) {
  if (problem$family == "cox") sum(problem$core$event) else problem$n
}

# The call as the user made it, without the method it went to.
plain_call <- function(call, name) {
  call[[1L]] <- as.name(name)
  call
}

# The last touches: what belongs to the fit as a whole.
finish <- function(fit, problem, search, call, keep_data) {
  fit$call <- plain_call(call, "ksparse")
  fit$keep <- search$keep + 1L
  fit$groups <- lapply(search$groups, `+`, 1L)
  fit$solver <- search$core$solver
  fit$search <- search$core[c("solver", "tol", "max_iter", "time_limit", "seed", "options", "threads")]
  if (keep_data) fit$data <- problem
  fit
}
