"""What the documentation of all estimators has in common, written once."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from typing import TypeVar

from ._core import SOLVER_OPTIONS

Class = TypeVar("Class", bound=type)
Function = TypeVar("Function", bound=Callable[..., object])

K = """k : int, float or None, default=None
    How many coefficients may be non-zero, beside the intercept and the columns in `keep`. A float in (0, 1] is a share
    of the columns. None is 5, or all columns where there are fewer. An int above the number of columns warns and means
    all of them."""

ALPHA = """alpha : float, default={alpha}
    The ridge: lambda in ``mean loss + (lambda / 2) ||w||^2``. The loss is a mean over samples, so alpha means the same
    at every n. The intercept is not penalised. With `standardize`, it acts on the coefficients of the standardised
    columns."""


def _options() -> str:
    """What solvers have for options, from the table of the core."""
    owners: dict[str, list[str]] = {}
    for solver, option, values, about, published in SOLVER_OPTIONS:
        paper = "" if published is None else f"; published: {published}"
        owners.setdefault(f"``{option}`` ({values}{paper}): {about}", []).append(f"'{solver}'")
    lines = [f"- {text} [{', '.join(solvers)}]" for text, solvers in owners.items()]
    return "\n".join(textwrap.fill(line, 116, initial_indent="    ", subsequent_indent="      ") for line in lines)


SEARCH = """solver : str, default='auto'
    One of ``ksparse.SOLVERS``. 'auto' is the one to use; the others are there to compare with.
fit_intercept : bool, default=True
    Whether to fit an intercept.
standardize : bool, default=False
    Whether to centre the columns and divide them by their standard deviation for the fit (a sparse matrix is not filled
    in). Coefficients come back in the units of X; `objective_` and alpha are in those of the standardised columns. The
    columns are centred without an intercept too, which then leaves its constant in `intercept_`.
keep : array-like of int, str or bool, default=None
    Columns that are always in, at no charge against k: their numbers (negative ones from
    the end), their names, or a mask.
penalty_factors : array-like or dict, default=None
    What alpha is multiplied by for each column: positive numbers, one per column, or a dict of some by column number or
    name (1 for the others). A small one hardly shrinks its column, a large one makes it dear to use.
groups : array-like or None, default=None
    Columns that are in or out together, of which k then counts the groups: a label for every column, or lists of
    columns by number or name (columns in none stand alone). Solvers that take groups: 'auto', 'exact', 'grahtp',
    'fgrahtp', 'htp', 'iht', 'grasp', 'fbs', 'foba', 'svrght', 'diht', 'sdiht'.
nonnegative : bool, default=False
    No coefficient below 0 (the intercept may be). With the solver 'auto'.
bounds : pair, dict or None, default=None
    What coefficients may be: (lower, upper), numbers or one per column, None for no bound, or a dict of such pairs by
    column. 0 must be allowed, since columns that are not selected have it. With the solver 'auto'; coefficients that a
    bound holds back are listed in `at_bounds_`.
total : float or None, default=None
    What the coefficients of the columns add up to, as 1 for the weights of a portfolio (with `nonnegative`, none of
    them short). For losses without corners.
tol : float or None, default=None
    Iterative methods stop when the point moves by less than this, relatively; 'diht', 'sdiht' and 'exact' when the gap
    to their bound is no more than this share of f, the first two also when neither side has moved by a tenth of that
    for 50 iterations. None is the method's own default: 1e-4, 1e-6 for 'exact'. 'auto', 'fbs' and 'foba' do not use it.
max_iter : int or None, default=None
    At most so many iterations. None is the method's own default: 1000, 50 for 'grasp', 100,000 nodes for 'exact', no
    limit for 'fbs' and 'foba'.
time_limit : float or None, default=None
    At most so many seconds; the best point so far is kept.
solver_options : dict or None, default=None
    Options of the solver. ``{{'published': True}}`` is the method as its paper has it: every option that has a
    published value below takes it, unless it is given too. 'auto', 'model-search', 'working-set' and 'exact' are this
    library's own and have no such form.

{options}
random_state : int, RandomState instance or None, default=None
    Seed of what is drawn at random: the blocks of 'sdiht', the batches of 'svrght', the folds of a number in `cv`. None
    is a fixed seed.
n_jobs : int or None, default=None
    Threads. None is one per core (or OMP_NUM_THREADS, where that is set, as in the workers of joblib); -1 is one per
    core; at most 64 are started, or four per core if that is more. The result does not depend on it.
device : str or None, default=None
    'cuda' (or 'cuda:1') copies X to that NVIDIA device, where its products are computed; None is the processor, or for
    an array of CuPy or PyTorch that lies on a device that device, nothing being copied.""".format(
    options=_options()
)

WARM_START = """warm_start : bool, default=False
    Whether to start from the coefficients of the last fit."""

CERTIFY = """certify : bool or int, default=False
    Whether to search for the best lower bound on f after the fit (an int: for so many epochs), as `ksparse.certify`
    does. False costs nothing and leaves the bound to what the solver knows: the dual ones and 'exact' know one."""

VERBOSE = """verbose : int, default=0
    1 shows the progress on stderr."""

ATTRIBUTES = """support_ : ndarray of int
    The columns in use, ascending.
