//! Heat maps.

use crate::axis::{Axis, short};
use crate::chart::{at_least, heading};
use crate::svg::{Anchor, Svg, fit, px, text_width};
use crate::theme::{DIVERGING, LABEL, SEQUENTIAL, SMALL, interpolate};
use std::fmt::Write;

/// From numbers to colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Colours {
    /// From light (the least) to dark (the most).
    #[default]
    Sequential,
    /// Negative orange, zero white, positive blue; as far to either side.
    Diverging,
}

/// Shades told apart; neighbours of one shade are drawn as one rectangle.
const SHADES: usize = 128;
/// Up to so many cells each has its tooltip.
const MOST_TIPS: usize = 10_000;

/// A matrix of colours, with its colour bar.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HeatMap {
    /// The title.
    pub title: String,
    /// A smaller line below it.
    pub subtitle: String,
    /// Row by row, the first on top. Missing and non-finite entries are drawn grey.
    pub values: Vec<Vec<f64>>,
    /// Names of the rows. Default: numbers from 1.
    pub row_names: Vec<String>,
    /// Names of the columns. Default: numbers from 1.
    pub column_names: Vec<String>,
    /// What the colours measure, beside the bar.
    pub label: String,
    /// Which colours.
    pub colours: Colours,
    /// The numbers at the ends of the bar. Default: of the data (from 0 if none is negative; symmetric when diverging).
    pub range: Option<(f64, f64)>,
    /// In pixels. Default 520.
    pub width: f64,
    /// In pixels. Default: such that the cells are square.
    pub height: Option<f64>,
}

impl HeatMap {
    /// A heat map of these rows.
    pub fn new(title: impl Into<String>, values: Vec<Vec<f64>>) -> Self {
        Self { title: title.into(), values, width: 520.0, ..Self::default() }
    }

    /// A line below the title.
    pub fn subtitle(self, subtitle: impl Into<String>) -> Self {
        Self { subtitle: subtitle.into(), ..self }
    }

    /// The same names for rows and columns.
    pub fn names(self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let row_names: Vec<String> = names.into_iter().map(Into::into).collect();
        Self { column_names: row_names.clone(), row_names, ..self }
    }

    /// What the colours measure.
    pub fn label(self, label: impl Into<String>) -> Self {
        Self { label: label.into(), ..self }
    }

    /// Diverging colours around zero.
    pub fn diverging(self) -> Self {
        Self { colours: Colours::Diverging, ..self }
    }

    /// The numbers at the ends of the bar.
    pub fn range(self, low: f64, high: f64) -> Self {
        Self { range: Some((low, high)), ..self }
    }

    /// Width in pixels.
    pub fn width(self, width: f64) -> Self {
        Self { width, ..self }
    }

    /// The picture.
    pub fn to_svg(&self) -> String {
        let (width, height) = self.extent();
        Svg::document(width, height, &self.title, |svg| self.draw(svg))
    }

    fn columns(&self) -> usize {
        self.values.iter().map(Vec::len).max().unwrap_or(0)
    }

    fn lay_out(&self) -> Place {
        let width = at_least(self.width, 200.0);
        let (rows, columns) = (self.values.len(), self.columns());
        let names = |names: &[String]| names.iter().map(|n| text_width(n, SMALL)).fold(0.0, f64::max).min(140.0);
        let left = 22.0 + if self.row_names.is_empty() { 18.0 } else { names(&self.row_names) };
        let right = 60.0 + if self.label.is_empty() { 0.0 } else { LABEL + 4.0 };
        let inner = (width - left - right).max(40.0);
        let cell = inner / columns.max(1) as f64;
        let title = if self.title.is_empty() { 0.0 } else { 22.0 } + if self.subtitle.is_empty() { 0.0 } else { 18.0 };
        let top = title + 14.0;
        let below = 26.0 + if self.column_names.is_empty() { 0.0 } else { names(&self.column_names) - 8.0 };
        let inner_height = match self.height {
            Some(height) => (at_least(height, 120.0) - top - below).max(30.0),
            None => (cell * rows.max(1) as f64).clamp(60.0, 3.0 * inner),
        };
        Place { width, height: top + inner_height + below, left, top, inner, inner_height }
    }

