//! `ksparse theory`: what the theorems say about a problem, and where they say nothing.

use crate::args::data::DataArgs;
use crate::args::loss::LossArgs;
use crate::args::parse;
use crate::data::Data;
use crate::failure::Result;
use crate::prepared::Prepared;
use crate::report::{self, Facts, count, significant};
use crate::screen::Screen;
use ksparse::theory::{DualRates, Level, Promise, Survey};
use ksparse_io::Need;
use serde_json::{Value, json};

/// Say what the theorems on GraHTP, FGraHTP, DIHT and SDIHT promise on these data, or that they promise nothing
#[derive(Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct TheoryArgs {
    #[command(flatten)]
    pub data: DataArgs,

    /// How many coefficients may be non-zero
    #[arg(short, value_name = "K", required = true, value_parser = parse::one_k, allow_hyphen_values = true)]
    pub k: usize,

    #[command(flatten)]
    pub loss: LossArgs,

    /// Print one JSON object instead of a table
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

const AFTER: &str = "\
m_s and M_s are the least and the largest curvature of f along directions with s non-zeros: exact where all \
supports of s columns
  can be looked at (squared loss, few columns), otherwise lambda and a bound from the rows. Condition C(s, zeta, rho) \
follows.
Theorem 1 (s = 2k): steps below 1/M_2k end GraHTP after finitely many iterations and make FGraHTP's f converge.
Theorem 2 (s = 3k, a target of k non-zeros): mu < 1 is the factor by which the distance to the target shrinks in an \
iteration; vacuous
  unless rho is below 0.4142 (GraHTP) or 0.5 (FGraHTP), which needs a well conditioned f.
Dual ascent: ||a_t - abar||^2 <= c1 (1 + ln t) / t. Needs a ridge, no intercept and a loss with a bounded dual domain: \
huber.

Examples (the first line makes the data):
  ksparse simulate sensing --rows 400 --cols 12 --nonzeros 2 -o data.csv
  ksparse theory data.csv -k 2 --no-intercept
  ksparse theory data.csv -k 2 --no-intercept --lambda 1 --json";

pub fn run(args: &TheoryArgs, screen: Screen) -> Result<()> {
    let data = Data::read_as(&args.data.data, &args.data.reading.options(Need::Required)?, screen)?;
    let prepared = Prepared::new(data, &args.data.reading, &args.loss, None, None, screen)?;
    let k = prepared.at_most_all(args.k, screen);
    let training = prepared.problem().on_all_rows().map_err(|error| prepared.blame(error))?;
    let risk = training.risk.reridged(prepared.lambda)?;
    let survey = Survey::of(&risk, k).map_err(|error| prepared.blame(error))?;
    if args.json {
        let mut object = object(&survey);
        object["loss"] = json!(prepared.task.spec.name);
        object["lambda"] = json!(prepared.lambda);
        return screen.print(&report::json(&object));
    }
    let mut facts = Facts::default();
    facts.add("data", format!("{} ({})", prepared.data.table.source, prepared.data.shape()));
    facts.add("loss", prepared.task.describe());
    facts.add("lambda", significant(prepared.lambda));
    facts.add("k", k.to_string());
    facts.add("theorem 1", level(&survey.narrow));
    facts.add("step", format!("{} (0.99 / M_2k, what --step theory takes)", significant(survey.step)));
    facts.add("theorem 2", level(&survey.wide));
    facts.add("grahtp", promise(&survey.grahtp, "mu1"));
    facts.add("fgrahtp", promise(&survey.fgrahtp, "mu2"));
    facts.add("dual ascent", ascent(&survey.dual));
    screen.print(&facts.to_string())
}

fn level(level: &Level) -> String {
    let Level { s, curvature, exact, condition } = level;
    let how = if *exact { "exact" } else { "bounds" };
    let condition = condition.map_or("Condition C does not hold: add a ridge".to_string(), |condition| {
        format!("zeta = {}, rho = {}", significant(condition.zeta), significant(condition.rho))
    });
    format!("m_{s} = {}, M_{s} = {} ({how}); {condition}", significant(curvature.strong), significant(curvature.smooth))
}

fn promise(promise: &std::result::Result<Promise, String>, factor: &str) -> String {
    match promise {
        Err(why) => why.clone(),
        Ok(Promise { steps, contraction }) => format!(
            "{factor} = {} with the longest step between {} and {}; {} times the gradient at the target is left",
            significant(contraction.factor),
            significant(steps.low),
            significant(steps.high),
            significant(contraction.gradient_weight)
        ),
    }
}

fn ascent(rates: &std::result::Result<DualRates, String>) -> String {
    match rates {
        Err(why) => why.clone(),
        Ok(rates) if !rates.c1().is_finite() => "vacuous: D is not strongly concave (a loss with corners)".to_string(),
        Ok(rates) => {
            let known = diameter_squared(rates);
            let from =
                rates.steps_until(known).map_or("never".to_string(), |t| format!("from {} on", count(t, "step")));
            let (c1, c2, known) = (significant(rates.c1()), significant(rates.c2()), significant(known));
            format!("c1 = {c1}, c2 = {c2}; more than the domain itself says ({known}) {from}")
        }
    }
}

/// How far apart two dual vectors can be, squared: each number lies between 0 and r in size, on one side of 0.
fn diameter_squared(rates: &DualRates) -> f64 {
    rates.samples * rates.largest_dual * rates.largest_dual
}

/// What machines get.
fn object(survey: &Survey) -> Value {
    let level = |level: &Level| {
        json!({
            "s": level.s, "m": level.curvature.strong, "M": level.curvature.smooth, "exact": level.exact,
            "zeta": level.condition.map(|c| c.zeta), "rho": level.condition.map(|c| c.rho),
        })
    };
    let promise = |promise: &std::result::Result<Promise, String>| match promise {
        Err(why) => json!({"vacuous": why}),
        Ok(promise) => json!({
            "factor": promise.contraction.factor, "gradient_weight": promise.contraction.gradient_weight,
            "steps": [promise.steps.low, promise.steps.high],
        }),
    };
    let dual = match &survey.dual {
        Err(why) => json!({"vacuous": why}),
        Ok(rates) => json!({
            "c1": rates.c1(), "c2": rates.c2(), "first_step": rates.step(0),
            "steps_until_useful": rates.steps_until(diameter_squared(rates)),
        }),
    };
    json!({
        "k": survey.k, "step": survey.step, "theorem_1": level(&survey.narrow), "theorem_2": level(&survey.wide),
        "grahtp": promise(&survey.grahtp), "fgrahtp": promise(&survey.fgrahtp), "dual_ascent": dual,
    })
}
