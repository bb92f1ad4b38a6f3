//! Coefficients: along a path, and of one fit.

use crate::chart::{Chart, Legend};
use crate::series::{Marker, Series};
use crate::{Axis, svg::Svg, svg::px};

/// One line per feature over k (or another quantity), the largest at the end named.
#[derive(Debug, Clone, PartialEq)]
pub struct CoefficientPath {
    /// The title.
    pub title: String,
    /// A smaller line below it.
    pub subtitle: String,
    /// The horizontal axis. Default "k".
    pub x: Axis,
    /// The vertical axis. Default "coefficient".
    pub y: Axis,
    /// Where the path was computed, ascending.
    pub at: Vec<f64>,
    /// Name and coefficients of each feature, one per place in `at`; NaN where there is none.
    pub features: Vec<(String, Vec<f64>)>,
    /// How many are named: the largest in size at the end. Default 12.
    pub named: usize,
    /// An upright line here, such as the chosen k, with its label. Default none.
    pub chosen: Option<(f64, String)>,
    /// In pixels. Default 720.
    pub width: f64,
    /// In pixels. Default 440.
    pub height: f64,
}

impl CoefficientPath {
    /// An empty path.
    pub fn new(title: impl Into<String>, at: Vec<f64>) -> Self {
        Self {
            title: title.into(),
            subtitle: String::new(),
            x: Axis::linear("k"),
            y: Axis::linear("coefficient"),
            at,
            features: Vec::new(),
            named: 12,
            chosen: None,
            width: 720.0,
            height: 440.0,
        }
    }

    /// One more feature.
    pub fn with(mut self, name: impl Into<String>, coefficients: Vec<f64>) -> Self {
        self.features.push((name.into(), coefficients));
        self
    }

    /// An upright line at `x`.
    pub fn chosen(self, x: f64, label: impl Into<String>) -> Self {
        Self { chosen: Some((x, label.into())), ..self }
    }

    /// As a chart, to be changed further.
    pub fn to_chart(&self) -> Chart {
        let last = |c: &[f64]| c.iter().rev().find(|v| v.is_finite()).map_or(0.0, |v| v.abs());
        let mut order: Vec<usize> = (0..self.features.len()).collect();
        order.sort_by(|&a, &b| last(&self.features[b].1).total_cmp(&last(&self.features[a].1)).then(a.cmp(&b)));
        let mut chart = Chart::new(&self.title).subtitle(&self.subtitle).x(self.x.clone()).y(self.y.clone());
        chart = chart.legend(Legend::End).size(self.width, self.height).at_y(0.0, "");
        if let Some((x, label)) = &self.chosen {
            chart = chart.at_x(*x, label);
        }
        let mut places = order.iter().enumerate().collect::<Vec<_>>();
        // The largest is drawn last, over all others.
        places.reverse();
        for (place, &feature) in places {
            let (name, coefficients) = &self.features[feature];
            let points = self.at.iter().copied().zip(coefficients.iter().copied()).collect();
            let series = Series::new(name, points).marker(Marker::None);
            let named = place < self.named && last(coefficients) > 0.0;
            chart = chart.with(if named { series.colour(place) } else { series.faint() });
        }
        chart
    }

    /// The picture.
    pub fn to_svg(&self) -> String {
        self.to_chart().to_svg()
    }
}

/// Named values as stems from zero, one under the other: the coefficients of one fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Stems {
    /// The title.
    pub title: String,
    /// A smaller line below it.
    pub subtitle: String,
    /// What the values are. Default "coefficient".
    pub label: String,
    /// Name and value. Values that are not finite are left out.
    pub values: Vec<(String, f64)>,
    /// At most so many, the largest in size; the subtitle says how many are left out. Default 40.
    pub most: usize,
    /// In pixels. Default 560; the height follows from the number of values.
    pub width: f64,
}

impl Stems {
    /// Stems of these values, in this order.
    pub fn new(title: impl Into<String>, values: Vec<(String, f64)>) -> Self {
        let (subtitle, label) = (String::new(), "coefficient".to_string());
        Self { title: title.into(), subtitle, label, values, most: 40, width: 560.0 }
    }

    /// The picture.
    pub fn to_svg(&self) -> String {
        let finite: Vec<&(String, f64)> = self.values.iter().filter(|(_, v)| v.is_finite()).collect();
        let mut order: Vec<usize> = (0..finite.len()).collect();
        order.sort_by(|&a, &b| finite[b].1.abs().total_cmp(&finite[a].1.abs()).then(a.cmp(&b)));
        order.truncate(self.most);
        order.sort_unstable();
        let shown: Vec<&(String, f64)> = order.iter().rev().map(|&i| finite[i]).collect();
        let left_out = finite.len() - shown.len();
        let note = if left_out > 0 {
            format!("the {} largest; {left_out} more not shown", shown.len())
        } else {
            String::new()
        };
        let subtitle =
            [self.subtitle.as_str(), &note].iter().filter(|s| !s.is_empty()).copied().collect::<Vec<_>>().join("; ");
        let names = Axis::categories("", shown.iter().map(|(name, _)| name.clone()));
        let points: Vec<(f64, f64)> = shown.iter().enumerate().map(|(i, (_, v))| (*v, i as f64)).collect();
        let tips = shown.iter().map(|(name, v)| format!("{name}: {}", crate::axis::short(*v))).collect();
        let height = 90.0 + 19.0 * shown.len().max(2) as f64;
        let chart = Chart::new(&self.title)
            .subtitle(subtitle)
            .x(Axis::linear(&self.label).from_zero())
            .y(names)
            .size(self.width, height)
            .at_x(0.0, "")
            .with(Series::points("", points).tips(tips).marker(Marker::Circle));
        let (width, height) = chart.extent();
        Svg::document(width, height, &self.title, |svg| {
            chart.draw_with(svg, Legend::Hidden, |svg, plot| {
                for (i, (_, v)) in shown.iter().enumerate() {
                    if let (Some((zero, y)), Some((x, _))) = (plot.at(0.0, i as f64), plot.at(*v, i as f64)) {
                        let (zero, x, y) = (px(zero), px(x), px(y));
                        svg.put(format_args!("<path class=\"kp-line kp-s0\" d=\"M{zero} {y}H{x}\"/>"));
                    }
                }
            });
        })
    }
}
