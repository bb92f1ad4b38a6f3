//! Small multiples.

use crate::chart::{Chart, Legend, draw_legend, heading};
use crate::series::Series;
use crate::svg::Svg;
use crate::{HeatMap, Network};

/// A picture in a grid.
#[derive(Debug, Clone, PartialEq)]
pub enum Panel {
    /// A chart.
    Chart(Chart),
    /// A heat map.
    HeatMap(HeatMap),
    /// A network.
    Network(Network),
}

impl From<Chart> for Panel {
    fn from(chart: Chart) -> Self {
        Self::Chart(chart)
    }
}

impl From<HeatMap> for Panel {
    fn from(map: HeatMap) -> Self {
        Self::HeatMap(map)
    }
}

impl From<Network> for Panel {
    fn from(network: Network) -> Self {
        Self::Network(network)
    }
}

impl Panel {
    fn extent(&self) -> (f64, f64) {
        match self {
            Self::Chart(chart) => chart.extent(),
            Self::HeatMap(map) => map.extent(),
            Self::Network(network) => network.extent(),
        }
    }

    fn draw(&self, svg: &mut Svg, shared_legend: bool) {
        match self {
            Self::Chart(chart) => {
                let legend = if shared_legend && chart.legend == Legend::Top { Legend::Hidden } else { chart.legend };
                chart.draw(svg, legend);
            }
            Self::HeatMap(map) => map.draw(svg),
            Self::Network(network) => network.draw(svg),
        }
    }
}

/// Several pictures in rows, each in its own size, under one title.
///
/// Series of the same name in several charts should have the same colour ([`Series::colour`](crate::Series::colour)):
/// the shared legend shows the first of each name.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// The title over all.
    pub title: String,
    /// A smaller line below it.
    pub subtitle: String,
    /// The pictures, row by row.
    pub panels: Vec<Panel>,
    /// Pictures in a row. Default 2.
    pub columns: usize,
    /// One legend on top for all charts. Default true.
    pub shared_legend: bool,
}

impl Grid {
    /// An empty grid.
    pub fn new(title: impl Into<String>, columns: usize) -> Self {
        Self { title: title.into(), subtitle: String::new(), panels: Vec::new(), columns, shared_legend: true }
    }

    /// A line below the title.
    pub fn subtitle(self, subtitle: impl Into<String>) -> Self {
        Self { subtitle: subtitle.into(), ..self }
    }

    /// One more picture.
    pub fn with(mut self, panel: impl Into<Panel>) -> Self {
        self.panels.push(panel.into());
        self
    }

    /// The picture.
    pub fn to_svg(&self) -> String {
        let rows: Vec<&[Panel]> = self.panels.chunks(self.columns.max(1)).collect();
        let row_size = |row: &&[Panel]| {
            row.iter().map(Panel::extent).fold((0.0, 0f64), |(w, h), panel| (w + panel.0, h.max(panel.1)))
        };
        let width = rows.iter().map(|row| row_size(row).0).fold(320.0, f64::max);
        // What stands on top has a height known only once it is drawn: drawn first into nothing.
        let mut top = 0.0;
        let head = |svg: &mut Svg| {
            let mut top = heading(svg, width, &self.title, &self.subtitle);
            let named = if self.shared_legend { self.names() } else { Vec::new() };
            if named.len() > 1 {
                top += draw_legend(svg, (12.0, top + 4.0), width - 24.0, &named);
            }
            top + 6.0
        };
        Svg::document(1.0, 1.0, "", |svg| top = head(svg));
        let height = top + rows.iter().map(|row| row_size(row).1).sum::<f64>();
        Svg::document(width, height.max(60.0), &self.title, |svg| {
            head(svg);
            let mut y = top;
            for row in &rows {
                let mut x = 0.0;
                for panel in *row {
                    svg.shifted(x, y, |svg| panel.draw(svg, self.shared_legend));
                    x += panel.extent().0;
                }
                y += row_size(row).1;
            }
        })
    }

    /// The first series of each name over all charts.
    fn names(&self) -> Vec<(usize, &Series)> {
        let mut out: Vec<(usize, &Series)> = Vec::new();
        for panel in &self.panels {
            let Panel::Chart(chart) = panel else { continue };
            for (place, series) in chart.named() {
                if chart.legend == Legend::Top && out.iter().all(|(_, s)| s.name != series.name) {
                    out.push((place, series));
                }
            }
        }
        out
    }
}
