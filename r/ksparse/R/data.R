# Data as the core reads them: matrices without a copy, targets by family.

families <- c("gaussian", "binomial", "poisson", "gamma", "multinomial", "ordinal", "mgaussian", "cox")
joint_families <- c("multinomial", "ordinal", "mgaussian", "cox")

# A family by its name, or an object of stats::family with the link that is meant by it here.
check_family <- function(family) {
  if (is.function(family)) family <- family()
  if (inherits(family, "family")) {
    links <- c(gaussian = "identity", binomial = "logit", poisson = "log", Gamma = "log")
    if (!identical(unname(links[family$family]), family$link)) {
      complain("`family` is ", family$family, " with link ", family$link, ", which is not available: the links are ",
               "identity (gaussian), logit (binomial) and log (poisson, gamma)")
    }
    family <- tolower(family$family)
  }
  if (!is.character(family) || !length(family)) complain("`family` must be a name: ", shown_choices(families))
  if (identical(family, families)) return(families[1L])
  if (length(family) != 1L || !family %in% families) {
    complain("`family` is ", shown(family), ", but must be one of ", shown_choices(families))
  }
  family
}

shown_choices <- function(choices) paste0("\"", choices, "\"", collapse = ", ")

# The matrix: numeric, or sparse by columns.
check_x <- function(x, name = "x") {
  if (is.data.frame(x)) {
    odd <- names(x)[!vapply(x, function(v) is.numeric(v) || is.logical(v), NA)]
    if (length(odd)) {
      complain("`", name, "` is a data frame with columns that are not numbers (", shown(odd),
               "): use a formula, as in ksparse(y ~ ., data), which makes columns of them")
    }
    x <- as.matrix(x)
  }
  if (inherits(x, "Matrix")) {
    if (!inherits(x, "dgCMatrix")) {
      x <- methods::as(methods::as(methods::as(x, "dMatrix"), "generalMatrix"), "CsparseMatrix")
    }
    values <- x@x
  } else if (is.matrix(x) && (is.numeric(x) || is.logical(x))) {
    if (!is.double(x)) storage.mode(x) <- "double"
    values <- x
  } else {
    complain("`", name, "` must be a numeric matrix, a sparse matrix of the Matrix package or a data frame of ",
             "numbers; it is ", if (is.matrix(x)) "a matrix of type " else "of class ",
             if (is.matrix(x)) typeof(x) else class(x)[1L])
  }
  if (nrow(x) == 0L || ncol(x) == 0L) complain("`", name, "` has ", nrow(x), " rows and ", ncol(x), " columns")
  if (anyNA(values)) {
    complain("`", name, "` has missing values", first_missing(x),
             ": remove those rows with na.omit(), or impute the values")
  }
  x
}

first_missing <- function(x) {
  if (!is.matrix(x)) return("")
  at <- which.max(is.na(x)) - 1L
  paste0(" (the first in row ", at %% nrow(x) + 1L, ", column ", at %/% nrow(x) + 1L, ")")
}

# For the core: full matrices as they are, sparse ones as the parts they lie in.
core_matrix <- function(x) if (is.matrix(x)) x else list(p = x@p, i = x@i, x = x@x, dim = x@Dim)

column_names <- function(x) {
  names <- colnames(x)
  if (is.null(names)) paste0("V", seq_len(ncol(x))) else make.unique(names)
}

numbers_of <- function(y, family, hint = "") {
  if (is.factor(y) || is.character(y)) {
    complain("`y` is ", if (is.factor(y)) "a factor" else "of type character", ", but family = \"", family,
             "\" is for numbers: take family = \"binomial\" for two classes, \"multinomial\" for more, \"ordinal\" ",
             "for classes in an order")
  }
  if (is.matrix(y) && ncol(y) == 1L) y <- drop(y)
  if (!(is.numeric(y) || is.logical(y)) || is.matrix(y)) {
    complain("`y` must be a numeric vector for family = \"", family, "\"", hint)
  }
  as.double(y)
}

check_rows <- function(found, n) {
  if (found != n) complain("`y` has ", found, " values, but `x` has ", n, " rows: they must be the same rows")
}

check_present <- function(y) {
  if (anyNA(y)) complain("`y` has missing values (the first in row ", which.max(is.na(y)),
                         "): remove those rows from `x` and `y`")
}

# The target as the core needs it, with what its values are called.
target_of <- function(y, family, n, strata = NULL, ties = "efron") {
  if (missing(y) || is.null(y)) complain("`y` is missing: the target, one value per row of `x`")
  out <- switch(family,
    binomial = two_classes(y, n),
    multinomial = , ordinal = classes_of(y, family, n),
    mgaussian = responses_of(y, n),
    cox = survival_of(y, n, strata, ties),
    numbers_target(y, family, n))
  if (!is.null(strata) && family != "cox") complain("`strata` are for family = \"cox\": leave them out")
  out
}

