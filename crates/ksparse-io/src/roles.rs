//! What the columns of a table are for: features, the target, weights, or nothing.

use crate::categories::{self, WordColumns};
use crate::error::{Error, Result};
use crate::names::{NotFound, find_column};
use crate::options::{Beside, Need, ReadOptions};
use crate::words::{Setting, Words};

/// What a column is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Feature,
    /// A feature of words, asked for or not.
    Category {
        forced: bool,
    },
    Target,
    Weights,
    Offset,
    Beside(Beside),
    Skip,
}

impl Role {
    /// Whether it is one of the features.
    pub fn is_feature(self) -> bool {
        matches!(self, Self::Feature | Self::Category { .. })
    }
}

/// Names under which people keep their target.
const TARGETS: [&str; 6] = ["y", "target", "label", "class", "response", "outcome"];

/// Names under which they keep the names of their rows.
const ROW_NAMES: [&str; 9] = ["", "id", "ids", "name", "names", "sample", "sample_id", "row", "unnamed: 0"];

/// Columns as far as they are known before the data are read.
pub(crate) struct Columns<'a> {
    /// The file's name, for messages.
    pub file: &'a str,
    /// Their names.
    pub names: Option<&'a [String]>,
    /// Whether the first value of each is a word.
    pub words: &'a [bool],
    /// Whether the first column has row names for certain.
    pub row_names: bool,
}

/// A role for every column; `notes` gets what was decided without being asked.
pub(crate) fn assign(columns: &Columns<'_>, options: &ReadOptions, notes: &mut Vec<String>) -> Result<Vec<Role>> {
    let ncols = columns.words.len();
    let mut roles = vec![Role::Feature; ncols];
    let complain = |option: Setting, name: &str, no: NotFound| {
        let problem = Words::from(option) + format!(": {} column `{name}`", no.many());
        Error::input(columns.file, problem, no.hint())
    };
    let find =
        |option: Setting, name: &str| find_column(name, columns.names, ncols).map_err(|no| complain(option, name, no));
    for name in &options.drop {
        roles[find(Setting::Drop, name)?] = Role::Skip;
    }
    let mut take = |j: usize, role: Role, option: Setting| {
        if roles[j] != Role::Feature {
            return Err(Error::input(
                columns.file,
                Words::from(option) + format!(": column {} has another use already", columns.call(j)),
                "a column can be the target, the weights, the offset, a time or left out, but only one of them",
            ));
        }
        roles[j] = role;
        Ok(())
    };
    if let Some(name) = &options.weights {
        take(find(Setting::Weights, name)?, Role::Weights, Setting::Weights)?;
    }
    if let Some(name) = &options.offset {
        take(find(Setting::Offset, name)?, Role::Offset, Setting::Offset)?;
    }
    for (which, name) in Beside::ALL.into_iter().zip(&options.beside) {
        match name.as_ref().map(|name| (name, find_column(name, columns.names, ncols))) {
            None => {}
            Some((_, Ok(j))) => take(j, Role::Beside(which), which.setting())?,
            // Predicting needs no times.
            Some((name, Err(NotFound::Unknown(_)))) if options.need == Need::Optional => {
                notes.push(format!("there is no column `{name}`"));
            }
            Some((name, Err(no))) => return Err(complain(which.setting(), name, no)),
        }
    }
    match (&options.target, options.need) {
        (_, Need::Absent) => {}
        (Some(name), need) => match find_column(name, columns.names, ncols) {
            Ok(j) => take(j, Role::Target, Setting::Target)?,
            Err(no) if need == Need::Required || matches!(no, NotFound::Several(_)) => {
                return Err(complain(Setting::Target, name, no));
            }
            Err(_) => notes.push(format!("there is no column `{name}`: the rows have no target")),
        },
        (None, need) if options.target_file.is_none() => {
            let candidates = columns.called(&TARGETS).filter(|&j| roles[j] == Role::Feature).collect::<Vec<_>>();
            match candidates[..] {
                [j] => roles[j] = Role::Target,
                [] if need == Need::Optional => {}
                _ => return Err(columns.which_target(&candidates)),
            }
        }
        _ => {}
    }
    if columns.row_names && roles.first() == Some(&Role::Feature) {
        roles[0] = Role::Skip;
    }
    columns.skip_words(options.need, &mut roles, notes);
    for name in &options.categorical {
        let j = find(Setting::Categorical, name)?;
        if roles[j] == Role::Feature {
            roles[j] = Role::Category { forced: true };
        }
    }
    columns.find_words(options, &mut roles, notes);
    if !roles.iter().any(|role| role.is_feature()) {
        return Err(Error::input(
            columns.file,
            "no column is left for the features",
            Words::from("check ") + Setting::Target + ", " + Setting::Weights + " and " + Setting::Drop,
        ));
    }
    Ok(roles)
}

