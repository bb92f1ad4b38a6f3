//! What R gets back: vectors and lists, built here and handed over at once, so that no piece is ever unprotected.

use savvy::{
    NullSexp, OwnedIntegerSexp, OwnedListSexp, OwnedLogicalSexp, OwnedRealSexp, OwnedStringSexp, Result, Sexp,
};

/// A value of R.
pub enum Value {
    Null,
    Real(f64),
    Reals(Vec<f64>),
    /// By columns.
    Matrix {
        rows: usize,
        values: Vec<f64>,
    },
    Counts(Vec<usize>),
    Flag(bool),
    Word(String),
    Words(Vec<String>),
    List(Vec<Value>),
    Record(Vec<(&'static str, Value)>),
}

impl Value {
    /// Indices counted from 0, as R counts them.
    pub fn indices(from_zero: &[usize]) -> Self {
        Self::Counts(from_zero.iter().map(|i| i + 1).collect())
    }

    pub fn maybe<T>(value: Option<T>, make: impl FnOnce(T) -> Self) -> Self {
        value.map_or(Self::Null, make)
    }

    /// Handed to R.
    pub fn into_sexp(self) -> Result<Sexp> {
        let mut outer = OwnedListSexp::new(1, false)?;
        self.put(&mut outer, 0)?;
        // The only element of a list that is protected until R has it.
        Ok(outer.get_by_index(0).unwrap_or(Sexp::from(NullSexp)))
    }

    fn put(self, list: &mut OwnedListSexp, place: usize) -> Result<()> {
        match self {
            Self::Null => list.set_value(place, NullSexp),
            Self::Real(number) => list.set_value(place, OwnedRealSexp::try_from_scalar(number)?),
            Self::Reals(numbers) => list.set_value(place, OwnedRealSexp::try_from_slice(numbers)?),
            Self::Matrix { rows, values } => {
                let columns = values.len().checked_div(rows).unwrap_or(0);
                let mut matrix = OwnedRealSexp::try_from_slice(values)?;
                matrix.set_dim(&[rows, columns])?;
                list.set_value(place, matrix)
            }
            Self::Counts(counts) => {
                let whole: Vec<i32> = counts.iter().map(|&n| i32::try_from(n).unwrap_or(i32::MAX)).collect();
                list.set_value(place, OwnedIntegerSexp::try_from_slice(whole)?)
            }
            Self::Flag(flag) => list.set_value(place, OwnedLogicalSexp::try_from_scalar(flag)?),
            Self::Word(word) => list.set_value(place, OwnedStringSexp::try_from_scalar(word)?),
            Self::Words(words) => list.set_value(place, OwnedStringSexp::try_from_slice(words)?),
            Self::List(values) => {
                let mut inner = OwnedListSexp::new(values.len(), false)?;
                values.into_iter().enumerate().try_for_each(|(i, value)| value.put(&mut inner, i))?;
                list.set_value(place, inner)
            }
            Self::Record(fields) => {
                let mut inner = OwnedListSexp::new(fields.len(), true)?;
                for (i, (name, value)) in fields.into_iter().enumerate() {
                    inner.set_name(i, name)?;
                    value.put(&mut inner, i)?;
                }
                list.set_value(place, inner)
            }
        }
    }
}
