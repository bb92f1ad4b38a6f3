# What users pass, checked: every complaint names the argument and says what to do.

complain <- function(...) stop(..., call. = FALSE)

is_whole <- function(v) is.numeric(v) && !anyNA(v) && all(is.finite(v)) && all(v == round(v))

check_flag <- function(v, name) {
  if (!is.logical(v) || length(v) != 1L || is.na(v)) complain("`", name, "` must be TRUE or FALSE")
  v
}

check_number <- function(v, name, least = 0, strict = FALSE) {
  ok <- is.numeric(v) && length(v) == 1L && is.finite(v) && (if (strict) v > least else v >= least)
  if (!ok) complain("`", name, "` is ", shown(v), ", but must be one number, ", if (strict) "above " else "at least ",
                    least)
  as.double(v)
}

check_count <- function(v, name, least = 1) {
  if (!is_whole(v) || length(v) != 1L || v < least) {
    complain("`", name, "` is ", shown(v), ", but must be one whole number, at least ", least)
  }
  as.double(v)
}

# A value in a few words, for messages.
shown <- function(v) {
  if (is.null(v)) return("NULL")
  if (!is.atomic(v)) return(paste0("of class ", class(v)[1L]))
  if (length(v) == 0L) return("empty")
  words <- paste(first_of(format(v, trim = TRUE, digits = 6), 4L), collapse = ", ")
  if (length(v) > 4L) paste0(words, ", ...") else words
}

first_of <- function(v, n) v[seq_len(min(n, length(v)))]

# How many coefficients: NULL for a range from the data.
check_k <- function(k) {
  if (is.null(k)) return(NULL)
  if (length(k) == 0L || !is_whole(k) || any(k < 0)) {
    complain("`k` is ", shown(k), ", but must be whole numbers, 0 or more: how many coefficients may be non-zero")
  }
  sort(unique(as.integer(pmin(k, .Machine$integer.max))))
}

# k beyond what there is mean all of it.
at_most_all <- function(k, units, what = "column", beside = FALSE) {
  if (is.null(k) || max(k) <= units) return(k)
  warning("`k` = ", max(k), " is more than the ", units, " ", what, if (units != 1L) "s",
          if (beside) " beside those kept", ": taking all of them", call. = FALSE)
  sort(unique(pmin(k, as.integer(units))))
}

check_lambda <- function(lambda) {
  if (is.null(lambda)) NULL else check_number(lambda, "lambda")
}

# Columns by name or by number, counted from 0.
check_columns <- function(columns, names, p, what) {
  if (is.null(columns)) return(integer())
  if (is.logical(columns)) {
    if (length(columns) != p) complain("`", what, "` has length ", length(columns), ", but `x` has ", p, " columns")
    columns <- which(columns)
  }
  if (is.character(columns)) {
    unknown <- setdiff(columns, names)
    if (length(unknown)) complain("`", what, "` names ", shown(unknown), ", which `x` has no column of")
    columns <- match(columns, names)
  }
  if (!is_whole(columns) || any(columns < 1) || any(columns > p)) {
    complain("`", what, "` is ", shown(columns), ", but must name columns of `x`, or number them from 1 to ", p)
  }
  sort(unique(as.integer(columns))) - 1L
}

# Groups as a list of columns counted from 0; NULL where every column stands alone.
check_groups <- function(groups, names, p) {
  if (is.null(groups)) return(NULL)
  if (is.list(groups)) {
    parts <- lapply(groups, check_columns, names = names, p = p, what = "groups")
  } else {
    if (length(groups) != p) {
      complain("`groups` has length ", length(groups), ", but `x` has ", p, " columns: give a label per column, or a ",
               "list of columns")
    }
    if (anyNA(groups)) complain("`groups` has missing labels: every column needs one")
    parts <- unname(split(seq_len(p) - 1L, match(groups, groups)))
  }
  twice <- unlist(parts)[duplicated(unlist(parts))]
  if (length(twice)) complain("`groups`: column ", names[twice[1L] + 1L], " stands twice; groups must not overlap")
  parts <- parts[lengths(parts) > 1L]
  if (length(parts)) parts else NULL
}

# What k counts: groups, and columns in none, less those kept.
countable <- function(p, groups, keep) {
  if (is.null(groups)) return(p - length(keep))
  free <- lapply(groups, setdiff, keep)
  sum(lengths(free) > 0L) + length(setdiff(seq_len(p) - 1L, c(unlist(groups), keep)))
}

check_weights <- function(weights, n) {
  if (is.null(weights)) return(NULL)
  if (!is.numeric(weights) || length(weights) != n) {
    complain("`weights` must be ", n, " numbers, one per row of `x`; there are ", length(weights))
  }
  if (anyNA(weights) || any(!is.finite(weights)) || any(weights < 0)) {
    complain("`weights` must not be missing, infinite or negative: give a row the weight 0 to leave it out")
  }
  if (sum(weights) <= 0) complain("`weights` are all 0: nothing is left to fit to")
  as.double(weights)
}

check_offset <- function(offset, n, name = "offset") {
  if (is.null(offset)) return(NULL)
  if (!is.numeric(offset) || length(offset) != n) {
    complain("`", name, "` must be ", n, " numbers, one per row; there are ", length(offset))
  }
  if (anyNA(offset) || any(!is.finite(offset))) complain("`", name, "` must not be missing or infinite")
  as.double(offset)
}

# What the ridge is multiplied by for each column.
check_factors <- function(factors, p) {
  if (is.null(factors)) return(NULL)
  if (!is.numeric(factors) || length(factors) != p) {
    complain("`penalty.factor` must be ", p, " numbers, one per column of `x`; there are ", length(factors))
  }
  if (anyNA(factors) || any(!is.finite(factors)) || any(factors <= 0)) {
    complain("`penalty.factor` must be above 0 and finite: 1e-6, say, leaves a column next to unpenalised, and `keep` ",
             "takes columns in whatever they do")
  }
  as.double(factors)
}

# What the coefficients add up to; NULL for anything.
check_total <- function(total, problem) {
  if (is.null(total)) return(NULL)
  if (!is.numeric(total) || length(total) != 1L || !is.finite(total)) {
    complain("`total` is ", shown(total), ", but must be one number: what the coefficients add up to")
  }
  if (problem$joint) complain("`total` is not for family = \"", problem$family, "\": leave it out")
  as.double(total)
}

# Bounds on the coefficients, one per column; NULL for none.
check_bounds <- function(nonnegative, lower, upper, p) {
  check_flag(nonnegative, "nonnegative")
  if (!nonnegative && is.null(lower) && is.null(upper)) return(NULL)
  spread <- function(bound, default, name) {
    if (is.null(bound)) bound <- default
    if (!is.numeric(bound) || anyNA(bound) || !length(bound) %in% c(1L, p)) {
      complain("`", name, "` must be one number, or one per column of `x` (", p, "), none of them missing")
    }
    rep_len(as.double(bound), p)
  }
  lower <- spread(lower, if (nonnegative) 0 else -Inf, "lower")
  upper <- spread(upper, Inf, "upper")
  if (nonnegative) lower <- pmax(lower, 0)
  if (any(lower > 0) || any(upper < 0)) complain("`lower` must be at most 0 and `upper` at least 0: 0 means left out")
  list(lower = lower, upper = upper)
}
