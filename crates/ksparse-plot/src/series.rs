//! Series: points in order, with how they are drawn.

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// Joined by straight lines.
    #[default]
    Line,
    /// Joined by stairs: each value holds until the next.
    Steps,
    /// Markers only.
    Points,
    /// Columns from zero, side by side with those of the other series.
    Columns,
}

/// The sign at a point; colour and shape together tell series apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    /// No sign.
    None,
    /// A disc.
    Circle,
    /// A square.
    Square,
    /// A triangle.
    Triangle,
    /// A square on its corner.
    Diamond,
    /// A triangle upside down.
    Wedge,
    /// A cross.
    Cross,
}

/// The order in which series take markers.
pub(crate) const MARKERS: [Marker; 6] =
    [Marker::Circle, Marker::Square, Marker::Triangle, Marker::Diamond, Marker::Wedge, Marker::Cross];
/// The order in which series take dashes, beyond the first eight.
pub(crate) const DASHES: [&str; 4] = ["", "7 4", "2 4", "9 4 2 4"];

/// A named series of points.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// Its name in the legend; without one it is not listed.
    pub name: String,
    /// x and y. Points that are not finite break the line.
    pub points: Vec<(f64, f64)>,
    /// How it is drawn.
    pub kind: Kind,
    /// The sign at its points. Default: by its place among the series, none beyond 60 points.
    pub marker: Option<Marker>,
    /// Number of its colour. Default: its place among the series. Beyond 8 the colours repeat with dashes.
    pub colour: Option<usize>,
    /// Low and high end of a shaded band, point by point. Default none.
    pub band: Vec<(f64, f64)>,
    /// Low and high end of error bars, point by point. Default none.
    pub bars: Vec<(f64, f64)>,
    /// Text of the tooltips, point by point. Default: name and numbers.
    pub tips: Vec<String>,
    /// Drawn thin and grey, behind the others: context. Default false.
    pub faint: bool,
}

impl Series {
    /// A line through points.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, ..Self::default() }
    }

    /// Markers only.
    pub fn points(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { kind: Kind::Points, ..Self::new(name, points) }
    }

    /// Columns.
    pub fn columns(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { kind: Kind::Columns, ..Self::new(name, points) }
    }

    /// Stairs.
    pub fn steps(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { kind: Kind::Steps, ..Self::new(name, points) }
    }

    /// With a shaded band.
    pub fn band(self, band: Vec<(f64, f64)>) -> Self {
        Self { band, ..self }
    }

    /// With error bars.
    pub fn bars(self, bars: Vec<(f64, f64)>) -> Self {
        Self { bars, ..self }
    }

    /// With error bars of `y - e` to `y + e`.
    pub fn errors(self, errors: &[f64]) -> Self {
        let bars = self.points.iter().zip(errors).map(|((_, y), e)| (y - e, y + e)).collect();
        Self { bars, ..self }
    }

    /// With this marker.
    pub fn marker(self, marker: Marker) -> Self {
        Self { marker: Some(marker), ..self }
    }

    /// With this colour of the palette.
    pub fn colour(self, colour: usize) -> Self {
        Self { colour: Some(colour), ..self }
    }

    /// With these tooltips.
    pub fn tips(self, tips: Vec<String>) -> Self {
        Self { tips, ..self }
    }

    /// Thin, grey and behind.
    pub fn faint(self) -> Self {
        Self { faint: true, ..self }
    }
}
