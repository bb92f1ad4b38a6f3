# What the core found as an object of class "ksparse": coefficients of every k as sparse matrices.

model_of <- function(table, problem) {
  total <- if (is.null(problem$weights)) problem$n else sum(problem$weights)
  outputs <- problem$outputs
  beta <- lapply(seq_len(outputs), function(c) coefficients_of(table, problem, c))
  intercepts <- matrix(unlist(table$intercept), nrow = outputs, dimnames = list(NULL, table$k))
  several <- several_outputs(problem$family)
  used <- Reduce(`|`, lapply(beta, function(b) as.matrix(b != 0)))
  structure(list(
    family = problem$family, k = table$k, lambda = table$lambda,
    beta = if (several) stats::setNames(beta, problem$levels) else beta[[1L]],
    a0 = if (several) `rownames<-`(intercepts, problem$levels) else intercepts[1L, ],
    df = unname(colSums(used)), dev = 2 * total * table$loss, nulldev = 2 * total * table$null_loss,
    objective = table$objective, lower_bound = table$lower_bound, iterations = table$iterations,
    status = table$status, message = table$message,
    at_bounds = lapply(table$held, function(held) problem$names[held]),
    baselines = if (problem$family == "cox") lapply(table$baselines, stats::setNames, problem$strata),
    thresholds = if (problem$family == "ordinal") table$thresholds,
    levels = problem$levels, nobs = problem$n, total = total, names = problem$names,
    named = !is.null(colnames(problem$x)), offset = !is.null(problem$offset),
    intercept = problem$intercept), class = "ksparse")
}

# Families with coefficients for each of several classes or responses.
several_outputs <- function(family) family %in% c("multinomial", "mgaussian")

# Columns of coefficients of one output, a column per k.
coefficients_of <- function(table, problem, output) {
  sizes <- lengths(table$support)
  values <- Map(function(all, size) all[(output - 1L) * size + seq_len(size)], table$coef, sizes)
  Matrix::sparseMatrix(i = unlist(table$support), p = c(0L, cumsum(sizes)), x = as.double(unlist(values)),
                       dims = c(problem$p, length(sizes)), dimnames = list(problem$names, table$k), repr = "C")
}

criteria_of <- function(criteria) {
  if (is.null(criteria)) return(NULL)
  `colnames<-`(criteria$scores, criteria$names)
}

# What would help where that is worth a warning, by the core's name for it.
advice <- c(
  "more-iterations" = "raise max_iter in `control`, or take a larger `lambda`",
  "shorter-step" = "the step is too long: leave it to the solver, or shorten it",
  "add-ridge" = "the classes are separable and the coefficients grow without end: use a positive `lambda`")

advise <- function(table) {
  worth <- table$remedy %in% names(advice)
  for (i in which(worth & !duplicated(table$remedy))) {
    warning("k = ", table$k[i], ": ", table$message[i], ": ", advice[[table$remedy[i]]], call. = FALSE)
  }
}

# The places of the k asked for; all where none are.
places <- function(object, k) {
  if (is.null(k)) return(seq_along(object$k))
  if (!is_whole(k)) complain("`k` is ", shown(k), ", but must be whole numbers")
  at <- match(k, object$k)
  if (anyNA(at)) {
    complain("k = ", k[is.na(at)][1L], " was not fitted: `k` may be ", shown(object$k), ", or fit again with it")
  }
  at
}

# The place of the one k that a summary is about: the only one, or the largest.
one_place <- function(object, k) {
  if (is.null(k)) return(length(object$k))
  if (length(k) != 1L) complain("`k` must be one of the k fitted")
  places(object, k)
}

with_intercept <- function(beta, a0, object) {
  if (!object$intercept) return(beta)
  top <- Matrix::Matrix(matrix(a0, nrow = 1L, dimnames = list("(Intercept)", colnames(beta))), sparse = TRUE)
  methods::as(methods::as(rbind(top, beta), "generalMatrix"), "CsparseMatrix")
}

coef.ksparse <- function(object, k = NULL, ...) {
  at <- places(object, k)
  if (!is.list(object$beta)) return(with_intercept(object$beta[, at, drop = FALSE], object$a0[at], object))
  out <- lapply(names(object$beta), function(name) {
    with_intercept(object$beta[[name]][, at, drop = FALSE], object$a0[name, at], object)
  })
  stats::setNames(out, names(object$beta))
}

# The columns of the matrix that predictions are asked for, as the fit knows them.
new_matrix <- function(object, newx) {
  if (is.null(newx)) {
    if (is.null(object$data)) complain("`newx` is needed: the fit was made with model = FALSE")
    return(object$data$x)
  }
  if (!is.null(object$terms)) {
    if (!is.data.frame(newx)) complain("`newx` must be a data frame with the variables of the formula")
    terms <- stats::delete.response(object$terms)
    frame <- stats::model.frame(terms, newx, xlev = object$xlevels, na.action = stats::na.pass)
    full <- stats::model.matrix(terms, frame, contrasts.arg = object$contrasts)
    newx <- full[, attr(full, "assign") > 0L, drop = FALSE]
  }
  newx <- check_x(newx, "newx")
  if (ncol(newx) != length(object$names)) {
    complain("`newx` has ", ncol(newx), " columns, but the model was fitted to ", length(object$names))
  }
  named <- colnames(newx)
  if (object$named && !is.null(named) && !identical(named, object$names)) {
    other <- setdiff(object$names, named)
    if (length(other)) complain("`newx` has no column ", other[1L], ", which `x` had: give the same columns")
    complain("`newx` has its columns in another order than `x`: reorder them with newx[, object$names]")
  }
  newx
}

