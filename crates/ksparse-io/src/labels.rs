//! Two classes as -1 and +1, and back.

use crate::error::{Error, Result};
use crate::table::Target;
use crate::text::short;
use crate::words::{Setting, Words};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What -1 and +1 stand for. A model remembers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Labels {
    /// Two classes.
    Two {
        /// The label of -1: the smaller number, or the first by alphabet.
        negative: String,
        /// The label of +1.
        positive: String,
    },
    /// Some of many classes against the rest.
    Rest {
        /// The labels of +1, a list of labels and ranges as in `1,4,11:20`; all others are -1.
        positive: String,
    },
}

impl Labels {
    /// The two classes of a target: 0/1, 1/2, -1/+1 or two words. One class or three are an error.
    pub fn find(target: &Target) -> Result<Self> {
        let classes = classes(target, 12);
        match &classes[..] {
            [negative, positive] => Ok(Self::Two { negative: negative.clone(), positive: positive.clone() }),
            [] => Err(Error::request("there are no rows", "give data with both classes")),
            [only] => Err(Error::request(
                format!("the target has one class only, {only}"),
                "a classification needs two: check the target column, or the rows left in the file",
            )),
            many => Err(Error::request(
                format!(
                    "the target has {} classes ({}{}), but this loss separates two",
                    if many.len() > 10 { "more than ten".to_string() } else { many.len().to_string() },
                    many[..many.len().min(5)].join(", "),
                    if many.len() > 5 { ", ..." } else { "" },
                ),
                Words::from("name those that count as +1 with ")
                    + Setting::Positive
                    + " (a list or range, as in 1,4,11:20), or take a loss for several ("
                    + Setting::Loss
                    + " multinomial) or for numbers ("
                    + Setting::Loss
                    + " squared)",
            )),
        }
    }

    /// The classes listed in `positive` (labels and ranges, as in `1,4,11:20`) against all others. Both sides must
    /// occur in the target.
    pub fn with_positive(target: &Target, positive: &str) -> Result<Self> {
        let chosen = Selection::parse(positive)?;
        let all = classes(target, usize::MAX);
        let (yes, no): (Vec<String>, Vec<String>) = all.iter().cloned().partition(|label| chosen.contains(label));
        let show = || format!("{}{}", all[..all.len().min(8)].join(", "), if all.len() > 8 { ", ..." } else { "" });
        if yes.is_empty() {
            return Err(Error::request(
                Words::from("no row has a label in ") + Setting::Positive + format!(" {positive}"),
                format!("the labels are {}", show()),
            ));
        }
        match (&yes[..], &no[..]) {
            (_, []) => Err(Error::request(
                Words::from("every row has a label in ") + Setting::Positive + format!(" {positive}"),
                format!("leave some for the other class; the labels are {}", show()),
            )),
            // Two classes of which one is chosen: both names are worth remembering.
            ([one], [other]) => Ok(Self::Two { negative: other.clone(), positive: one.clone() }),
            _ => Ok(Self::Rest { positive: positive.to_string() }),
        }
    }

    /// The target as -1 and +1. A label that belongs to neither class is an error.
    pub fn signs(&self, target: &Target) -> Result<Vec<f64>> {
        match self {
            Self::Two { negative, positive } => {
                let (low, high) = (Selection::one(negative), Selection::one(positive));
                let sign = |i: usize, label: Label<'_>| {
                    if high.holds(label) {
                        Ok(1.0)
                    } else if low.holds(label) {
                        Ok(-1.0)
                    } else {
                        Err(Error::request(
                            format!("row {} has the label {label}, which is neither {negative} nor {positive}", i + 1),
                            "the labels must be those the model was fitted with",
                        ))
                    }
                };
                labels(target).enumerate().map(|(i, label)| sign(i, label)).collect()
            }
            Self::Rest { positive } => {
                let chosen = Selection::parse(positive)?;
                Ok(labels(target).map(|label| if chosen.holds(label) { 1.0 } else { -1.0 }).collect())
            }
        }
    }

    /// What a prediction of this sign is called.
    pub fn name(&self, sign: f64) -> &str {
        match self {
            Self::Two { negative, positive } => {
                if sign > 0.0 {
                    positive
                } else {
                    negative
                }
            }
            Self::Rest { positive } => {
                if sign > 0.0 {
                    positive
                } else {
                    "rest"
                }
            }
        }
    }
}

/// All labels of a target in ascending order, numbers by value and words by alphabet.
pub fn all_labels(target: &Target) -> Vec<String> {
    classes(target, usize::MAX)
}

/// The place of every row's label in such a list; `Err` for a label that is not in it.
pub fn places(target: &Target, known: &[String]) -> Result<Vec<usize>> {
    let place = |i: usize| {
        let label = target.label(i);
        known.iter().position(|name| *name == label).ok_or_else(|| {
            Error::request(
                format!("row {} has the label {label}, which the model does not know", i + 1),
                format!("its labels are {}; leave such rows out, or fit again with them", known.join(", ")),
            )
        })
    };
    (0..target.len()).map(place).collect()
}

impl fmt::Display for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is -1, {} is +1", self.name(-1.0), self.name(1.0))
    }
}

/// One label, borrowed.
#[derive(Clone, Copy)]
enum Label<'a> {
    Number(f64),
    Word(&'a str),
}

impl fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(v) => v.fmt(f),
            Self::Word(w) => w.fmt(f),
        }
    }
}

fn labels(target: &Target) -> Box<dyn Iterator<Item = Label<'_>> + '_> {
    match target {
        Target::Numbers(values) => Box::new(values.iter().map(|&v| Label::Number(v))),
        Target::Text(values) => Box::new(values.iter().map(|v| Label::Word(v))),
    }
}

