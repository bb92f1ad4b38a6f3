//! Axes: from numbers to pixels, and the ticks between.

use crate::svg::text_width;
use crate::theme::SMALL;

/// How numbers are spread along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Evenly.
    #[default]
    Linear,
    /// By their logarithm; numbers that are not positive are left out.
    Log,
}

/// An axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Axis {
    /// What it measures, with its unit.
    pub label: String,
    /// Linear or logarithmic.
    pub scale: Scale,
    /// From where to where. Default: around the data.
    pub range: Option<(f64, f64)>,
    /// Include 0 (linear axes only). Default false.
    pub from_zero: bool,
    /// Names at 0, 1, 2, ... instead of numbers. Default none.
    pub categories: Vec<String>,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>) -> Self {
        Self { scale: Scale::Log, ..Self::linear(label) }
    }

    /// An axis of names: the first stands at 0, the second at 1, and so on.
    pub fn categories(label: impl Into<String>, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let categories: Vec<String> = names.into_iter().map(Into::into).collect();
        let range = Some((-0.5, categories.len().max(1) as f64 - 0.5));
        Self { categories, range, ..Self::linear(label) }
    }

    /// Goes from `low` to `high`; what lies outside is cut off.
    pub fn range(self, low: f64, high: f64) -> Self {
        Self { range: Some((low, high)), ..self }
    }

    /// Includes 0.
    pub fn from_zero(self) -> Self {
        Self { from_zero: true, ..self }
    }

    /// The axis laid over pixels `start` to `end`, wide enough for `data`.
    pub(crate) fn over(&self, data: impl Iterator<Item = f64>, start: f64, end: f64) -> Mapping {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut integers = true;
        for v in data.filter(|v| drawable(self.scale, *v)) {
            low = low.min(v);
            high = high.max(v);
            integers &= v.fract() == 0.0;
        }
        if self.from_zero && self.scale == Scale::Linear && low <= high {
            low = low.min(0.0);
            high = high.max(0.0);
        }
        let given = self.range.filter(|(a, b)| drawable(self.scale, *a) && drawable(self.scale, *b) && a < b);
        let (low, high) = match given {
            Some((a, b)) => (self.scale.apply(a), self.scale.apply(b)),
            None if low > high => (0.0, 1.0),
            None => self.padded(low, high),
        };
        Mapping { scale: self.scale, low, high, start, end, integers: integers && given.is_none() }
    }

    /// The range in the scale's units with some air, and never of length 0.
    fn padded(&self, low: f64, high: f64) -> (f64, f64) {
        let (a, b) = (self.scale.apply(low), self.scale.apply(high));
        let size = a.abs().max(b.abs());
        if b - a <= 1e-12 * size {
            let half = match self.scale {
                Scale::Log => 0.5,
                Scale::Linear if size == 0.0 => 1.0,
                Scale::Linear => 0.1 * size,
            };
            return (a - half, b + half);
        }
        let air = 0.045 * (b - a);
        // Zero is a wall: no air beyond it.
        let wall = |edge: f64| self.scale == Scale::Linear && edge == 0.0;
        (if wall(a) { a } else { a - air }, if wall(b) { b } else { b + air })
    }
}

/// Whether a number has a place on the scale. Numbers near the end of f64 have none: their differences overflow.
pub(crate) fn drawable(scale: Scale, v: f64) -> bool {
    v.abs() < 1e300 && (scale == Scale::Linear || v > 1e-300)
}

impl Scale {
    fn apply(self, v: f64) -> f64 {
        if self == Self::Log { v.log10() } else { v }
    }

    fn invert(self, v: f64) -> f64 {
        if self == Self::Log { 10f64.powf(v) } else { v }
    }
}

/// An axis with its pixels.
#[derive(Debug, Clone)]
pub(crate) struct Mapping {
    scale: Scale,
    low: f64,
    high: f64,
    pub start: f64,
    pub end: f64,
    integers: bool,
}

/// A place on an axis: pixel and label.
pub(crate) struct Tick {
    pub at: f64,
    pub label: String,
}

impl Mapping {
    /// The pixel of a number; `None` when it has none.
    pub fn pixel(&self, v: f64) -> Option<f64> {
        drawable(self.scale, v).then(|| self.place(self.scale.apply(v)))
    }

    /// The pixel of a number, the start of the axis for what lies below everything.
    pub fn pixel_or_start(&self, v: f64) -> Option<f64> {
        if self.scale == Scale::Log && v <= 1e-300 { Some(self.start) } else { self.pixel(v) }
    }

    /// Where columns stand on.
    pub fn base(&self) -> f64 {
        if self.scale == Scale::Log { self.start } else { self.place(0f64.clamp(self.low, self.high)) }
    }

    /// Whether a number lies within the axis.
    pub fn holds(&self, v: f64) -> bool {
        let slack = 1e-9 * (self.high - self.low);
        drawable(self.scale, v) && (self.low - slack..=self.high + slack).contains(&self.scale.apply(v))
    }