numbers_target <- function(y, family, n) {
  y <- numbers_of(y, family, if (is.matrix(y)) ": take family = \"mgaussian\" for several responses" else "")
  check_rows(length(y), n)
  check_present(y)
  if (family == "poisson" && any(y < 0)) complain("`y` has negative values, but family = \"poisson\" is for counts")
  if (family == "gamma" && any(y <= 0)) {
    complain("`y` has values of 0 or less, but family = \"gamma\" is for positive ones")
  }
  loss <- c(gaussian = "squared", poisson = "poisson", gamma = "gamma")[[family]]
  list(core = list(target = y, loss = loss), y = y)
}

two_classes <- function(y, n) {
  if (is.matrix(y) && ncol(y) > 1L) {
    complain("`y` is a matrix, but family = \"binomial\" needs a class per row: for counts of successes, repeat the ",
             "rows and give the counts as `weights`")
  }
  check_rows(length(y), n)
  check_present(y)
  of <- if (is.factor(y)) droplevels(y) else factor(y)
  if (nlevels(of) != 2L) {
    complain("`y` has ", nlevels(of), " classes, but family = \"binomial\" needs two",
             if (nlevels(of) > 2L) ": take family = \"multinomial\"" else ": there is nothing to learn from one")
  }
  list(core = list(target = 2 * as.double(of == levels(of)[2L]) - 1, loss = "logistic"), levels = levels(of),
       y = as.double(of == levels(of)[2L]))
}

classes_of <- function(y, family, n) {
  if (is.matrix(y)) complain("`y` is a matrix, but family = \"", family, "\" needs a class per row")
  check_rows(length(y), n)
  check_present(y)
  if (family == "ordinal" && !is.ordered(y) && !is.numeric(y)) {
    complain("`y` has no order: make it one with ordered(y, levels = ...), the lowest first")
  }
  of <- if (is.factor(y)) droplevels(y) else factor(y)
  if (nlevels(of) < 2L) complain("`y` has one class only: there is nothing to learn")
  if (2L * nlevels(of) > n) complain("`y` has ", nlevels(of), " classes in ", n, " rows, too many: are these numbers?")
  core <- list(kind = family, count = as.double(nlevels(of)), classes = as.integer(of) - 1L, ties = "efron")
  list(core = core, levels = levels(of), y = of, outputs = if (family == "ordinal") 1L else nlevels(of))
}

responses_of <- function(y, n) {
  if (is.data.frame(y)) y <- as.matrix(y)
  if (!is.matrix(y) || !is.numeric(y)) {
    complain("`y` must be a numeric matrix, a column per response, for family = \"mgaussian\"")
  }
  check_rows(nrow(y), n)
  if (anyNA(y)) complain("`y` has missing values: remove those rows from `x` and `y`")
  storage.mode(y) <- "double"
  names <- if (is.null(colnames(y))) paste0("y", seq_len(ncol(y))) else make.unique(colnames(y))
  core <- list(kind = "responses", count = as.double(ncol(y)), responses = as.double(y), ties = "efron")
  list(core = core, levels = names, y = y, outputs = ncol(y))
}

# Times and events, of survival::Surv() or of a matrix with columns time and status.
survival_of <- function(y, n, strata, ties) {
  if (!inherits(y, "Surv") && is.matrix(y) && all(c("time", "status") %in% colnames(y))) {
    parts <- y[, c("time", "status"), drop = FALSE]
    type <- "right"
  } else if (inherits(y, "Surv")) {
    parts <- unclass(y)
    type <- attr(y, "type")
  } else {
    complain("`y` must be survival times for family = \"cox\": survival::Surv(time, status), or a matrix with columns ",
             "time and status")
  }
  if (!type %in% c("right", "counting")) {
    complain("`y` holds times of type ", type, ", but only right-censored ones and (start, stop] are understood")
  }
  check_rows(nrow(parts), n)
  if (anyNA(parts)) complain("`y` has missing values: remove those rows from `x` and `y`")
  status <- parts[, "status"]
  if (!all(status %in% c(0, 1))) complain("`y` has a status that is neither 0 (censored) nor 1 (event)")
  if (!is.null(strata)) {
    if (length(strata) != n || anyNA(strata)) complain("`strata` must be ", n, " labels, none of them missing")
    strata <- factor(strata)
  }
  entry <- if (type == "counting") as.double(parts[, "start"])
  core <- list(kind = "cox", count = 1, time = as.double(parts[, if (type == "counting") "stop" else "time"]),
               event = as.integer(status), entry = entry, ties = ties,
               strata = if (!is.null(strata)) as.integer(strata) - 1L)
  list(core = core, y = y, outputs = 1L, strata = levels(strata))
}
