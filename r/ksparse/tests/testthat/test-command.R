# The package and the command are two doors of one core: the same columns, and coefficients to 1e-10.
command <- Sys.getenv("KSPARSE_COMMAND")

# A table that the command reads as R holds it.
written <- function(...) {
  file <- tempfile(fileext = ".csv")
  columns <- lapply(list(...), function(part) {
    if (is.matrix(part)) part else matrix(part, ncol = 1L)
  })
  cells <- do.call(cbind, lapply(columns, function(part) {
    if (is.numeric(part)) array(sprintf("%.17g", part), dim(part)) else part
  }))
  named <- function(name, part) if (is.null(colnames(part))) name else colnames(part)
  names <- unlist(Map(named, names(columns), columns))
  writeLines(c(paste(names, collapse = ","), apply(cells, 1L, paste, collapse = ",")), file)
  file
}

asked <- function(file, ..., as = "fit") {
  answer <- system2(command, c(as, file, ..., "--json"), stdout = TRUE)
  jsonlite::fromJSON(paste(answer, collapse = "\n"))
}

expect_agreement <- function(fit, answer, label) {
  used <- as.integer(answer$support) + 1L
  beta <- if (is.list(fit$beta)) fit$beta else list(fit$beta)
  expect_identical(sort(which(Reduce(`|`, lapply(beta, function(b) b[, 1L] != 0)))) |> unname(), used, label = label)
  ours <- vapply(beta, function(b) b[used, 1L], numeric(length(used)))
  theirs <- if (is.matrix(answer$coefficients)) t(answer$coefficients) else answer$coefficients
  expect_lt(max(abs(as.vector(ours) - as.vector(theirs))), 1e-10, label = label)
  intercepts <- if (is.null(answer$intercepts)) answer$intercept else answer$intercepts
  if (!is.null(intercepts) && fit$intercept) {
    a0 <- if (is.matrix(fit$a0)) fit$a0[, 1L] else fit$a0[[1L]]
    expect_lt(max(abs(a0 - intercepts)), 1e-10, label = label)
  }
}

