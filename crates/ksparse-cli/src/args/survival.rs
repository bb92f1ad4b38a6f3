//! Which columns are survival times.

use super::data::DataArgs;
use crate::data::Data;
use crate::failure::{Failure, Result};
use crate::screen::Screen;
use ksparse_io::{Need, ReadOptions};

/// Columns of survival times, under the loss `cox`.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Survival times (--loss cox)")]
pub struct SurvivalArgs {
    /// The column with the time that a row was watched, positive: its name or number
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub time: Option<String>,

    /// The column that says whether the event happened (1, true or yes) or the row is censored (0, false or no); other
    /// labels with --positive
    #[arg(long, value_name = "COL", allow_hyphen_values = true, requires = "time",
          conflicts_with_all = ["target", "target_file"])]
    pub event: Option<String>,

    /// The column with the time that watching began, where that is not 0
    #[arg(long, value_name = "COL", allow_hyphen_values = true, requires = "time")]
    pub entry: Option<String>,

    /// The column with the strata, numbers, each with a baseline hazard of its own
    #[arg(long, value_name = "COL", allow_hyphen_values = true, requires = "time")]
    pub strata: Option<String>,
}

impl SurvivalArgs {
    /// What the reader is to be told beside.
    pub fn apply(&self, options: &mut ReadOptions) {
        if self.event.is_some() {
            options.target.clone_from(&self.event);
        }
        options.beside = [self.time.clone(), self.entry.clone(), self.strata.clone()];
    }

    /// Reads a file to be fitted to.
    pub fn read(&self, args: &DataArgs, screen: Screen) -> Result<Data> {
        let mut options = args.reading.options(Need::Required)?;
        if self.time.is_some() && self.event.is_none() && options.target.is_none() && options.target_file.is_none() {
            let message = "--time needs --event: the column that says whether the event happened (1) or not (0)";
            return Err(Failure::Input(message.to_string()));
        }
        self.apply(&mut options);
        Data::read_as(&args.data, &options, screen)
    }
}
