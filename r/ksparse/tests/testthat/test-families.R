glm_of <- function(fit, x, y, family) {
  used <- predict(fit, type = "nonzero")
  suppressWarnings(glm(y ~ ., family = family, data = data.frame(y = y, x[, used]),
                       control = list(epsilon = 1e-14, maxit = 100)))
}

test_that("binomial, poisson and gamma fits are those of glm on their columns", {
  d <- made(300)
  y <- list(binomial = rbinom(300, 1, plogis(d$eta)), poisson = rpois(300, exp(0.3 * d$eta)),
            gamma = rgamma(300, 2, scale = exp(0.3 * d$eta) / 2))
  families <- list(binomial = binomial(), poisson = poisson(), gamma = Gamma("log"))
  for (name in names(y)) {
    fit <- ksparse(d$x, y[[name]], k = 3, lambda = 0, family = name)
    peer <- glm_of(fit, d$x, y[[name]], families[[name]])
    used <- c("(Intercept)", predict(fit, type = "nonzero"))
    expect_equal(unname(coef(fit)[used, 1]), unname(coef(peer)), tolerance = 1e-6, info = name)
    expect_equal(deviance(fit), deviance(peer), tolerance = 1e-8, info = name)
    expect_equal(fit$nulldev, peer$null.deviance, tolerance = 1e-8, info = name)
    expect_equal(unname(fitted(fit)), unname(fitted(peer)), tolerance = 1e-6, info = name)
    for (type in c("response", "deviance", "pearson")) {
      expect_equal(unname(residuals(fit, type = type)), unname(residuals(peer, type = type)), tolerance = 1e-5)
    }
    if (name != "gamma") expect_equal(as.numeric(logLik(fit)), as.numeric(logLik(peer)), tolerance = 1e-8)
    expect_identical(coef(ksparse(d$x, y[[name]], k = 3, lambda = 0, family = families[[name]])), coef(fit))
  }
})

test_that("two classes may be called anything", {
  d <- made()
  hit <- d$eta + rnorm(d$n) > 0
  one <- ksparse(d$x, hit, k = 3, family = "binomial")
  words <- ksparse(d$x, factor(ifelse(hit, "yes", "no")), k = 3, family = "binomial")
  expect_identical(coef(one), coef(words))
  expect_identical(levels(predict(words, type = "class")), c("no", "yes"))
  expect_true(mean(predict(words, type = "class") == ifelse(hit, "yes", "no")) > 0.8)
  p <- predict(words, d$x, type = "response")
  expect_equal(p, plogis(predict(words, d$x)))
})

test_that("classes, ordered classes and several responses", {
  d <- made(300)
  of <- cut(d$eta + rlogis(300), c(-Inf, -1, 1, Inf), labels = c("low", "mid", "high"))
  fit <- ksparse(d$x, of, k = c(2, 3), family = "multinomial")
  p <- predict(fit, d$x, k = 3, type = "response")
  expect_equal(rowSums(p), rep(1, 300))
  expect_identical(colnames(p), levels(of))
  expect_equal(-2 * sum(log(p[cbind(seq_len(300), as.integer(of))])), deviance(fit, k = 3), tolerance = 1e-8)
  expect_identical(dim(predict(fit, d$x[1:4, ])), c(4L, 3L, 2L))
  expect_identical(dim(predict(fit, d$x[1, , drop = FALSE], k = 2)), c(1L, 3L))
  expect_named(coef(fit), levels(of))
  ordinal <- ksparse(d$x, ordered(of), k = 3, family = "ordinal")
  p <- predict(ordinal, d$x, type = "response")
  expect_equal(-2 * sum(log(p[cbind(seq_len(300), as.integer(of))])), deviance(ordinal), tolerance = 1e-8)
  expect_true(is.ordered(predict(ordinal, type = "class")))
  both <- cbind(a = d$eta, b = d$x[, 3]) + rnorm(600)
  several <- ksparse(d$x, both, k = 3, family = "mgaussian")
  by_lm <- lm(both ~ d$x[, predict(several, type = "nonzero")])
  expect_equal(unname(residuals(several)), unname(residuals(by_lm)), tolerance = 1e-7)
  expect_equal(deviance(several), sum(residuals(by_lm)^2), tolerance = 1e-8)
})

test_that("survival times are those of coxph on their columns", {
  skip_if_not_installed("survival")
  d <- made(300)
  time <- rexp(300, exp(0.5 * d$eta))
  y <- survival::Surv(round(time, 2) + 0.01, rbinom(300, 1, 0.7))
  for (ties in c("efron", "breslow")) {
    fit <- ksparse(d$x, y, k = 3, lambda = 0, ties = ties)
    used <- predict(fit, type = "nonzero")
    exact <- survival::coxph.control(eps = 1e-12, toler.chol = 1e-13)
    peer <- survival::coxph(y ~ d$x[, used], ties = ties, control = exact)
    expect_identical(fit$family, "cox")
    expect_equal(unname(coef(fit)[used, 1]), unname(coef(peer)), tolerance = 1e-6)
    expect_equal(as.numeric(logLik(fit)), peer$loglik[2], tolerance = 1e-8)
    expect_equal(-fit$nulldev / 2, peer$loglik[1], tolerance = 1e-8)
  }
  stratum <- rep(1:2, 150)
  strata <- survival::strata
  fit <- ksparse(d$x, y, k = 2, lambda = 0, strata = stratum)
  used <- predict(fit, type = "nonzero")
  peer <- survival::coxph(y ~ d$x[, used] + strata(stratum))
  expect_equal(unname(coef(fit)[used, 1]), unname(coef(peer)), tolerance = 1e-5)
  data <- data.frame(d$x[, 1:8], f = factor(rep(letters[1:3], 100)))
  grouped <- ksparse(y ~ ., data, k = 2)
  expect_identical(grouped$groups, list(9:10))
  expect_identical(grouped$family, "cox")
})