/// The distinct labels in ascending order, numbers by value and words by alphabet; the search ends after `limit`.
fn classes(target: &Target, limit: usize) -> Vec<String> {
    match target {
        Target::Numbers(values) => {
            let mut seen: Vec<f64> = Vec::new();
            for &v in values {
                // Zeros of both signs are one label.
                let v = v + 0.0;
                if let Err(at) = seen.binary_search_by(|s| s.total_cmp(&v)) {
                    seen.insert(at, v);
                    if seen.len() >= limit {
                        break;
                    }
                }
            }
            seen.into_iter().map(short).collect()
        }
        Target::Text(values) => {
            let mut seen: Vec<&str> = Vec::new();
            for v in values {
                if let Err(at) = seen.binary_search(&v.as_str()) {
                    seen.insert(at, v);
                    if seen.len() >= limit {
                        break;
                    }
                }
            }
            seen.into_iter().map(str::to_string).collect()
        }
    }
}

/// A list of labels and inclusive ranges.
struct Selection {
    words: Vec<String>,
    ranges: Vec<(f64, f64)>,
}

impl Selection {
    /// One label, as it is remembered.
    fn one(label: &str) -> Self {
        let ranges = label.parse().map(|v: f64| vec![(v, v)]).unwrap_or_default();
        Self { words: vec![label.to_string()], ranges }
    }

    /// `a,b,lo:hi`.
    fn parse(text: &str) -> Result<Self> {
        let mut selection = Self { words: Vec::new(), ranges: Vec::new() };
        for item in text.split(',').map(str::trim) {
            if item.is_empty() {
                return Err(Error::request(
                    Words::from(Setting::Positive) + format!(" `{text}` has an empty entry"),
                    "write a list or range of labels, as in 1,4,11:20",
                ));
            }
            let number = |s: &str| s.trim().parse::<f64>().ok();
            selection.words.push(item.to_string());
            if let Some(v) = number(item) {
                selection.ranges.push((v, v));
            } else if let Some((low, high)) = item.split_once(':')
                && let (Some(low), Some(high)) = (number(low), number(high))
            {
                if low > high {
                    return Err(Error::request(
                        Words::from(Setting::Positive) + format!(" `{item}` is a range that holds nothing"),
                        format!("did you mean {high}:{low}?"),
                    ));
                }
                selection.ranges.push((low, high));
            }
        }
        Ok(selection)
    }

    fn contains(&self, label: &str) -> bool {
        self.holds(label.parse().map_or(Label::Word(label), Label::Number)) || self.holds(Label::Word(label))
    }

    fn holds(&self, label: Label<'_>) -> bool {
        match label {
            Label::Number(v) => self.ranges.iter().any(|&(low, high)| low <= v && v <= high),
            Label::Word(w) => {
                self.words.iter().any(|known| known == w) || w.parse().is_ok_and(|v: f64| self.holds(Label::Number(v)))
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn numbers(values: &[f64]) -> Target {
        Target::Numbers(values.to_vec())
    }

    fn words(values: &[&str]) -> Target {
        Target::Text(values.iter().map(|v| v.to_string()).collect())
    }

    #[test]
    fn two_classes_are_found_whatever_they_are_called() {
        for (target, negative, positive) in [
            (numbers(&[1.0, 0.0, 1.0]), "0", "1"),
            (numbers(&[2.0, 1.0, 2.0]), "1", "2"),
            (numbers(&[1.0, -1.0, 1.0]), "-1", "1"),
            (words(&["sick", "healthy", "sick"]), "healthy", "sick"),
        ] {
            let labels = Labels::find(&target).unwrap();
            assert_eq!((labels.name(-1.0), labels.name(1.0)), (negative, positive));
            assert_eq!(labels.signs(&target).unwrap(), [1.0, -1.0, 1.0]);
            let again: Labels = serde_json::from_str(&serde_json::to_string(&labels).unwrap()).unwrap();
            assert_eq!(again, labels);
        }
    }

    #[test]
    fn one_class_and_three_are_refused_with_a_remedy() {
        let message = Labels::find(&numbers(&[1.0, 1.0])).unwrap_err().to_string();
        assert!(message.contains("one class only, 1"), "{message}");
        let message = Labels::find(&numbers(&[1.0, 2.0, 3.0])).unwrap_err().to_string();
        assert!(message.contains("3 classes (1, 2, 3)") && message.contains("`positive`"), "{message}");
    }

    #[test]
    fn some_of_many_classes_become_positive() {
        let target = numbers(&[1.0, 10.0, 11.0, 20.0, 4.0]);
        let labels = Labels::with_positive(&target, "11:20,4").unwrap();
        assert_eq!(labels.signs(&target).unwrap(), [-1.0, -1.0, 1.0, 1.0, 1.0]);
        let words = words(&["a", "b", "c"]);
        let labels = Labels::with_positive(&words, "b,c").unwrap();
        assert_eq!(labels.signs(&words).unwrap(), [-1.0, 1.0, 1.0]);
        // One of two: the other keeps its name.
        let labels = Labels::with_positive(&numbers(&[3.0, 5.0]), "3").unwrap();
        assert_eq!(labels, Labels::Two { negative: "5".into(), positive: "3".into() });
        for bad in ["7", "1:20", "20:11", "1,,2"] {
            assert!(Labels::with_positive(&target, bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_strange_label_at_prediction_names_its_row() {
        let labels = Labels::find(&numbers(&[0.0, 1.0])).unwrap();
        let message = labels.signs(&numbers(&[0.0, 1.0, 2.0])).unwrap_err().to_string();
        assert!(message.contains("row 3 has the label 2"), "{message}");
    }
}
