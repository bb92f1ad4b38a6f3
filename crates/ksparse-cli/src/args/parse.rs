//! Values of options, from text: every refusal says what is expected.

/// One or several k: `20`, `5,10,20`, `1:200`, `10:200:10`, and lists of those.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ks(pub Vec<usize>);

/// A list of numbers separated by commas.
#[derive(Debug, Clone, PartialEq)]
pub struct Lambdas(pub Vec<f64>);

/// A list of words separated by commas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words(pub Vec<String>);

/// More values of k than this are a slip of the finger.
const MOST_KS: usize = 1_000_000;

/// The k of a fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FitK {
    /// To be chosen by cross-validation.
    Auto,
    Given(usize),
}

/// A single k, or `auto`.
pub fn fit_k(text: &str) -> Result<FitK, String> {
    if text == "auto" { Ok(FitK::Auto) } else { one_k(text).map(FitK::Given) }
}

/// A single k.
pub fn one_k(text: &str) -> Result<usize, String> {
    if text.contains([':', ',']) {
        return Err("a fit has one k; for several use `ksparse path`".to_string());
    }
    count_of_features(text)
}

/// One or several k, ascending, without repeats.
pub fn ks(text: &str) -> Result<Ks, String> {
    let mut all = Vec::new();
    for part in text.split(',') {
        let bounds = part.split(':').map(count_of_features).collect::<Result<Vec<_>, _>>()?;
        let (first, last, step) = match bounds[..] {
            [k] => (k, k, 1),
            [first, last] => (first, last, 1),
            [first, last, step] => (first, last, step),
            _ => return Err(format!("`{part}` is no range: write FIRST:LAST or FIRST:LAST:STEP")),
        };
        if last < first || step == 0 {
            return Err(format!(
                "`{part}` is an empty range: write FIRST:LAST[:STEP] with FIRST <= LAST and STEP >= 1"
            ));
        }
        if (last - first) / step >= MOST_KS {
            return Err(format!("`{part}` means more than a million values of k: take a larger STEP"));
        }
        all.extend((first..=last).step_by(step));
    }
    all.sort_unstable();
    all.dedup();
    Ok(Ks(all))
}

fn count_of_features(text: &str) -> Result<usize, String> {
    let text = text.trim();
    text.parse().map_err(|_| format!("`{text}` is no number of features: give a whole number, 0 or more"))
}

/// A separator of columns: a name, or the character itself.
pub fn separator(text: &str) -> Result<u8, String> {
    match (text, text.as_bytes()) {
        ("comma", _) => Ok(b','),
        ("semicolon", _) => Ok(b';'),
        ("tab" | "\\t", _) => Ok(b'\t'),
        ("blank" | "space", _) => Ok(b' '),
        (_, &[one]) if !one.is_ascii_alphanumeric() && !matches!(one, b'\n' | b'\r' | b'"' | b'.' | b'-' | b'+') => {
            Ok(one)
        }
        _ => Err(format!(
            "`{text}` cannot separate columns: give a character such as `;` or `|`, or comma, semicolon, tab or blank"
        )),
    }
}

/// A number that is finite and at least 0.
pub fn non_negative(text: &str) -> Result<f64, String> {
    number(text).and_then(|value| if value >= 0.0 { Ok(value) } else { Err("must be 0 or more".to_string()) })
}

/// Seconds for `--certify`, which may also stand alone: then the next word is taken for them.
pub fn certify_seconds(text: &str) -> Result<f64, String> {
    let hint = |why| format!("{why}; without a number of seconds, write --certify last or before another option");
    non_negative(text).map_err(hint)
}

/// A number that is finite and above 0.
pub fn positive(text: &str) -> Result<f64, String> {
    number(text).and_then(|value| if value > 0.0 { Ok(value) } else { Err("must be above 0".to_string()) })
}

/// A share, between 0 and 1, the ends excluded.
pub fn share(text: &str) -> Result<f64, String> {
    number(text).and_then(|value| {
        if value > 0.0 && value < 1.0 { Ok(value) } else { Err("must lie between 0 and 1, as in 0.2".to_string()) }
    })
}

/// A correlation, from -1 to 1.
pub fn correlation(text: &str) -> Result<f64, String> {
    number(text).and_then(
        |value| {
            if value.abs() <= 1.0 { Ok(value) } else { Err("must lie between -1 and 1".to_string()) }
        },
    )
}

/// Ridges separated by commas.
pub fn lambdas(text: &str) -> Result<Lambdas, String> {
    let values = text.split(',').map(|part| non_negative(part).map_err(|why| format!("`{}` {why}", part.trim())));
    values.collect::<Result<Vec<_>, _>>().map(Lambdas)
}

/// Words separated by commas, none of them empty.
pub fn words(text: &str) -> Result<Words, String> {
    let words: Vec<String> = text.split(',').map(|word| word.trim().to_string()).collect();
    if words.iter().any(String::is_empty) { Err("an entry of the list is empty".to_string()) } else { Ok(Words(words)) }
}

fn number(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err("must be finite".to_string()),
        Err(_) => Err("is not a number".to_string()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_lists_of_k() {
        assert_eq!(ks("7").unwrap().0, [7]);
        assert_eq!(ks("1:4").unwrap().0, [1, 2, 3, 4]);
        assert_eq!(ks("10:25:10").unwrap().0, [10, 20]);
        assert_eq!(ks("8,1:3,2").unwrap().0, [1, 2, 3, 8]);
        for wrong in ["", "-1", "1:-1", "3:1", "1:9:0", "1:2:3:4", "a", "1,,2", "0:999999999"] {
            assert!(ks(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_that_are_not() {
        for wrong in ["NaN", "inf", "-1", "x", ""] {
            assert!(non_negative(wrong).is_err(), "{wrong}");
        }
        assert_eq!(non_negative("1e-5"), Ok(1e-5));
        assert!(positive("0").is_err() && share("1").is_err() && lambdas("1,-1").is_err() && words("a,,b").is_err());
        assert!(one_k("1:3").unwrap_err().contains("ksparse path"));
    }
}
