# An interrupt is a signal to the process: a child of this one is sent it while it searches.
test_that("an interrupt ends a search that would take hours", {
  skip_on_cran()
  skip_on_os("windows")
  script <- tempfile(fileext = ".R")
  writeLines(c(
    "library(ksparse)", "set.seed(1)", "x <- matrix(rnorm(400 * 2000), 400)", "y <- rnorm(400)",
    "cat('ready', Sys.getpid(), '\\n', file = commandArgs(TRUE)[1])",
    "got <- tryCatch(ksparse(x, y, k = 40, lambda = 1e-3, solver = 'exact', family = 'gaussian'),",
    "                interrupt = function(cond) 'interrupted')",
    "cat(if (identical(got, 'interrupted')) 'interrupted' else 'finished', '\\n',",
    "    file = commandArgs(TRUE)[2])"), script)
  ready <- tempfile()
  ended <- tempfile()
  environment <- paste0("R_LIBS=", paste(.libPaths(), collapse = ":"))
  system2(file.path(R.home("bin"), "Rscript"), c(script, ready, ended), wait = FALSE, env = environment,
          stdout = FALSE, stderr = FALSE)
  wait_for <- function(file, seconds) {
    until <- Sys.time() + seconds
    while (Sys.time() < until && (!file.exists(file) || file.size(file) == 0)) Sys.sleep(0.05)
    skip_if_not(file.exists(file), "the child did not answer")
  }
  wait_for(ready, 60)
  Sys.sleep(2)
  child <- as.integer(strsplit(readLines(ready), " ")[[1]][2])
  tools::pskill(child, tools::SIGINT)
  wait_for(ended, 30)
  answer <- strsplit(readLines(ended), " ")[[1]]
  expect_identical(answer[1], "interrupted")
})
