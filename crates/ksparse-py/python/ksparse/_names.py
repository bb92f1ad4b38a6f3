"""Parameters under the names that other packages have for them."""

from __future__ import annotations

from typing import Any

RIDGE = "alpha, the ridge: the mean loss plus alpha/2 times the squared norm of the coefficients is minimised"
#: What a name of scikit-learn, abess, glmnet, skscope or L0Learn is here.
MEANT = {
    "C": "alpha = 1/(n C), where n is the number of samples",
    "Cs": "alphas, the values 1/(n C)",
    "always_select": "keep",
    "exposure": "offset, the logarithm of the exposure, which fit takes",
    "intercept": "fit_intercept",
    "l1_ratio": "nothing here: there is no l1 penalty, k says how many coefficients are not zero",
    "lam": RIDGE,
    "lambda": RIDGE,
    "lambda_": RIDGE,
    "lambda2": RIDGE,
    "max_features": "k",
    "n_features_to_select": "k",
    "n_nonzero_coefs": "k",
    "n_threads": "n_jobs",
    "nfolds": "cv",
    "nonneg": "nonnegative",
    "normalize": "standardize",
    "path_type": "ks, the sizes to compare",
    "penalty_factor": "penalty_factors",
    "penalty": "nothing here: k takes the place of a penalty, and alpha is a ridge beside it",
    "positive": "nonnegative",
    "ridge": RIDGE,
    "seed": "random_state",
    "sparsity": "k",
    "splits": "cv",
    "support_size": "k (ks of the estimators that choose it)",
    "thread": "n_jobs",
}


class OtherNames:
    """An estimator that knows what other packages call its parameters: said where one of these is used."""

    def __new__(cls, *args: Any, **parameters: Any) -> Any:
        known = cls._get_param_names()  # type: ignore[attr-defined]
        for name in parameters:
            meant = MEANT.get(name)
            if name in known or meant is None:
                continue
            # What the hint names must be there.
            if meant.split()[0].strip(",") in (*known, "k", "nothing", "offset"):
                raise TypeError(f"{cls.__name__} has no parameter {name!r}; it is called {meant}.")
        return super().__new__(cls)
