//! `ksparse show`: what a model file holds.

use crate::failure::Result;
use crate::joint;
use crate::model_file::{self, AnyModel};
use crate::outcome::{add_labels, coefficients};
use crate::report::{Facts, significant};
use crate::screen::Screen;
use std::path::PathBuf;

/// Show a model: its coefficients, the largest first, and how it came about
#[derive(Debug, clap::Args)]
pub struct ShowArgs {
    /// A model that `ksparse fit` or `ksparse path` wrote
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// Print the model file itself, checked, as JSON
    #[arg(long)]
    pub json: bool,
}

pub fn run(args: &ShowArgs, screen: Screen) -> Result<()> {
    let model = match model_file::load_any(&args.model)? {
        AnyModel::Joint(model) if args.json => return screen.print(&model.to_json()),
        AnyModel::Joint(model) => return screen.print(&joint::predict::show(&model)),
        AnyModel::Single(model) => *model,
    };
    if args.json {
        return screen.print(&model.to_json());
    }
    let mut facts = Facts::default();
    let parameter = model.loss.named_parameter().map(|(name, value)| format!(", {name} {}", significant(value)));
    facts.add("loss", format!("{}{}", model.loss.name, parameter.unwrap_or_default()));
    if let Some(target) = &model.fit.target {
        facts.add("target", target.clone());
    }
    add_labels(&mut facts, model.labels.as_ref());
    facts.add("k", format!("{} ({} non-zero)", model.fit.k, model.coefficients.len()));
    facts.add("lambda", significant(model.fit.lambda));
    if let Some(select) = model.fit.select_lambda {
        facts.add("selected", format!("under lambda = {}", significant(select)));
    }
    let of = if model.fit.standardized { " (of the standardised columns)" } else { "" };
    facts.add("objective", format!("{}{of}", significant(model.fit.objective)));
    facts.add("solver", format!("{}, status {}", model.fit.solver, model.fit.status));
    facts.add("fitted on", format!("{} rows, {} columns", model.fit.n, model.fit.p));
    facts.add("written by", model.created_by.clone());
    screen.print(&format!("{}\n{facts}", coefficients(&model, usize::MAX)))
}
