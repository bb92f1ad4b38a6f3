# The figures of the vignette: three real sets, random splits, ksparse beside glmnet and, where it is installed, abess.
#   Rscript r/study.R FOLDER [splits [set ...]]
# FOLDER holds riboflavin.csv.xz, colon-cancer.svm.xz, breast_GSE7390.csv.xz; the sets are all of them by default.
suppressMessages({
  library(ksparse)
  library(glmnet)
  library(survival)
})

folder <- commandArgs(TRUE)[1]
splits <- if (length(commandArgs(TRUE)) > 1) as.integer(commandArgs(TRUE)[2]) else 10

riboflavin <- function() {
  data <- read.csv(xzfile(file.path(folder, "riboflavin.csv.xz")))
  list(name = "riboflavin", x = as.matrix(data[, -1]), y = data$y, family = "gaussian")
}

colon <- function() {
  lines <- strsplit(readLines(xzfile(file.path(folder, "colon-cancer.svm.xz"))), " ")
  x <- t(vapply(lines, function(line) as.numeric(sub(".*:", "", line[-1])), numeric(2000)))
  colnames(x) <- paste0("gene", 1:2000)
  list(name = "colon", x = x, y = as.integer(vapply(lines, `[`, "", 1) == "+1"), family = "binomial")
}

breast <- function() {
  data <- read.csv(xzfile(file.path(folder, "breast_GSE7390.csv.xz")), stringsAsFactors = TRUE)
  x <- model.matrix(~ . - t.tdm - e.tdm, data)[, -1]
  list(name = "breast_GSE7390", x = x, y = Surv(data$t.tdm, data$e.tdm), family = "cox")
}

# Mean squared error, share of wrong classes, one minus the concordance.
error_of <- function(set, z, rows) {
  switch(set$family, gaussian = mean((set$y[rows] - z)^2), binomial = mean((z > 0) != set$y[rows]),
         cox = 1 - concordance(set$y[rows] ~ z, reverse = TRUE)$concordance)
}

# Each chooses and fits once, and may offer several models: how many columns each uses, and its linear predictor.
methods <- list(
  ksparse = function(set, rows) {
    fit <- cv.ksparse(set$x[rows, ], set$y[rows], family = set$family)
    lapply(c("rule lean" = "k.lean", "rule best" = "k.min"), function(s) {
      list(used = length(predict(fit, s = s, type = "nonzero")), link = function(x) predict(fit, x, s = s))
    })
  },
  glmnet = function(set, rows) {
    fit <- cv.glmnet(set$x[rows, ], set$y[rows], family = set$family, nfolds = 5)
    Map(function(s, at) list(used = fit$nzero[[fit$index[at]]], link = function(x) predict(fit, x, s = s)[, 1]),
        c(lambda.min = "lambda.min", lambda.1se = "lambda.1se"), 1:2)
  })
# The R package of abess, where there is one.
if (requireNamespace("abess", quietly = TRUE)) {
  methods$abess <- function(set, rows) {
    lapply(c("tuned by cv" = "cv", "tuned by gic" = "gic"), function(tuned) {
      y <- if (set$family == "cox") unclass(set$y[rows])[, c("time", "status")] else set$y[rows]
      fit <- abess::abess(set$x[rows, ], y, family = set$family, tune.type = tuned, nfolds = 5)
      list(used = length(abess::extract(fit)$support.vars),
           link = function(x) predict(fit, x, type = "link", support.size = fit[["best.size"]])[, 1])
    })
  }
}

sets <- list(riboflavin = riboflavin, colon = colon, breast = breast)
wanted <- commandArgs(TRUE)[-(1:2)]
for (make in if (length(wanted)) sets[wanted] else sets) {
  set <- make()
  n <- nrow(set$x)
  found <- list()
  for (split in seq_len(splits)) {
    set.seed(split)
    train <- sort(sample.int(n, round(0.75 * n)))
    for (name in names(methods)) {
      set.seed(split)
      spent <- system.time(models <- methods[[name]](set, train))
      for (model in names(models)) {
        error <- error_of(set, models[[model]]$link(set$x[-train, ]), -train)
        found[[length(found) + 1]] <- data.frame(method = paste(name, model, sep = ", "), error = error,
                                                 used = models[[model]]$used, elapsed = spent[["elapsed"]],
                                                 processor = spent[["user.self"]] + spent[["sys.self"]])
      }
    }
  }
  found <- do.call(rbind, found)
  cat(set$name, ": ", n, " rows, ", ncol(set$x), " columns, ", splits, " splits; medians of seconds\n", sep = "")
  for (name in unique(found$method)) {
    of <- found[found$method == name, ]
    cat(sprintf("  %-20s error %.4f (se %.4f)  columns %.1f  seconds %.2f, of the processor %.2f\n", name,
                mean(of$error), sd(of$error) / sqrt(splits), mean(of$used), median(of$elapsed), median(of$processor)))
  }
}
