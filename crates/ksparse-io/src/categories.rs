//! Columns of words: each becomes columns of indicators, one for every word but the first, in or out together.
//!
//! Readers put a code in place of a word and say what the codes mean ([`Coded`]); [`expand`] does the rest.

use crate::assemble::SparseColumns;
use crate::error::{Error, Place, Result};
use crate::memory::Memory;
use crate::options::Storage;
use crate::table::Table;
use crate::text::{is_missing, number, short, show};
use crate::words::{Setting, Words};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::ops::Range;

/// A column of words, and the columns of indicators that stand for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Category {
    /// The name of the column, if columns have names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature: Option<String>,
    /// Its place among the features in the file, counted from 0.
    pub place: usize,
    /// Its first indicator among the columns of the matrix, counted from 0.
    pub column: usize,
    /// The words, ascending. The first has no indicator: it is where all others are 0.
    pub levels: Vec<String>,
}

impl Category {
    /// The columns of its indicators.
    pub fn columns(&self) -> Range<usize> {
        self.column..self.column + self.levels.len().saturating_sub(1)
    }
}

/// What becomes of columns of words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum WordColumns {
    /// Indicators of the words that are found.
    #[default]
    Found,
    /// Indicators of words that are known, as a model has them; other columns of words are left out. Where the flag is
    /// set, a word that is not known is an error; otherwise it counts as the first.
    Known(Vec<(Category, bool)>),
    /// An error: who reads a part of the rows does not know the words of all.
    Refused,
}

impl WordColumns {
    /// As a model has them that uses these columns, ascending.
    pub(crate) fn of(categories: &[Category], used: &[usize]) -> Self {
        let needed = |category: &Category| category.columns().any(|column| used.binary_search(&column).is_ok());
        Self::Known(categories.iter().map(|category| (category.clone(), needed(category))).collect())
    }
}

/// `Err` for categories of a model of p columns that cannot be.
pub(crate) fn check(categories: &[Category], p: usize) -> std::result::Result<(), String> {
    let mut next = 0;
    for category in categories {
        let columns = category.columns();
        if columns.start < next || columns.end > p || category.levels.is_empty() {
            return Err(format!("its categories at column {} are no columns of {p}", columns.start));
        }
        next = columns.end;
    }
    Ok(())
}

/// Words in the order in which they turned up.
#[derive(Debug, Default)]
pub(crate) struct Dictionary {
    codes: HashMap<String, usize>,
    words: Vec<String>,
}

impl Dictionary {
    /// The code of a word. Numbers are words by their value.
    pub fn code(&mut self, field: &[u8], place: impl FnOnce() -> Place) -> Result<usize> {
        let word = match (number(field), std::str::from_utf8(field)) {
            _ if is_missing(field) => {
                let remedy = "give every row a word: one that means missing will do, if there is none";
                return Err(Error::input(place(), "the value is missing", remedy));
            }
            (Some(v), _) => short(v),
            (None, Ok(word)) if !word.chars().any(char::is_control) => word.to_string(),
            _ => {
                let remedy = "check the format of the file and its encoding, which should be UTF-8";
                return Err(Error::input(place(), format!("`{}` is not text", show(field)), remedy));
            }
        };
        Ok(self.add(word))
    }

    fn add(&mut self, word: String) -> usize {
        if let Some(&code) = self.codes.get(&word) {
            return code;
        }
        self.words.push(word.clone());
        self.codes.insert(word, self.words.len() - 1);
        self.words.len() - 1
    }

    /// What the codes of another are here.
    pub fn merge(&mut self, other: Self) -> Vec<usize> {
        other.words.into_iter().map(|word| self.add(word)).collect()
    }

    /// Bytes it takes, near enough.
    pub fn bytes(&self) -> usize {
        self.words.iter().map(|word| 2 * (48 + word.len())).sum()
    }
}

/// A feature of a table as it was read whose numbers are codes.
pub(crate) struct Coded {
    /// Which feature.
    pub place: usize,
    /// What the codes mean.
    pub words: Dictionary,
    /// Whether it was asked for: then numbers are words too, and there may be many.
    pub forced: bool,
}