n_iter_ : int
    Iterations: steps that were kept.
n_refits_ : int
    Minimisations on a set of columns, trials that were not kept included.
status_ : str
    Why the search stopped: 'support-stable', 'tolerance' and 'complete' are the method's own ends.
objective_ : float
    f at the solution, in the normalisation above.
lower_bound_ : float
    No model with at most k coefficients has a lower f. 0, which is true of every loss, unless `certify` is set or the
    solver knows better.
dual_gap_ : float
    ``objective_ - lower_bound_``: the fit is at most this far from the best.
dual_vector_ : ndarray of shape (n_samples,) or None
    The dual vector of the best bound, from 'diht' and 'sdiht'.
trace_ : dict of ndarray
    One entry per iteration: objective, seconds, step, refits so far, columns that entered and left.
n_features_in_ : int
    Columns seen in fit.
feature_names_in_ : ndarray of str
    Their names, where X has them: for a column of words those of its indicators, as 'city=Paris'.
categories_ : dict of ndarray
    The words of each column of words, where X is a data frame with such columns. The first has no indicator."""

NUMBERS = """coef_ : ndarray of shape (n_features,)
    Coefficients, at most k of them not zero beside those kept.
intercept_ : float
    The intercept."""

CLASSES = """coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
    Coefficients, at most k of them not zero in a row beside those kept. One row for two classes, one per class for
    more.
intercept_ : ndarray of shape (1,) or (n_classes,)
    The intercepts.
classes_ : ndarray of shape (n_classes,)
    Class labels."""

CLASS_WEIGHT = """class_weight : dict, 'balanced' or None, default=None
    Weights of the classes; 'balanced' is n_samples / (n_classes * samples of the class)."""

LOSS = """loss : {'squared_hinge', 'hinge'}, default='squared_hinge'
    The loss."""

WIDTH = """width : float or None, default=None
    Residuals beyond this count by their size, not by their square. None is 1.345 times the deviation of the target, by
    the median of
    the distances from its median."""

SCALE = """scale : float, default=1.0
    What multiplies the squared loss, or the margin of the logistic one. 1 is the usual loss; the papers behind the
    methods have 2: (y - z)^2 for dual ascent, log(1 + exp(-2 y z)) for GraHTP."""

GAMMA = """gamma : float, default=0.25
    Width of the smoothed corner of the hinge."""

CV = """ks : array-like or None, default=None
    The k to compare (ints or shares of the columns). None is from the data: 0 to 8, then geometrically up to what the
    rows can tell apart, and further while the best is the largest.
alphas : array-like or None, default=None
    The ridges to select columns under. None is from the data: multiples of the typical curvature of a column.
refit_alphas : array-like, 'same' or None, default=None
    The ridges to fit the coefficients of the selected columns under; those around the best are compared. 'same' is the
    one they were selected under. None is from the data, or 'same' where `alphas` are given.
cv : int, splitter, iterable, str or None, default=None
    How rows are split: a number of folds, a splitter of scikit-learn, or pairs of training and test rows. Folds of
    a number are shuffled by `random_state` (stratified for classifiers). None is 5 folds dealt 5 times below 250
    rows, where one deal decides as much as the data do, 5 folds dealt twice, or 3 from 1000 rows on. 'aic', 'bic',
    'ebic' and 'gic' choose by an information criterion on all rows instead, among `ks` and `alphas` (without them
    one ridge as small as the loss can do with); losses that are no likelihood have none.
scoring : str, callable or None, default=None
    A scorer of scikit-learn. None is minus the deviance, twice the mean loss on the rows held out.
rule : {'lean', 'best', '1se'}, default='lean'
    'best' takes the cell with the best mean score; 'lean' the smallest k nearly as good: within a tenth of a standard
    error, or 0.1 % (of the deviance of labels 3 %) of what the best gains over a model without columns, scores of
    labels smoothed over neighbouring k and the strongest ridge preferred unless another is clearly better; '1se' the
    smallest k (then the largest ridge) within one standard error of the best.
resamples : int, default=0
    Fit the choice to so many random halves of the rows as well (each class halved by itself): `frequencies_` then
    counts how often they select each column.
ensemble : bool, default=False
    Take the average of the models of those halves (50, unless `resamples` says otherwise), their columns united: more
    than k columns, and steadier predictions where correlated columns stand in for each other."""

CV_ATTRIBUTES = """k_ : int
    The k chosen.
alpha_ : float
    The ridge the coefficients are fitted under.
select_alpha_ : float
    The ridge the columns are selected under.
best_score_ : float
    The mean score of the choice.
cv_results_ : dict of ndarray
    For each cell: params, param_k, param_alpha, param_select_alpha, mean_test_score, std_test_score, rank_test_score,
    std_error (of the mean) and split0_test_score, split1_test_score, ... Cells that could not win were not scored and
    are not listed.