impl Columns<'_> {
    /// What to call a column in a message.
    fn call(&self, j: usize) -> String {
        match self.names {
            Some(names) => format!("`{}`", names[j]),
            None => (j + 1).to_string(),
        }
    }

    /// The columns with one of these names.
    fn called<'a>(&'a self, wanted: &'a [&str]) -> impl Iterator<Item = usize> + 'a {
        let names = self.names.unwrap_or_default().iter().enumerate();
        names.filter(|(_, n)| wanted.contains(&n.trim().to_lowercase().as_str())).map(|(j, _)| j)
    }

    /// Row names are no features. For a graph no column of words is.
    fn skip_words(&self, need: Need, roles: &mut [Role], notes: &mut Vec<String>) {
        let unnamed = self.names.is_some_and(|names| names.first().is_some_and(|n| n.trim().is_empty()));
        if unnamed && roles.first() == Some(&Role::Feature) {
            roles[0] = Role::Skip;
        }
        let ids: Vec<usize> = self.called(&ROW_NAMES).collect();
        for (j, role) in roles.iter_mut().enumerate() {
            if *role == Role::Feature && self.words[j] && (j == 0 || need == Need::Absent || ids.contains(&j)) {
                *role = Role::Skip;
                notes.push(format!("column {} holds words and is left out", self.call(j)));
            }
        }
    }

    /// Columns of words, and those that a model knows as such.
    fn find_words(&self, options: &ReadOptions, roles: &mut [Role], notes: &mut Vec<String>) {
        if options.words == WordColumns::Refused {
            return;
        }
        let mut place = 0;
        for (j, role) in roles.iter_mut().enumerate() {
            let here = place;
            place += usize::from(role.is_feature());
            if *role != Role::Feature {
                continue;
            }
            let name = self.names.map(|names| names[j].as_str());
            if categories::known(&options.words, name, here).is_some() {
                *role = Role::Category { forced: true };
            } else if self.words[j] && matches!(options.words, WordColumns::Found) {
                *role = Role::Category { forced: false };
            } else if self.words[j] && name.is_some() {
                *role = Role::Skip;
                notes.push(format!("column {} holds words, which the model does not, and is left out", self.call(j)));
            }
        }
    }

    fn which_target(&self, candidates: &[usize]) -> Error {
        let list =
            |indices: &mut dyn Iterator<Item = usize>| indices.map(|j| self.call(j)).collect::<Vec<_>>().join(", ");
        let problem = match candidates {
            [] => "which column is the target?".to_string(),
            _ => format!("which column is the target, {}?", list(&mut candidates.iter().copied())),
        };
        let ncols = self.words.len();
        let remedy = match self.names {
            Some(_) if candidates.is_empty() => {
                let (first, more) = (list(&mut (0..ncols.min(5))), if ncols > 5 { ", ..." } else { "" });
                let columns = format!(" NAME (or its number, from 1); the columns are {first}{more}");
                Words::from("name it with ") + Setting::Target + columns
            }
            Some(_) => Words::from("say so with ") + Setting::Target + " NAME",
            None => {
                let numbers = format!(", from 1 to {ncols} (-1 is the last)");
                Words::from("give its number with ") + Setting::Target + numbers
            }
        };
        Error::input(self.file, problem, remedy)
    }
}