    pub(crate) fn extent(&self) -> (f64, f64) {
        let place = self.lay_out();
        (place.width, place.height)
    }

    /// The ends of the colour bar.
    fn limits(&self) -> (f64, f64) {
        let finite = |v: &&f64| v.abs() < 1e300;
        let given = self.range.filter(|(a, b)| a.abs() < 1e300 && b.abs() < 1e300 && a < b);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        self.values.iter().flatten().filter(finite).for_each(|v| (low, high) = (low.min(*v), high.max(*v)));
        match (given, self.colours) {
            (Some(ends), _) => ends,
            _ if low > high => (0.0, 1.0),
            (None, Colours::Diverging) => {
                let size = low.abs().max(high.abs());
                if size > 0.0 { (-size, size) } else { (-1.0, 1.0) }
            }
            (None, Colours::Sequential) if low >= 0.0 => (0.0, if high > 0.0 { high } else { 1.0 }),
            (None, Colours::Sequential) => (low, if high > low { high } else { low.abs() }),
        }
    }

    fn shade(&self, v: f64, (low, high): (f64, f64)) -> Option<usize> {
        let t = ((v - low) / (high - low)).clamp(0.0, 1.0);
        v.is_finite().then(|| (t * (SHADES - 1) as f64).round() as usize)
    }

    fn colour(&self, shade: usize) -> String {
        let t = shade as f64 / (SHADES - 1) as f64;
        match self.colours {
            Colours::Sequential => interpolate(&SEQUENTIAL, t),
            Colours::Diverging => interpolate(&DIVERGING, t),
        }
    }

    pub(crate) fn draw(&self, svg: &mut Svg) {
        let place = self.lay_out();
        heading(svg, place.width, &self.title, &self.subtitle);
        let (left, top, w, h) = (px(place.left), px(place.top), px(place.inner), px(place.inner_height));
        svg.put(format_args!("<rect class=\"kp-none\" x=\"{left}\" y=\"{top}\" width=\"{w}\" height=\"{h}\"/>"));
        if self.columns() == 0 {
            let middle = (place.left + place.inner / 2.0, place.top + place.inner_height / 2.0);
            svg.text(middle, Anchor::Middle, "kp-label kp-muted", "no data");
            return;
        }
        self.draw_cells(svg, &place);
        svg.put(format_args!("<rect class=\"kp-frame\" x=\"{left}\" y=\"{top}\" width=\"{w}\" height=\"{h}\"/>"));
        self.draw_names(svg, &place);
        self.draw_bar(svg, &place);
    }

    /// All runs of a shade in one path, in units of cells; tooltips above, where there are not too many.
    fn draw_cells(&self, svg: &mut Svg, place: &Place) {
        let (rows, columns, limits) = (self.values.len(), self.columns(), self.limits());
        let mut paths = vec![String::new(); SHADES];
        for (i, row) in self.values.iter().enumerate() {
            let mut j = 0;
            while j < row.len() {
                let shade = self.shade(row[j], limits);
                let end = (j..row.len()).find(|&e| self.shade(row[e], limits) != shade).unwrap_or(row.len());
                if let Some(shade) = shade {
                    let _ = write!(paths[shade], "M{j} {i}h{}v1h-{}z", end - j, end - j);
                }
                j = end;
            }
        }
        let (x, y) = (place.inner / columns as f64, place.inner_height / rows as f64);
        svg.put(format_args!(
            "<g transform=\"translate({} {}) scale({x:.5} {y:.5})\" shape-rendering=\"crispEdges\">",
            px(place.left),
            px(place.top)
        ));
        for (shade, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
            svg.put(format_args!("<path fill=\"{}\" d=\"{path}\"/>", self.colour(shade)));
        }
        if rows * columns <= MOST_TIPS {
            for (i, row) in self.values.iter().enumerate() {
                for (j, v) in row.iter().enumerate() {
                    svg.put(format_args!("<rect x=\"{j}\" y=\"{i}\" width=\"1\" height=\"1\" fill-opacity=\"0\">"));
                    let value = if v.is_finite() { short(*v) } else { "missing".to_string() };
                    svg.tip(&format!("{}, {}: {value}", name(&self.row_names, i), name(&self.column_names, j)));
                    svg.put(format_args!("</rect>"));
                }
            }
        }
        svg.put(format_args!("</g>"));
    }

