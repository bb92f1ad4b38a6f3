//! What to use instead, for options that other programs have.

use clap::Error;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Options that people try, and what does that here.
const MEANT: [(&str, &str); 6] = [
    ("--alpha", "the ridge is called --lambda, in `f = mean loss + lambda/2 ||w||^2`"),
    ("--alphas", "several ridges are compared by `ksparse path --lambdas A,B,C`"),
    ("--C", "the ridge is --lambda; a cost C of liblinear is --lambda 1/(n C) with n rows"),
    ("--folds", "the number of folds is --cv 5, of `ksparse path` and of `ksparse fit -k auto`"),
    ("--family", "the family of the target is its --loss: logistic, squared, poisson, ... (`ksparse fit --help`)"),
    ("--output", "results are written by -o FILE"),
];

/// Who does not say k may not know it.
const WITHOUT_K: &str = "`-k auto` chooses k and the ridges by cross-validation; `ksparse path` compares all k";

/// Adds to the refusal of an unknown option what is meant by it, and to that of a missing k who chooses one.
pub fn at_what_is_meant(refusal: &mut Error) {
    if refusal.kind() == ErrorKind::MissingRequiredArgument {
        let Some(ContextValue::Strings(missing)) = refusal.get(ContextKind::InvalidArg) else { return };
        let fits = std::env::args().any(|word| word == "fit");
        if fits && missing.iter().any(|name| name.starts_with("-k ")) {
            refusal.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(WITHOUT_K)]));
        }
        return;
    }
    if refusal.kind() != ErrorKind::UnknownArgument {
        return;
    }
    let Some(ContextValue::String(given)) = refusal.get(ContextKind::InvalidArg) else { return };
    let name = given.split('=').next().unwrap_or_default();
    let Some((_, meant)) = MEANT.iter().find(|(option, _)| *option == name) else { return };
    refusal.remove(ContextKind::SuggestedArg);
    let tip = ContextValue::StyledStrs(vec![StyledStr::from(*meant)]);
    refusal.insert(ContextKind::Suggested, tip);
}