test_that("twenty fits are those of the command", {
  skip_if(command == "", "KSPARSE_COMMAND does not name the command")
  skip_if_not_installed("jsonlite")
  d <- made(150, 30, seed = 5)
  x <- d$x
  thin <- x * (abs(x) > 1.2)
  s <- methods::as(Matrix::Matrix(thin, sparse = TRUE), "CsparseMatrix")
  eta <- x[, 3] - 2 * x[, 7] + 0.8 * x[, 9]
  w <- rep(c(1, 2, 0.5), 50)
  o <- sin(seq_len(150))
  y <- list(gaussian = eta + rnorm(150), binomial = rbinom(150, 1, plogis(eta)), poisson = rpois(150, exp(0.4 * eta)),
            gamma = rgamma(150, 2, scale = exp(0.4 * eta) / 2))
  loss <- c(gaussian = "squared", binomial = "logistic", poisson = "poisson", gamma = "gamma")
  groups <- tempfile()
  writeLines(vapply(split(colnames(x), rep(1:10, each = 3)), paste, "", collapse = ","), groups)
  count <- 0L
  agree <- function(label, fit, answer) {
    count <<- count + 1L
    expect_agreement(fit, answer, label)
  }
  for (family in names(y)) {
    target <- y[[family]]
    basic <- c("--target", "y", "--loss", loss[[family]])
    agree(paste(family, "dense"), ksparse(x, target, k = 3, family = family),
          asked(written(y = target, x = x), basic, "-k", 3))
    agree(paste(family, "sparse"), ksparse(s, target, k = 4, family = family),
          asked(written(y = target, x = thin), basic, "-k", 4))
    # Two classes take no offset.
    plain <- family == "binomial"
    agree(paste(family, "weights, offset"),
          ksparse(x, target, k = 3, family = family, weights = w, offset = if (!plain) o),
          asked(written(y = target, w = w, o = o, x = x), basic, "--weights", "w", if (plain) c("--drop", "o") else
            c("--offset", "o"), "-k", 3))
  }
  file <- written(y = y$gaussian, x = x)
  agree("keep", ksparse(x, y$gaussian, k = 2, keep = c("g1", "g2")),
        asked(file, "--target", "y", "-k", 2, "--keep", "g1,g2"))
  agree("groups", ksparse(x, y$gaussian, k = 2, groups = rep(1:10, each = 3)),
        asked(file, "--target", "y", "-k", 2, "--groups", groups))
  agree("nonnegative", ksparse(x, y$gaussian, k = 3, nonnegative = TRUE),
        asked(file, "--target", "y", "-k", 3, "--nonnegative"))
  agree("ridge, standardised", ksparse(x, y$gaussian, k = 5, lambda = 0.05, standardize = TRUE),
        asked(file, "--target", "y", "-k", 5, "--lambda", 0.05, "--standardize"))
  of <- cut(eta + rlogis(150), c(-Inf, -1, 1, Inf), labels = c("low", "mid", "top"))
  file <- written(y = as.character(of), x = x)
  agree("multinomial", ksparse(x, of, k = 3, family = "multinomial"), asked(file, "--target", "y", "-k", 3))
  agree("ordinal", ksparse(x, ordered(of), k = 3, family = "ordinal"),
        asked(file, "--target", "y", "--loss", "ordinal", "--levels", "low,mid,top", "-k", 3))
  time <- rexp(150, exp(eta))
  event <- rbinom(150, 1, 0.7)
  file <- written(time = time, event = event, w = w, x = x)
  times <- cbind(time = time, status = event)
  cox <- c("--time", "time", "--event", "event")
  agree("cox", ksparse(x, times, k = 3, family = "cox", weights = w), asked(file, cox, "--weights", "w", "-k", 3))
  agree("cox, breslow", ksparse(x, times, k = 2, family = "cox", ties = "breslow"),
        asked(file, cox, "--drop", "w", "--ties", "breslow", "-k", 2))
  # The command takes one response; two that are multiples of each other have its columns and multiples of its
  # coefficients.
  twice <- ksparse(x, cbind(once = y$gaussian, thrice = 3 * y$gaussian), k = 3, family = "mgaussian")
  one <- asked(written(y = y$gaussian, x = x), "--target", "y", "-k", 3)
  for (name in c("once", "thrice")) {
    part <- list(beta = twice$beta[[name]] / c(once = 1, thrice = 3)[[name]],
                 a0 = twice$a0[name, ] / c(once = 1, thrice = 3)[[name]], intercept = TRUE)
    agree(paste("mgaussian,", name), part, one)
  }
  # Sparse matrices with everything at once, and of the other families.
  labels <- rep(1:10, each = 3)
  agree("sparse, weights, offset, groups, keep",
        ksparse(s, y$poisson, k = 2, family = "poisson", weights = w, offset = o, groups = labels, keep = "g30"),
        asked(written(y = y$poisson, w = w, o = o, x = thin), "--target", "y", "--loss", "poisson", "--weights", "w",
              "--offset", "o", "--groups", groups, "--keep", "g30", "-k", 2))
  agree("multinomial, sparse, keep, weights",
        ksparse(s, of, k = 2, family = "multinomial", weights = w, keep = 5),
        asked(written(y = as.character(of), w = w, x = thin), "--target", "y", "--weights", "w", "--keep", "g5",
              "-k", 2))
  agree("cox, sparse, keep", ksparse(s, times, k = 2, family = "cox", keep = "g1"),
        asked(written(time = time, event = event, x = thin), cox, "--keep", "g1", "-k", 2))
  expect_gte(count, 20L)
})

test_that("a choice is that of the command, folds and all", {
  skip_if(command == "", "KSPARSE_COMMAND does not name the command")
  skip_if_not_installed("jsonlite")
  d <- made(150, 30, seed = 6)
  y <- d$eta + 2 * rnorm(150)
  hit <- as.integer(y > 0)
  for (rule in c("lean", "best", "1se")) {
    cv <- cv.ksparse(d$x, y, rule = rule, seed = 1)
    answer <- asked(written(y = y, x = d$x), "--target", "y", "--rule", rule, as = "path")$chosen
    expect_agreement(cv$fits[[rule]], answer, rule)
    expect_equal(cv$lambda, answer$lambda, tolerance = 1e-12)
  }
  cv <- cv.ksparse(d$x, hit, family = "binomial", seed = 3, type.measure = "auc")
  answer <- asked(written(y = hit, x = d$x), "--target", "y", "--metric", "auc", "--seed", 3, as = "path")$chosen
  expect_agreement(cv$fits$lean, answer, "auc")
})
