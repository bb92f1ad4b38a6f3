//! Self-contained SVG pictures: charts, coefficient paths, heat maps, networks, and grids of them. No dependencies.
//!
//! Every picture is a plain struct with public fields, methods that set them in a chain, and `to_svg()`. What comes out
//! is one `<svg>` element that stands alone in a file or inside an HTML page: no script, no font, no image, nothing
//! fetched. Colours follow the reader's light or dark preference and can be told apart by colour-blind readers; series
//! differ by marker and dash as well. Points, cells, nodes and edges carry `<title>` tooltips.
//!
//! ```
//! use ksparse_plot::{Axis, Chart, Series};
//! let errors = Series::new("GraHTP", vec![(100.0, 0.31), (200.0, 0.22), (400.0, 0.15)]);
//! let axes = (Axis::log("samples"), Axis::linear("error").from_zero());
//! let chart = Chart::new("Error falls with n").x(axes.0).y(axes.1).with(errors);
//! let svg = chart.mark(400.0, 0.15, "chosen").to_svg();
//! assert!(svg.starts_with("<svg") && svg.contains("Error falls with n"));
//! ```
//!
//! | struct | draws |
//! |---|---|
//! | [`Chart`] | lines, points, steps or columns over linear or log axes; bands, error bars, marked points |
//! | [`CoefficientPath`] | one line per feature over k, the largest named |
//! | [`Stems`] | named values as stems from zero: the coefficients of one fit |
//! | [`HeatMap`] | a matrix of colours with its colour bar, sequential or diverging |
//! | [`Network`] | nodes, and edges with weight and sign, laid out by distances in the graph |
//! | [`PathPage`] | an HTML page with a slider over k: the one with a script, its own |
//! | [`Grid`] | small multiples of any of these, under one title and one legend |
//!
//! Nothing here panics, whatever the numbers: NaN, infinities and (on a log axis) numbers that are not positive are
//! left out, a line breaks there; constant data get an axis around them; a picture without data says so. All text is
//! escaped.

mod axis;
mod chart;
mod draw;
mod grid;
mod heat;
mod layout;
mod network;
mod path;
mod path_page;
mod series;
mod svg;
mod theme;

pub use axis::{Axis, Scale};
pub use chart::{Chart, Legend, Mark, Reference};
pub use grid::{Grid, Panel};
pub use heat::{Colours, HeatMap};
pub use network::{Edge, Network};
pub use path::{CoefficientPath, Stems};
pub use path_page::{PathPage, PathStep};
pub use series::{Kind, Marker, Series};
pub use svg::escape;
pub use theme::{PALETTE, PALETTE_DARK};