frequencies_ : ndarray of shape (n_features,) or (n_classes, n_features)
    For each column, the share of the splits that select it at the chosen k; with `resamples` (or `ensemble`) the share
    of that many random halves of the rows.
alternatives_ : list of (ndarray of int, float)
    Other supports of the chosen size that the splits have led to, with f on all rows under `select_alpha_`, best first
    (a list of them, one per class, for three classes and more).
notes_ : list of str
    Ends of the ranges compared at which the choice lies.
path_ : PathResult
    For every k compared, what the quick search finds on all rows under `select_alpha_`; the chosen one solved in full
    (a list of them, one per class or response, for three classes and more and for several responses)."""


LEVELS = """levels : array-like or None, default=None
    The labels in their order, the lowest first. None is the order of numbers, or that of the alphabet."""

TIES = """ties : {'efron', 'breslow'}, default='efron'
    What to do where several events share a time: take them out of the risk set one after the other, each as an even
    share of all of them, or not at all."""

#: Where a choice for more than a number per row differs from other choices.
JOINT_CV = """cv : int, splitter, iterable or None, default=None
    How rows are split: a number of folds, a splitter of scikit-learn, or pairs of training and test rows. Folds of a
    number are shuffled by `random_state`, with even shares of classes and of events. None is 5 folds dealt 5
    times below 250 rows, 5 dealt twice, or 3 from 1000 rows on.
scoring : str or None, default=None
    What is measured on the rows held out. Survival times: 'concordance' (None), or 'deviance', what they add to twice
    the mean partial log-likelihood of the others. Classes: 'deviance' (None) or 'error'. Responses: 'mse' (None)."""

#: Attributes of fits for which no lower bound is known.
UNBOUNDED = ("lower_bound_", "dual_gap_", "dual_vector_")


AT_TIMES = """Parameters
----------
X : array-like or sparse matrix of shape (n_samples, n_features)
times : array-like of shape (n_times,), default=None
    When; None is `unique_times_`.
strata : array-like of shape (n_samples,), default=None
    The stratum of every row, where the model was fitted with strata.

Returns
-------
{result} : ndarray of shape (n_samples, n_times)"""


#: Parameters that single estimators have.
OWN = (("loss", LOSS), ("gamma", GAMMA), ("width", WIDTH), ("scale", SCALE), ("ties", TIES), ("levels", LEVELS))


def _entries(text: str, wanted: Callable[[str], bool]) -> list[str]:
    """The entries of a list of parameters or attributes whose names are wanted."""
    lines: list[str] = []
    taken = False
    for line in text.splitlines():
        if line and not line.startswith(" "):
            taken = wanted(line.split(" :")[0])
        if taken:
            lines.append(line)
    return lines


def _joint_choice() -> list[str]:
    """The parameters of a choice for more than a number per row."""
    return [*_entries(CV, lambda name: name not in ("cv", "scoring")), JOINT_CV]


def documented(cls: Class) -> Class:
    """Adds parameters and attributes to the docstring of an estimator: after attributes of its own, before examples."""
    taken = inspect.signature(cls.__init__).parameters  # type: ignore[misc]
    defaults = {name: parameter.default for name, parameter in taken.items()}
    own = [text for name, text in OWN if name in defaults]
    classes, joint = "class_weight" in defaults, "certify" not in defaults
    common = [SEARCH, CLASS_WEIGHT] if classes else [SEARCH]
    # Estimators with several outputs, or none but a risk, say themselves what their coefficients are.
    coefficients = [CLASSES] if classes else [] if joint else [NUMBERS]
    attributes = [*coefficients, ATTRIBUTES]
    if "ks" in defaults:
        parameters = [*(_joint_choice() if joint else [CV]), *own, *common, CERTIFY, VERBOSE]
        attributes = [*coefficients, CV_ATTRIBUTES, ATTRIBUTES]
    else:
        parameters = [K, *own, ALPHA.format(alpha=defaults["alpha"]), *common, WARM_START, CERTIFY, VERBOSE]
    parameters = ["\n".join(_entries(text, lambda name: name in defaults)) for text in parameters]
    if joint:
        attributes = ["\n".join(_entries(text, lambda name: name not in UNBOUNDED)) for text in attributes]
    outline, _, examples = inspect.cleandoc(cls.__doc__ or "").partition(f"\n\n{_title('Examples')}")
    outline, _, of_its_own = outline.partition(f"\n\n{_title('Attributes')}")
    sections = {"Parameters": parameters, "Attributes": [of_its_own, *attributes], "Examples": [examples]}
    said = {name: "\n".join(entry for entry in entries if entry) for name, entries in sections.items()}
    cls.__doc__ = "\n\n".join([outline, *(_title(name) + text for name, text in said.items() if text)])
    return cls


def described(sections: str) -> Callable[[Function], Function]:
    """Adds sections to the docstring of a function."""

    def add(function: Function) -> Function:
        function.__doc__ = f"{inspect.cleandoc(function.__doc__ or '')}\n\n{sections}"
        return function

    return add


def _title(section: str) -> str:
    """How a section begins."""
    return f"{section}\n{'-' * len(section)}\n"
