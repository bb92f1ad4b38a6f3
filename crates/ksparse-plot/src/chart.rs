//! Charts: series over two axes.

use crate::axis::{Axis, Mapping, Tick, widest};
use crate::draw::{self, Plot};
use crate::series::Series;
use crate::svg::{Anchor, BOLD, Svg, fit, px, text_width};
use crate::theme::{LABEL, SMALL, TITLE};

/// Where the names of the series stand; never over the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Legend {
    /// Above the plot, when more than one series has a name.
    #[default]
    Top,
    /// At the right end of each line.
    End,
    /// Nowhere.
    Hidden,
}

/// A straight line across the plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// Upright at this x (true), or level at this y.
    pub upright: bool,
    /// Where.
    pub at: f64,
    /// What it means.
    pub label: String,
}

/// A point with a ring around it and a label, such as the chosen k.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// Its x.
    pub x: f64,
    /// Its y.
    pub y: f64,
    /// What it is.
    pub label: String,
}

/// Series over two axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// The title: what is to be seen.
    pub title: String,
    /// A smaller line below it.
    pub subtitle: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The data; later ones are drawn over earlier ones.
    pub series: Vec<Series>,
    /// Lines across the plot.
    pub references: Vec<Reference>,
    /// Points to be noticed.
    pub marks: Vec<Mark>,
    /// Where the names are.
    pub legend: Legend,
    /// In pixels. Default 640.
    pub width: f64,
    /// In pixels. Default 400.
    pub height: f64,
}

impl Default for Chart {
    fn default() -> Self {
        Self {
            title: String::new(),
            subtitle: String::new(),
            x: Axis::default(),
            y: Axis::default(),
            series: Vec::new(),
            references: Vec::new(),
            marks: Vec::new(),
            legend: Legend::Top,
            width: 640.0,
            height: 400.0,
        }
    }
}

impl Chart {
    /// An empty chart.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// A line below the title.
    pub fn subtitle(self, subtitle: impl Into<String>) -> Self {
        Self { subtitle: subtitle.into(), ..self }
    }

    /// The horizontal axis.
    pub fn x(self, x: Axis) -> Self {
        Self { x, ..self }
    }

    /// The vertical axis.
    pub fn y(self, y: Axis) -> Self {
        Self { y, ..self }
    }

    /// One more series.
    pub fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// An upright line at `x`.
    pub fn at_x(mut self, x: f64, label: impl Into<String>) -> Self {
        self.references.push(Reference { upright: true, at: x, label: label.into() });
        self
    }

    /// A level line at `y`.
    pub fn at_y(mut self, y: f64, label: impl Into<String>) -> Self {
        self.references.push(Reference { upright: false, at: y, label: label.into() });
        self
    }

    /// A ring around a point.
    pub fn mark(mut self, x: f64, y: f64, label: impl Into<String>) -> Self {
        self.marks.push(Mark { x, y, label: label.into() });
        self
    }

    /// Where the names of the series stand.
    pub fn legend(self, legend: Legend) -> Self {
        Self { legend, ..self }
    }

    /// In pixels, at least 160 x 120.
    pub fn size(self, width: f64, height: f64) -> Self {
        Self { width, height, ..self }
    }

    /// The picture.
    pub fn to_svg(&self) -> String {
        let (width, height) = self.extent();
        Svg::document(width, height, &self.title, |svg| self.draw(svg, self.legend))
    }

    pub(crate) fn extent(&self) -> (f64, f64) {
        (at_least(self.width, 160.0), at_least(self.height, 120.0))
    }

    /// Named series and their place, for a legend.
    pub(crate) fn named(&self) -> Vec<(usize, &Series)> {
        self.series.iter().enumerate().filter(|(_, s)| !s.name.is_empty() && !s.faint).collect()
    }

    pub(crate) fn draw(&self, svg: &mut Svg, legend: Legend) {
        self.draw_with(svg, legend, |_, _| {});
    }

    /// Drawn with something of one's own between the axes and the series.
    pub(crate) fn draw_with(&self, svg: &mut Svg, legend: Legend, behind: impl FnOnce(&mut Svg, &Plot)) {
        let (width, height) = self.extent();
        let mut top = heading(svg, width, &self.title, &self.subtitle);
        let named = self.named();
        if legend == Legend::Top && named.len() > 1 {
            top += draw_legend(svg, (12.0, top + 4.0), width - 24.0, &named);
        }
        let plot = self.lay_out(top + 12.0, width, height, legend);
        self.draw_axes(svg, &plot);
        behind(svg, &plot);
        draw::series(svg, self, &plot);
        draw::marks(svg, self, &plot);
        if legend == Legend::End {
            draw::end_labels(svg, self, &plot);
        }
        let drawn = |s: &Series| s.points.iter().any(|&(x, y)| plot.at(x, y).is_some());
        if !self.series.iter().any(drawn) && self.references.is_empty() && self.marks.is_empty() {
            let middle = ((plot.x.start + plot.x.end) / 2.0, (plot.y.start + plot.y.end) / 2.0);
            svg.text(middle, Anchor::Middle, "kp-label kp-muted", "no data");
        }
    }

