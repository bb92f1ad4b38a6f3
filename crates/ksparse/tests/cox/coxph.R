# Values for the test `coxph_agrees`: R's survival::coxph on rows that both sides make by the same formulas.
#
#   Rscript coxph.R > coxph.csv
#
# For every choice of ties, entries, strata and weights: the log-likelihood, its gradient and the information at a given
# point (one row each), and the coefficients where it is largest.
suppressPackageStartupMessages(library(survival))
n <- 60
i <- seq_len(n) - 1
x <- cbind(sin(1.3 * i), cos(0.7 * i + 1), ((7 * i) %% 11) / 5 - 1)
time <- 1 + (13 * i) %% 17
event <- as.numeric((5 * i) %% 7 > 1)
entry <- time * ((3 * i) %% 4) / 5
stratum <- i %% 3
weight <- 1 + i %% 4
at <- c(0.4, -0.3, 0.2)
options(warn = -1)
cat("ties,entries,strata,weights,what,a,b,c\n")
row <- function(case, what, numbers) {
    cat(paste(c(case, what, sprintf("%.15g", numbers)), collapse = ","), "\n", sep = "")
}
for (ties in c("breslow", "efron")) for (kind in 0:7) {
    entries <- bitwAnd(kind, 1) > 0; strata <- bitwAnd(kind, 2) > 0; weights <- bitwAnd(kind, 4) > 0
    y <- if (entries) Surv(entry, time, event) else Surv(time, event)
    w <- if (weights) weight else rep(1, n)
    formula <- if (strata) y ~ x + strata(stratum) else y ~ x
    fit <- function(...) coxph(formula, weights = w, ties = ties, control = coxph.control(eps = 1e-13, ...), init = at)
    here <- fit(iter.max = 0)
    case <- c(ties, as.integer(c(entries, strata, weights)))
    row(case, "value", c(here$loglik[1], 0, 0))
    row(case, "gradient", colSums(as.matrix(residuals(here, type = "score", weighted = TRUE))))
    information <- solve(here$var)
    for (a in 1:3) row(case, paste0("information", a), information[a, ])
    row(case, "coefficients", coef(fit(iter.max = 50)))
}
