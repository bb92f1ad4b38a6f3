//! Lists that R hands in, read by name.

use savvy::{FunctionSexp, IntegerSexp, ListSexp, RealSexp, Result, Sexp, StringSexp, savvy_err};

/// A list with names.
pub struct Args(ListSexp);

impl Args {
    pub fn new(list: ListSexp) -> Self {
        Self(list)
    }

    /// An element, `None` where it is missing or NULL.
    fn get(&self, name: &str) -> Option<Sexp> {
        self.0.get(name).filter(|element| !element.is_null())
    }

    fn need(&self, name: &str) -> Result<Sexp> {
        self.get(name).ok_or_else(|| savvy_err!("`{name}` is missing"))
    }

    pub fn maybe_reals(&self, name: &str) -> Result<Option<RealSexp>> {
        self.get(name).map(|element| RealSexp::try_from(element).map_err(|e| e.with_arg_name(name))).transpose()
    }

    pub fn reals(&self, name: &str) -> Result<RealSexp> {
        RealSexp::try_from(self.need(name)?).map_err(|e| e.with_arg_name(name))
    }

    pub fn maybe_integers(&self, name: &str) -> Result<Option<IntegerSexp>> {
        self.get(name).map(|element| IntegerSexp::try_from(element).map_err(|e| e.with_arg_name(name))).transpose()
    }

    pub fn integers(&self, name: &str) -> Result<IntegerSexp> {
        IntegerSexp::try_from(self.need(name)?).map_err(|e| e.with_arg_name(name))
    }

    /// Counts, or numbers counted from 0; a negative one becomes one beyond every end, which is refused as such.
    pub fn maybe_counts(&self, name: &str) -> Result<Option<Vec<usize>>> {
        Ok(self.maybe_integers(name)?.map(|numbers| counts(&numbers)))
    }

    pub fn counts(&self, name: &str) -> Result<Vec<usize>> {
        Ok(self.maybe_counts(name)?.unwrap_or_default())
    }

    pub fn maybe_number(&self, name: &str) -> Result<Option<f64>> {
        let Some(numbers) = self.maybe_reals(name)? else { return Ok(None) };
        match numbers.as_slice() {
            [number] => Ok(Some(*number)),
            other => Err(savvy_err!("`{name}` has length {}, expected 1", other.len())),
        }
    }

    pub fn number(&self, name: &str) -> Result<f64> {
        self.maybe_number(name)?.ok_or_else(|| savvy_err!("`{name}` is missing"))
    }

    pub fn count(&self, name: &str) -> Result<usize> {
        Ok(self.number(name)? as usize)
    }

    pub fn flag(&self, name: &str) -> Result<bool> {
        bool::try_from(self.need(name)?).map_err(|e| e.with_arg_name(name))
    }

    pub fn maybe_word(&self, name: &str) -> Result<Option<String>> {
        let Some(element) = self.get(name) else { return Ok(None) };
        let words = StringSexp::try_from(element).map_err(|e| e.with_arg_name(name))?;
        Ok(words.iter().next().map(str::to_string))
    }

    pub fn word(&self, name: &str) -> Result<String> {
        self.maybe_word(name)?.ok_or_else(|| savvy_err!("`{name}` is missing"))
    }

    pub fn maybe_list(&self, name: &str) -> Result<Option<ListSexp>> {
        self.get(name).map(|element| ListSexp::try_from(element).map_err(|e| e.with_arg_name(name))).transpose()
    }

    pub fn function(&self, name: &str) -> Result<FunctionSexp> {
        FunctionSexp::try_from(self.need(name)?).map_err(|e| e.with_arg_name(name))
    }

    /// An element that is a vector of numbers (a full matrix) or a list (its parts).
    pub fn is_list(&self, name: &str) -> bool {
        self.get(name).is_some_and(|element| element.is_list())
    }
}

/// Whole numbers as counts.
pub fn counts(numbers: &IntegerSexp) -> Vec<usize> {
    numbers.as_slice().iter().map(|&number| usize::try_from(number).unwrap_or(usize::MAX)).collect()
}