    fn lay_out(&self, top: f64, width: f64, height: f64, legend: Legend) -> Plot {
        let bottom_labels = if self.x.label.is_empty() { 0.0 } else { LABEL + 8.0 };
        // Names that are too wide for their places are turned.
        let names = self.x.categories.iter().map(|name| text_width(name, SMALL)).fold(0.0, f64::max);
        let turned = names > 0.8 * (width - 90.0) / self.x.categories.len().max(1) as f64;
        let tick_room = if turned { 0.72 * names.min(150.0) + 14.0 } else { SMALL + 8.0 };
        let bottom = (height - bottom_labels - tick_room - 6.0).max(top + 30.0);
        let y = self.y.over(self.y_values(), bottom, top);
        let labels = if self.y.categories.is_empty() { widest(&y.ticks(46.0)) } else { self.names_width() };
        let left = 14.0 + labels + if self.y.label.is_empty() { 0.0 } else { LABEL + 8.0 };
        let ends = self.named().iter().map(|(_, s)| text_width(&s.name, SMALL)).fold(0.0, f64::max);
        let right = if legend == Legend::End { ends.min(0.35 * width) + 30.0 } else { 18.0 };
        let x = self.x.over(self.x_values(), left, (width - right).max(left + 40.0));
        Plot { x, y, turned }
    }

    fn names_width(&self) -> f64 {
        self.y.categories.iter().map(|name| text_width(name, SMALL)).fold(0.0, f64::max).min(180.0)
    }

    fn x_values(&self) -> impl Iterator<Item = f64> + '_ {
        let points = self.series.iter().flat_map(|s| s.points.iter().map(|p| p.0));
        let lines = self.references.iter().filter(|r| r.upright).map(|r| r.at);
        points.chain(lines).chain(self.marks.iter().map(|m| m.x))
    }

    fn y_values(&self) -> impl Iterator<Item = f64> + '_ {
        let own = |s: &'_ Series| {
            let zero = (s.kind == crate::Kind::Columns).then_some(0.0);
            zero.into_iter().collect::<Vec<f64>>()
        };
        let points = self.series.iter().flat_map(move |s| {
            let ends = s.band.iter().chain(&s.bars).flat_map(|&(a, b)| [a, b]);
            s.points.iter().map(|p| p.1).chain(ends).chain(own(s))
        });
        let lines = self.references.iter().filter(|r| !r.upright).map(|r| r.at);
        points.chain(lines).chain(self.marks.iter().map(|m| m.y))
    }

    fn draw_axes(&self, svg: &mut Svg, plot: &Plot) {
        let (left, right, top, bottom) = (plot.x.start, plot.x.end, plot.y.end, plot.y.start);
        for tick in ticks_of(&self.y, &plot.y, 46.0) {
            if self.y.categories.is_empty() {
                svg.line((left, tick.at), (right, tick.at), "kp-grid");
            }
            let label = fit(&tick.label, SMALL, 180.0);
            svg.text((left - 7.0, tick.at + 4.0), Anchor::End, "kp-muted", &label);
        }
        for tick in ticks_of(&self.x, &plot.x, 66.0) {
            if self.x.categories.is_empty() {
                svg.line((tick.at, top), (tick.at, bottom), "kp-grid");
            }
            if plot.turned {
                let label = fit(&tick.label, SMALL, 150.0);
                svg.text_turned((tick.at + 4.0, bottom + 14.0), -45.0, Anchor::End, "kp-muted", &label);
            } else {
                svg.text((tick.at, bottom + SMALL + 6.0), Anchor::Middle, "kp-muted", &tick.label);
            }
        }
        svg.put(format_args!(
            "<path class=\"kp-frame\" d=\"M{} {}V{}H{}\"/>",
            px(left),
            px(top),
            px(bottom),
            px(right)
        ));
        let (width, height) = self.extent();
        // In the middle of the plot, which is not that of the picture.
        let middle = ((left + right) / 2.0, (top + bottom) / 2.0);
        let room = |middle: f64, size: f64| 2.0 * middle.min(size - middle) - 8.0;
        let (x, y) = (room(middle.0, width), room(middle.1, height));
        svg.text((middle.0, height - 8.0), Anchor::Middle, "kp-label", &fit(&self.x.label, LABEL, x));
        let at = (LABEL + 4.0, middle.1);
        svg.text_turned(at, -90.0, Anchor::Middle, "kp-label", &fit(&self.y.label, LABEL, y));
    }
}

pub(crate) fn at_least(v: f64, least: f64) -> f64 {
    if v.is_finite() { v.clamp(least, 1e4) } else { least }
}

/// Title and subtitle at the top left; returns the height they take.
pub(crate) fn heading(svg: &mut Svg, width: f64, title: &str, subtitle: &str) -> f64 {
    let mut top = 4.0;
    if !title.is_empty() {
        top += TITLE + 6.0;
        svg.text((12.0, top), Anchor::Start, "kp-title", &fit(title, BOLD * TITLE, width - 18.0));
    }
    if !subtitle.is_empty() {
        top += SMALL + 6.0;
        svg.text((12.0, top), Anchor::Start, "kp-muted", &fit(subtitle, SMALL, width - 18.0));
    }
    top
}

/// Names with their signs in rows; returns the height they take.
pub(crate) fn draw_legend(svg: &mut Svg, (left, top): (f64, f64), width: f64, named: &[(usize, &Series)]) -> f64 {
    const ROW: f64 = 20.0;
    let (mut x, mut y) = (left, top + 14.0);
    for (place, series) in named {
        let name = fit(&series.name, SMALL, width - 40.0);
        let needed = 32.0 + text_width(&name, SMALL) + 16.0;
        if x > left && x + needed - 16.0 > left + width {
            (x, y) = (left, y + ROW);
        }
        draw::swatch(svg, series, *place, (x, y - 4.0));
        svg.text((x + 32.0, y), Anchor::Start, "", &name);
        x += needed;
    }
    y - top + 6.0
}

fn ticks_of(axis: &Axis, mapping: &Mapping, spacing: f64) -> Vec<Tick> {
    if axis.categories.is_empty() {
        return mapping.ticks(spacing);
    }
    let place = |(i, name): (usize, &String)| Some(Tick { at: mapping.pixel(i as f64)?, label: name.clone() });
    axis.categories.iter().enumerate().filter_map(place).collect()
}