    fn place(&self, t: f64) -> f64 {
        // Far outside is drawn as just outside: viewers are not made for pixels of 1e200.
        let share = ((t - self.low) / (self.high - self.low)).clamp(-20.0, 21.0);
        self.start + share * (self.end - self.start)
    }

    /// Ticks about `spacing` pixels apart.
    pub fn ticks(&self, spacing: f64) -> Vec<Tick> {
        let count = ((self.end - self.start).abs() / spacing).clamp(2.0, 12.0);
        let values = match self.scale {
            Scale::Linear => linear_ticks(self.low, self.high, count, self.integers),
            Scale::Log => log_ticks(self.low, self.high, count),
        };
        let inside = values.into_iter().filter(|(v, _)| self.holds(*v));
        inside.filter_map(|(v, label)| Some(Tick { at: self.pixel(v)?, label })).collect()
    }
}

/// The widest label.
pub(crate) fn widest(ticks: &[Tick]) -> f64 {
    ticks.iter().map(|t| text_width(&t.label, SMALL)).fold(0.0, f64::max)
}

/// The smallest of 1, 2, 5 times a power of ten that makes at most `count` steps.
fn nice_step(span: f64, count: f64) -> f64 {
    let raw = span / count;
    let unit = 10f64.powf(raw.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|f| f * unit >= raw * 0.999).unwrap_or(10.0);
    factor * unit
}

fn linear_ticks(low: f64, high: f64, count: f64, integers: bool) -> Vec<(f64, String)> {
    let mut step = nice_step(high - low, count);
    if integers && high - low >= 1.0 {
        step = step.max(1.0);
    }
    let first = (low / step - 1e-9).ceil();
    let size = low.abs().max(high.abs());
    (0..40)
        .map(|i| (first + f64::from(i)) * step)
        .take_while(|v| *v <= high + 1e-9 * step)
        .map(|v| (v, tick_label(v, step, size)))
        .collect()
}

fn log_ticks(low: f64, high: f64, count: f64) -> Vec<(f64, String)> {
    let decades = high - low;
    let every = |factors: &[f64], step: i32| {
        let mut out = Vec::new();
        let mut exponent = (low.floor() as i32).div_euclid(step) * step;
        while f64::from(exponent) <= high && out.len() < 60 {
            out.extend(factors.iter().map(|f| f * 10f64.powi(exponent)));
            exponent += step;
        }
        out.retain(|v: &f64| (low - 1e-9..=high + 1e-9).contains(&v.log10()));
        out
    };
    let mut values = if decades * 3.0 <= count.max(5.0) {
        every(&[1.0, 2.0, 5.0], 1)
    } else {
        every(&[1.0], ((decades / count).ceil() as i32).max(1))
    };
    if values.len() < 2 {
        let (a, b) = (Scale::Log.invert(low), Scale::Log.invert(high));
        return linear_ticks(a, b, count.min(5.0), false).into_iter().filter(|(v, _)| *v > 0.0).collect();
    }
    let plain = values.iter().all(|v| (0.9e-3..1.1e4).contains(v));
    values.drain(..).map(|v| (v, if plain { short(v) } else { scientific(v) })).collect()
}

fn tick_label(v: f64, step: f64, size: f64) -> String {
    if v.abs() < 1e-9 * step {
        return "0".to_string();
    }
    if size >= 1e6 || step < 1e-5 {
        return scientific(v);
    }
    let decimals = (-step.log10() - 1e-9).ceil().max(0.0) as usize;
    thousands(&format!("{v:.decimals$}"))
}

/// Commas between thousands, from 10,000 on.
fn thousands(number: &str) -> String {
    let (sign, rest) = number.strip_prefix('-').map_or(("", number), |rest| ("\u{2212}", rest));
    let (whole, fraction) = rest.find('.').map_or((rest, ""), |dot| rest.split_at(dot));
    if whole.len() < 5 {
        return format!("{sign}{whole}{fraction}");
    }
    let mut out = String::new();
    for (i, c) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(c);
    }
    format!("{sign}{out}{fraction}")
}

/// `1.5x10^6` with a real times sign and superscripts.
fn scientific(v: f64) -> String {
    let text = format!("{v:.4e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.').replace('-', "\u{2212}");
    let power: String = exponent.chars().map(superscript).collect();
    match (exponent, mantissa.as_str()) {
        ("0", _) => mantissa,
        (_, "1") => format!("10{power}"),
        _ => format!("{mantissa}\u{d7}10{power}"),
    }
}

fn superscript(c: char) -> char {
    match c {
        '-' => '\u{207b}',
        '1' => '\u{b9}',
        '2' => '\u{b2}',
        '3' => '\u{b3}',
        d => d.to_digit(10).and_then(|d| char::from_u32(0x2070 + d)).unwrap_or(d),
    }
}

/// A number for a tooltip: four significant digits.
pub(crate) fn short(v: f64) -> String {
    if v == 0.0 {
        return "0".to_string();
    }
    let digits = v.abs().log10().floor();
    if !(-4.0..7.0).contains(&digits) {
        return scientific(v);
    }
    let decimals = (3.0 - digits).max(0.0) as usize;
    let text = format!("{v:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    thousands(text)
}
