
// clang-format sorts includes unless SortIncludes: Never. However, the ordering
// does matter here. So, we need to disable clang-format for safety.

// clang-format off
#include <stdint.h>
#include <Rinternals.h>
#include <R_ext/Parse.h>
// clang-format on

#include "rust/api.h"

static uintptr_t TAGGED_POINTER_MASK = (uintptr_t)1;

SEXP handle_result(SEXP res_) {
    uintptr_t res = (uintptr_t)res_;

    // An error is indicated by tag.
    if ((res & TAGGED_POINTER_MASK) == 1) {
        // Remove tag
        SEXP res_aligned = (SEXP)(res & ~TAGGED_POINTER_MASK);

        // Currently, there are two types of error cases:
        //
        //   1. Error from Rust code
        //   2. Error from R's C API, which is caught by R_UnwindProtect()
        //
        if (TYPEOF(res_aligned) == CHARSXP) {
            // In case 1, the result is an error message that can be passed to
            // Rf_errorcall() directly.
            Rf_errorcall(R_NilValue, "%s", CHAR(res_aligned));
        } else {
            // In case 2, the result is the token to restart the
            // cleanup process on R's side.
            R_ContinueUnwind(res_aligned);
        }
    }

    return (SEXP)res;
}

SEXP savvy_core_certify__impl(SEXP c_arg__data, SEXP c_arg__search, SEXP c_arg__model) {
    SEXP res = savvy_core_certify__ffi(c_arg__data, c_arg__search, c_arg__model);
    return handle_result(res);
}

SEXP savvy_core_choose__impl(SEXP c_arg__data, SEXP c_arg__search, SEXP c_arg__comparison) {
    SEXP res = savvy_core_choose__ffi(c_arg__data, c_arg__search, c_arg__comparison);
    return handle_result(res);
}

SEXP savvy_core_choose_joint__impl(SEXP c_arg__data, SEXP c_arg__search, SEXP c_arg__comparison) {
    SEXP res = savvy_core_choose_joint__ffi(c_arg__data, c_arg__search, c_arg__comparison);
    return handle_result(res);
}

SEXP savvy_core_fit__impl(SEXP c_arg__data, SEXP c_arg__search) {
    SEXP res = savvy_core_fit__ffi(c_arg__data, c_arg__search);
    return handle_result(res);
}

SEXP savvy_core_fit_joint__impl(SEXP c_arg__data, SEXP c_arg__search) {
    SEXP res = savvy_core_fit_joint__ffi(c_arg__data, c_arg__search);
    return handle_result(res);
}

SEXP savvy_core_graph__impl(SEXP c_arg__samples, SEXP c_arg__search) {
    SEXP res = savvy_core_graph__ffi(c_arg__samples, c_arg__search);
    return handle_result(res);
}

SEXP savvy_core_lda__impl(SEXP c_arg__samples, SEXP c_arg__search) {
    SEXP res = savvy_core_lda__ffi(c_arg__samples, c_arg__search);
    return handle_result(res);
}

SEXP savvy_core_minimize__impl(SEXP c_arg__function, SEXP c_arg__search) {
    SEXP res = savvy_core_minimize__ffi(c_arg__function, c_arg__search);
    return handle_result(res);
}


static const R_CallMethodDef CallEntries[] = {
    {"savvy_core_certify__impl", (DL_FUNC) &savvy_core_certify__impl, 3},
    {"savvy_core_choose__impl", (DL_FUNC) &savvy_core_choose__impl, 3},
    {"savvy_core_choose_joint__impl", (DL_FUNC) &savvy_core_choose_joint__impl, 3},
    {"savvy_core_fit__impl", (DL_FUNC) &savvy_core_fit__impl, 2},
    {"savvy_core_fit_joint__impl", (DL_FUNC) &savvy_core_fit_joint__impl, 2},
    {"savvy_core_graph__impl", (DL_FUNC) &savvy_core_graph__impl, 2},
    {"savvy_core_lda__impl", (DL_FUNC) &savvy_core_lda__impl, 2},
    {"savvy_core_minimize__impl", (DL_FUNC) &savvy_core_minimize__impl, 2},
    {NULL, NULL, 0}
};

void R_init_ksparse(DllInfo *dll) {
    R_registerRoutines(dll, NULL, CallEntries, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);

    // Functions for initialization, if any.

}
