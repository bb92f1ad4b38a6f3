library(testthat)
library(ksparse)

test_check("ksparse")
