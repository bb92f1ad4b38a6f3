SEXP savvy_core_certify__ffi(SEXP c_arg__data, SEXP c_arg__search, SEXP c_arg__model);
SEXP savvy_core_choose__ffi(SEXP c_arg__data, SEXP c_arg__search, SEXP c_arg__comparison);
SEXP savvy_core_choose_joint__ffi(SEXP c_arg__data, SEXP c_arg__search, SEXP c_arg__comparison);
SEXP savvy_core_fit__ffi(SEXP c_arg__data, SEXP c_arg__search);
SEXP savvy_core_fit_joint__ffi(SEXP c_arg__data, SEXP c_arg__search);
SEXP savvy_core_graph__ffi(SEXP c_arg__samples, SEXP c_arg__search);
SEXP savvy_core_lda__ffi(SEXP c_arg__samples, SEXP c_arg__search);
SEXP savvy_core_minimize__ffi(SEXP c_arg__function, SEXP c_arg__search);
