//! `ksparse demo`: the commands at work, on data they make themselves.

use super::run as run_command;
use crate::cli::Cli;
use crate::failure::{Failure, Result};
use crate::screen::{Screen, bold, dim};
use clap::Parser;
use std::path::{Path, PathBuf};

/// Show the commands at work: simulate, split, fit, predict, choose k, draw
///
/// Every line that starts with $ is a command as you would type it.
#[derive(Debug, clap::Args)]
pub struct DemoArgs {
    /// The directory for data, models and the picture
    #[arg(long, value_name = "DIR", default_value = "ksparse-demo")]
    pub dir: PathBuf,
}

pub fn run(args: &DemoArgs, screen: Screen) -> Result<()> {
    let dir = &args.dir;
    let refused = |error| {
        Failure::Work(format!("cannot make the directory {}: {error}; choose another with --dir", dir.display()))
    };
    std::fs::create_dir_all(dir).map_err(refused)?;
    let steps = [
        (
            "Data: 500 rows, 1000 correlated columns, 12 of them with an effect on the label.",
            "simulate logistic --rows 500 --cols 1000 --nonzeros 12 --correlation 0.5 -o {data.csv} --truth \
             {truth.json}",
        ),
        (
            "One fifth of the rows is put aside for testing.",
            "split {data.csv} --test 0.2 --seed 1 --train-output {data.train.csv} --test-output {data.test.csv}",
        ),
        ("A model with 12 of the 1000 columns.", "fit {data.train.csv} -k 12 --lambda 1e-3 -o {model.json}"),
        ("How well it predicts the rows put aside.", "predict {model.json} {data.test.csv} -o {predictions.txt}"),
        ("How well the true coefficients do on the same rows.", "predict {truth.json} {data.test.csv} --score"),
        (
            "Which k? Every k from 0 to 20, judged by cross-validation, and a picture of it.",
            "path {data.train.csv} -k 0:20 --lambda 1e-3 --cv 5 --one-se --plot {path.svg} -o {chosen.json}",
        ),
        ("The chosen model on the rows put aside.", "predict {chosen.json} {data.test.csv} --score"),
    ];
    for (title, line) in steps {
        let words = words(line, dir);
        screen.print(&format!("{}\n{}\n\n", bold(title), dim(&format!("$ ksparse {}", words.join(" ")))))?;
        let cli = Cli::try_parse_from(std::iter::once("ksparse".to_string()).chain(words));
        let mut cli = cli.map_err(|error| Failure::Work(error.to_string()))?;
        cli.screen = screen;
        run_command(&cli)?;
        screen.print("\n")?;
    }
    screen.print(&format!("The picture is {}\n", bold(&dir.join("path.svg").display().to_string())))
}

/// The words of a command line, `{name}` standing for a file of the directory.
fn words(line: &str, dir: &Path) -> Vec<String> {
    let word = |word: &str| match word.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        Some(name) => dir.join(name).display().to_string(),
        None => word.to_string(),
    };
    line.split(' ').map(word).collect()
}
