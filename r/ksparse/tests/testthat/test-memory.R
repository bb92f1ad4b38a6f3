test_that("the wrappers hold under gctorture", {
  skip_on_cran()
  d <- made(30, 10)
  s <- sparse_of(d$x)
  expected <- ksparse(s, d$eta, k = 1:2, nthreads = 1)$beta
  of <- rep(1:3, 10)
  classes <- cut(d$eta, 2, labels = c("a", "b"))
  core <- function(y, family, k) {
    problem <- ksparse:::problem_of(s, y, family, NULL, NULL, TRUE, FALSE, NULL, "efron", NULL)
    ksparse:::search_of(problem, k, NULL, NULL, NULL, FALSE, NULL, NULL, "auto", NULL, 1, FALSE, ksparse_control())
    list(problem, ksparse:::search_of(problem, k, NULL, NULL, NULL, FALSE, NULL, NULL, "auto", NULL, 1, FALSE,
                                      ksparse_control())$core)
  }
  one <- core(d$eta, "gaussian", 1:2)
  several <- core(classes, "multinomial", 1:2)
  comparison <- list(k = 1:2, lambda = 0.1, foldid = of - 1L, rule = "best", resamples = 0, rows = 30)
  both <- function(x) c(sum((x - 1)^2), 2 * (x - 1))
  gctorture(TRUE)
  on.exit(gctorture(FALSE))
  fit <- ksparse:::core_fit(one[[1]]$core, one[[2]])
  joint <- ksparse:::core_fit_joint(several[[1]]$core, several[[2]])
  choice <- ksparse:::core_choose(one[[1]]$core, one[[2]], comparison)
  minimum <- ksparse:::core_minimize(list(dim = 3, both = both), modifyList(one[[2]], list(k = 1L)))
  refused <- tryCatch(ksparse:::core_fit(modifyList(one[[1]]$core, list(loss = "none")), one[[2]]),
                      error = conditionMessage)
  gctorture(FALSE)
  expect_equal(unlist(fit$models$coef), expected@x)
  expect_length(joint$models$coef, 2)
  expect_length(choice$k, 2)
  expect_equal(minimum[[1]]$objective, 2)
  expect_match(refused, "none")
})

resident <- function() {
  status <- readLines("/proc/self/status")
  as.numeric(gsub("[^0-9]", "", grep("^VmRSS", status, value = TRUE)))
}

test_that("a thousand fits do not grow the process", {
  skip_on_cran()
  skip_if_not(file.exists("/proc/self/status"))
  d <- made(50, 40)
  # What could grow is the way in and out, so a quick search will do.
  fits <- function(n) for (i in seq_len(n)) ksparse(d$x, d$eta, k = 3, solver = "grahtp", nthreads = 2)
  fits(200)
  gc()
  before <- resident()
  fits(1000)
  gc()
  expect_lt(resident() - before, 20000)
})