/// Puts indicators in the place of codes.
pub(crate) fn expand(
    table: &mut Table,
    coded: Vec<Coded>,
    memory: &Memory,
    columns: &WordColumns,
    storage: Storage,
) -> Result<()> {
    if coded.is_empty() {
        return Ok(());
    }
    let (n, p) = (table.nrows(), table.ncols());
    let mut coded: HashMap<usize, Coded> = coded.into_iter().map(|coded| (coded.place, coded)).collect();
    let mut built = SparseColumns::with_capacity(memory, p, table.matrix.nnz() + n * coded.len())?;
    let mut names = Vec::new();
    let mut categories = Vec::new();
    for j in 0..p {
        let full = table.matrix.column(j);
        let Some(coded) = coded.remove(&j) else {
            full.iter().enumerate().for_each(|(i, &v)| built.push(i as u32, v));
            built.end();
            names.push(table.names.as_ref().map(|names| names[j].clone()));
            continue;
        };
        let codes: Vec<usize> = full.iter().map(|&code| code as usize).collect();
        let feature = table.names.as_ref().map(|names| names[j].clone());
        let called = feature.clone().map_or_else(|| format!("column {}", j + 1), |name| format!("column `{name}`"));
        let place = || Place::from(&*table.source).part(called.clone());
        let (levels, level_of) = match known(columns, feature.as_deref(), j) {
            Some((category, needed)) => {
                (category.levels.clone(), coded.among(&category.levels, &codes, *needed, place)?)
            }
            None => coded.levels(&codes, place)?,
        };
        if levels.len() == 1 {
            table.notes.push(format!("{called} is `{}` in every row and is left out", levels[0]));
        }
        let column = names.len();
        for (level, word) in levels.iter().enumerate().skip(1) {
            codes.iter().enumerate().filter(|(_, code)| level_of[**code] == level).for_each(|(i, _)| {
                built.push(i as u32, 1.0);
            });
            built.end();
            names.push(feature.as_ref().map(|name| format!("{name}={word}")));
        }
        categories.push(Category { feature, place: j, column, levels });
    }
    if names.is_empty() {
        return Err(Error::input(&*table.source, "there are no features", "every column has one word in all rows"));
    }
    memory.check_shape(n, names.len())?;
    table.matrix = built.finish(memory, n, storage)?;
    table.names = names.into_iter().collect();
    table.categories = categories;
    Ok(())
}

/// The category of a column, where a model has it.
pub(crate) fn known<'a>(columns: &'a WordColumns, feature: Option<&str>, place: usize) -> Option<&'a (Category, bool)> {
    let WordColumns::Known(known) = columns else { return None };
    known.iter().find(|(category, _)| match (&category.feature, feature) {
        (Some(name), Some(feature)) => name == feature,
        _ => category.place == place,
    })
}

impl Coded {
    /// The words in order, and the place of each code's among them.
    fn levels(&self, codes: &[usize], place: impl FnOnce() -> Place) -> Result<(Vec<String>, Vec<usize>)> {
        let words = &self.words.words;
        let values: Vec<Option<f64>> = words.iter().map(|word| number(word.as_bytes())).collect();
        let mut order: Vec<usize> = (0..words.len()).collect();
        if let Some(values) = values.iter().copied().collect::<Option<Vec<f64>>>() {
            order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        } else {
            order.sort_by(|&a, &b| words[a].cmp(&words[b]));
        }
        if !self.forced {
            self.check(codes, &values, place)?;
        }
        let mut level_of = vec![0; words.len()];
        order.iter().enumerate().for_each(|(level, &code)| level_of[code] = level);
        Ok((order.iter().map(|&code| words[code].clone()).collect(), level_of))
    }

    /// `Err` for numbers with a slip among them, and for what names rows rather than classes of them.
    fn check(&self, codes: &[usize], values: &[Option<f64>], place: impl FnOnce() -> Place) -> Result<()> {
        let words = &self.words.words;
        let numbers = codes.iter().filter(|&&code| values[code].is_some()).count();
        if 2 * numbers > codes.len()
            && let Some(row) = codes.iter().position(|&code| values[code].is_none())
        {
            let problem = format!("row {} is `{}`, and most others are numbers", row + 1, words[codes[row]]);
            let remedy = Words::from("mend it, leave the column out with ")
                + Setting::Drop
                + ", or take numbers for words with "
                + Setting::Categorical;
            return Err(Error::input(place(), problem, remedy));
        }
        if 2 * words.len() > codes.len() {
            let problem = format!("{} different words in {} rows, as `{}`", words.len(), codes.len(), words[0]);
            let remedy = Words::from("leave a column that names rows out with ")
                + Setting::Drop
                + ", or say that it holds categories with "
                + Setting::Categorical;
            return Err(Error::input(place(), problem, remedy));
        }
        Ok(())
    }

    /// The place of each code's word among those known.
    fn among(
        &self,
        known: &[String],
        codes: &[usize],
        needed: bool,
        place: impl FnOnce() -> Place,
    ) -> Result<Vec<usize>> {
        let found: HashMap<&str, usize> = known.iter().enumerate().map(|(at, word)| (word.as_str(), at)).collect();
        let level_of: Vec<Option<usize>> = self.words.words.iter().map(|word| found.get(&**word).copied()).collect();
        if let Some(row) = codes.iter().position(|&code| level_of[code].is_none()).filter(|_| needed) {
            let shown: Vec<&str> = known.iter().take(8).map(String::as_str).collect();
            let more = if known.len() > shown.len() { ", ..." } else { "" };
            let problem =
                format!("row {} is `{}`, which the model has not seen", row + 1, self.words.words[codes[row]]);
            let remedy = format!("it knows {}{more}: leave the row out, or fit again with such rows", shown.join(", "));
            return Err(Error::input(place(), problem, remedy));
        }
        Ok(level_of.into_iter().map(|level| level.unwrap_or(0)).collect())
    }
}