# Linear predictors: rows by k, per output.
links_of <- function(object, newx, at, offset) {
  one <- function(beta, a0) {
    eta <- as.matrix(newx %*% beta[, at, drop = FALSE])
    dimnames(eta) <- list(rownames(newx), object$k[at])
    sweep(eta, 2L, a0[at], `+`) + offset
  }
  if (!is.list(object$beta)) return(list(one(object$beta, object$a0)))
  lapply(stats::setNames(nm = names(object$beta)), function(name) one(object$beta[[name]], object$a0[name, ]))
}

predict.ksparse <- function(object, newx = NULL, k = NULL, type = c("link", "response", "class", "nonzero"),
                            newoffset = NULL, ...) {
  type <- match.arg(type)
  at <- places(object, k)
  if (type == "nonzero") return(nonzero_of(object, at))
  x <- new_matrix(object, newx)
  offset <- offset_for(object, newx, newoffset, nrow(x))
  links <- links_of(object, x, at, offset)
  if (type == "link") return(shaped(links))
  if (type == "class") return(classes_from(object, links, at))
  shaped(responses_from(object, links, at))
}

offset_for <- function(object, newx, newoffset, n) {
  if (!object$offset) {
    if (!is.null(newoffset)) complain("`newoffset` was given, but the model was fitted without an offset")
    return(0)
  }
  if (!is.null(newoffset)) return(check_offset(newoffset, n, "newoffset"))
  if (!is.null(newx)) complain("`newoffset` is needed: the model was fitted with an offset")
  object$data$offset
}

nonzero_of <- function(object, at) {
  beta <- if (is.list(object$beta)) object$beta else list(object$beta)
  used <- lapply(at, function(place) {
    object$names[Reduce(`|`, lapply(beta, function(b) b[, place] != 0))]
  })
  if (length(at) == 1L) used[[1L]] else stats::setNames(used, object$k[at])
}

# Means, probabilities, relative risks.
responses_from <- function(object, links, at) {
  switch(object$family,
    binomial = list(stats::plogis(links[[1L]])),
    poisson = , gamma = , cox = list(exp(links[[1L]])),
    multinomial = {
      top <- do.call(pmax, links)
      raised <- lapply(links, function(z) exp(z - top))
      total <- Reduce(`+`, raised)
      lapply(raised, `/`, total)
    },
    ordinal = ordinal_probabilities(links[[1L]], object$thresholds[at], object$levels),
    links)
}

# P(class <= c) = 1 / (1 + exp(z - cut_c)).
ordinal_probabilities <- function(z, cuts, levels) {
  below <- function(c) {
    if (c == 0L) return(0 * z)
    if (c == length(levels)) return(0 * z + 1)
    stats::plogis(sweep(-z, 2L, vapply(cuts, `[`, 0, c), `+`))
  }
  stats::setNames(lapply(seq_along(levels), function(c) below(c) - below(c - 1L)), levels)
}

classes_from <- function(object, links, at) {
  if (!object$family %in% c("binomial", "multinomial", "ordinal")) {
    complain("type = \"class\" is for families with classes: binomial, multinomial and ordinal")
  }
  of <- switch(object$family, binomial = 1L + (links[[1L]] > 0), multinomial = largest_of(links),
               ordinal = largest_of(ordinal_probabilities(links[[1L]], object$thresholds[at], object$levels)))
  label <- function(c) factor(object$levels[c], object$levels, ordered = object$family == "ordinal")
  if (ncol(of) == 1L) return(stats::setNames(label(of[, 1L]), rownames(of)))
  out <- as.data.frame(lapply(seq_len(ncol(of)), function(j) label(of[, j])))
  stats::setNames(out, colnames(of))
}

# The place of the largest of several matrices, entry by entry; the first of equals.
largest_of <- function(parts) {
  best <- list(value = parts[[1L]], of = 0L * parts[[1L]] + 1L)
  for (c in seq_along(parts)[-1L]) {
    better <- parts[[c]] > best$value
    best$of[better] <- c
    best$value[better] <- parts[[c]][better]
  }
  best$of
}

# A vector for one k, a matrix for several; with several outputs a matrix for one, an array for several.
shaped <- function(parts) {
  if (length(parts) == 1L) return(if (ncol(parts[[1L]]) == 1L) parts[[1L]][, 1L] else parts[[1L]])
  if (ncol(parts[[1L]]) == 1L) {
    return(matrix(unlist(parts), nrow(parts[[1L]]), dimnames = list(rownames(parts[[1L]]), names(parts))))
  }
  all <- simplify2array(parts)
  aperm(all, c(1L, 3L, 2L))
}