    fn draw_names(&self, svg: &mut Svg, place: &Place) {
        let bottom = place.top + place.inner_height;
        let (rows, columns) = (self.values.len(), self.columns());
        for i in shown(rows, place.inner_height, self.row_names.is_empty()) {
            let y = place.top + (i as f64 + 0.5) * place.inner_height / rows as f64;
            let text = fit(&name(&self.row_names, i), SMALL, 140.0);
            svg.text((place.left - 6.0, y + 4.0), Anchor::End, "kp-muted", &text);
        }
        for j in shown(columns, place.inner, self.column_names.is_empty()) {
            let x = place.left + (j as f64 + 0.5) * place.inner / columns as f64;
            let text = fit(&name(&self.column_names, j), SMALL, 140.0);
            if self.column_names.is_empty() {
                svg.text((x, bottom + SMALL + 5.0), Anchor::Middle, "kp-muted", &text);
            } else {
                svg.text_turned((x + 4.0, bottom + 7.0), -90.0, Anchor::End, "kp-muted", &text);
            }
        }
    }

    fn draw_bar(&self, svg: &mut Svg, place: &Place) {
        let (low, high) = self.limits();
        let (x, y, height) = (place.left + place.inner + 14.0, place.top, place.inner_height.min(240.0));
        const PARTS: usize = 48;
        for part in 0..PARTS {
            let shade = (PARTS - 1 - part) * (SHADES - 1) / (PARTS - 1);
            let (y, h) = (px(y + height * part as f64 / PARTS as f64), px(height / PARTS as f64 + 0.6));
            let colour = self.colour(shade);
            svg.put(format_args!("<rect fill=\"{colour}\" x=\"{}\" y=\"{y}\" width=\"12\" height=\"{h}\"/>", px(x)));
        }
        let (fx, fy, fh) = (px(x), px(y), px(height));
        svg.put(format_args!("<rect class=\"kp-frame\" x=\"{fx}\" y=\"{fy}\" width=\"12\" height=\"{fh}\"/>"));
        let axis = Axis::linear("").range(low, high).over(std::iter::empty(), y + height, y);
        for tick in axis.ticks(40.0) {
            svg.text((x + 17.0, tick.at + 4.0), Anchor::Start, "kp-muted", &tick.label);
        }
        let at = (place.width - 8.0, y + height / 2.0);
        svg.text_turned(at, -90.0, Anchor::Middle, "", &fit(&self.label, SMALL, height.max(80.0)));
    }
}

/// Where things are, in pixels.
struct Place {
    width: f64,
    height: f64,
    left: f64,
    top: f64,
    inner: f64,
    inner_height: f64,
}

fn name(names: &[String], i: usize) -> String {
    names.get(i).cloned().unwrap_or_else(|| (i + 1).to_string())
}

/// Which of `count` names have room: every one, or every 2nd, 5th, 10th, ...; numbers are round.
fn shown(count: usize, length: f64, numbers: bool) -> impl Iterator<Item = usize> {
    let fits = (length / if numbers { 34.0 } else { 13.0 }).max(1.0);
    let least = (count as f64 / fits).ceil().max(1.0) as usize;
    let round = |decade: usize| [decade, 2 * decade, 5 * decade];
    let step = [1, 10, 100, 1_000, 10_000].into_iter().flat_map(round).find(|s| *s >= least).unwrap_or(least);
    // The number of entry i is i + 1.
    (0..count).filter(move |i| if numbers && step > 1 { (i + 1).is_multiple_of(step) } else { i.is_multiple_of(step) })
}
