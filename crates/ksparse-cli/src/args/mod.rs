//! Options that several commands share: text in, checked values out.

pub mod bounds;
pub mod choice;
pub mod columns;
pub mod data;
pub mod device;
pub mod loss;
pub mod moments;
pub mod options;
pub mod parse;
pub mod recipe;
pub mod solve;
pub mod survival;
