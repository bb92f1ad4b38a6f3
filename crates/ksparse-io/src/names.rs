//! Names of columns: found, and made distinct.

use crate::error::suggestion;
use std::collections::{HashMap, HashSet};

/// Why a column was not found.
#[derive(Debug)]
pub(crate) enum NotFound {
    /// None has the name; what to do.
    Unknown(String),
    /// More than one has it; what to do.
    Several(String),
}

impl NotFound {
    /// The number in words.
    pub fn many(&self) -> &'static str {
        if matches!(self, Self::Unknown(_)) { "no" } else { "more than one" }
    }

    /// What to do.
    pub fn hint(self) -> String {
        match self {
            Self::Unknown(hint) | Self::Several(hint) => hint,
        }
    }
}

/// The position of a column by name or number.
pub(crate) fn find_column(name: &str, names: Option<&[String]>, ncols: usize) -> Result<usize, NotFound> {
    let mut called = names.unwrap_or_default().iter().enumerate().filter(|(_, n)| *n == name).map(|(j, _)| j);
    match (called.next(), called.next()) {
        (Some(j), None) => return Ok(j),
        (Some(i), Some(j)) => {
            let hint =
                format!("give the number of the one that is meant: columns {}, {}, ... have this name", i + 1, j + 1);
            return Err(NotFound::Several(hint));
        }
        _ => {}
    }
    by_number(name, names, ncols).map_err(NotFound::Unknown)
}

fn by_number(name: &str, names: Option<&[String]>, ncols: usize) -> Result<usize, String> {
    let counted = || format!("columns are counted from 1 to {ncols}, or from -1 backwards");
    match name.parse::<i64>() {
        Ok(j) if j >= 1 && j as u64 <= ncols as u64 => Ok(j as usize - 1),
        Ok(j) if j < 0 && j.unsigned_abs() <= ncols as u64 => Ok(ncols - j.unsigned_abs() as usize),
        Ok(_) => Err(counted()),
        Err(_) => Err(match names {
            None => format!("the file names no columns: {}", counted()),
            Some(names) => match suggestion(name, names.iter().map(String::as_str)) {
                Some(close) => format!("did you mean `{close}`?"),
                None => {
                    let first: Vec<&str> = names.iter().take(5).map(String::as_str).collect();
                    let more = if names.len() > 5 { ", ..." } else { "" };
                    format!("the columns are {}{more}", first.join(", "))
                }
            },
        }),
    }
}

/// Gives every column a name of its own, since a model finds its columns by name: the second `x` becomes `x.2`, the
/// third column, if it has no name, `V3`. The new names depend on the order of the columns alone. Returns what a
/// person should know, if any was changed.
pub(crate) fn distinguish(names: &mut [String]) -> Option<String> {
    // Every name in the file stays with the first column that has it.
    let mut taken: HashSet<String> = names.iter().filter(|name| !name.is_empty()).cloned().collect();
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut example = None;
    for (j, name) in names.iter_mut().enumerate() {
        let times = seen.entry(name.clone()).or_insert(0);
        *times += 1;
        if *times == 1 && !name.is_empty() {
            continue;
        }
        let (base, first) = if name.is_empty() { (format!("V{}", j + 1), 1) } else { (name.clone(), *times) };
        let numbered = |i: usize| if i == 1 { base.clone() } else { format!("{base}.{i}") };
        let new = (first..).map(numbered).find(|new| taken.insert(new.clone())).unwrap_or_default();
        example.get_or_insert_with(|| format!("feature {}, called `{name}` in the file, is now `{new}`", j + 1));
        *name = new;
    }
    example.map(|example| format!("names that are empty or stand twice were made distinct: {example}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_column_gets_a_name_of_its_own() {
        let cases: [(&[&str], &[&str]); 5] = [
            (&["a", "b"], &["a", "b"]),
            (&["x", "x", "x"], &["x", "x.2", "x.3"]),
            (&["x", "x", "x.2", "x"], &["x", "x.3", "x.2", "x.4"]),
            (&["", "V1", ""], &["V1.2", "V1", "V3"]),
            (&["V2", "", ""], &["V2", "V2.2", "V3"]),
        ];
        for (given, expected) in cases {
            let mut names: Vec<String> = given.iter().map(ToString::to_string).collect();
            assert_eq!(distinguish(&mut names).is_some(), given != expected, "{given:?}");
            assert_eq!(names, expected);
            assert!(distinguish(&mut names).is_none(), "made distinct once and for all");
        }
    }

    #[test]
    fn a_name_of_two_columns_means_neither() {
        let names: Vec<String> = ["a", "b", "a"].map(String::from).to_vec();
        let several = find_column("a", Some(&names), 3).unwrap_err();
        assert!(matches!(&several, NotFound::Several(hint) if hint.contains("1, 3")), "{several:?}");
        assert_eq!(find_column("b", Some(&names), 3).unwrap(), 1);
        assert_eq!(find_column("-1", Some(&names), 3).unwrap(), 2);
    }
}
