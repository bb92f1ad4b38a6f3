# The figures of the vignette: three real sets, random splits, ksparse beside glmnet.
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

methods <- list(
  "ksparse, lean" = function(set, rows) {
    fit <- cv.ksparse(set$x[rows, ], set$y[rows], family = set$family, rule = "lean")
    list(used = length(predict(fit, type = "nonzero")), link = function(x) predict(fit, x))
  },
  "ksparse, best" = function(set, rows) {
    fit <- cv.ksparse(set$x[rows, ], set$y[rows], family = set$family, rule = "best")
    list(used = length(predict(fit, type = "nonzero")), link = function(x) predict(fit, x))
  },
  "glmnet, lambda.min" = function(set, rows) by_glmnet(set, rows, "lambda.min"),
  "glmnet, lambda.1se" = function(set, rows) by_glmnet(set, rows, "lambda.1se"))

by_glmnet <- function(set, rows, s) {
  fit <- cv.glmnet(set$x[rows, ], set$y[rows], family = set$family, nfolds = 5)
  list(used = fit$nzero[[fit$index[if (s == "lambda.min") 1 else 2]]],
       link = function(x) predict(fit, x, s = s)[, 1])
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
      seconds <- system.time(fit <- methods[[name]](set, train))[["elapsed"]]
      error <- error_of(set, fit$link(set$x[-train, ]), -train)
      found[[length(found) + 1]] <- data.frame(method = name, error = error, used = fit$used, seconds = seconds)
    }
  }
  found <- do.call(rbind, found)
  cat(set$name, ": ", n, " rows, ", ncol(set$x), " columns, ", splits, " splits\n", sep = "")
  for (name in names(methods)) {
    of <- found[found$method == name, ]
    cat(sprintf("  %-20s error %.4f (se %.4f)  columns %.1f  seconds %.2f\n", name, mean(of$error),
                sd(of$error) / sqrt(splits), mean(of$used), median(of$seconds)))
  }
}
