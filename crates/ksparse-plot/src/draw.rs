//! Drawing the data of a chart inside its plot.

use crate::axis::{Mapping, short};
use crate::chart::Chart;
use crate::series::{DASHES, Kind, MARKERS, Marker, Series};
use crate::svg::{Anchor, Svg, fit, px, text_width};
use crate::theme::{PALETTE, SMALL};
use std::fmt::Write;

/// The rectangle of the data, with both axes.
pub(crate) struct Plot {
    pub x: Mapping,
    pub y: Mapping,
    /// Names below are turned.
    pub turned: bool,
}

impl Plot {
    /// The pixels of a point that has a place.
    pub fn at(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        Some((self.x.pixel(x)?, self.y.pixel(y)?))
    }
}

/// Colour, dash and marker of a series.
struct Look {
    colour: usize,
    dash: &'static str,
    marker: Marker,
    faint: bool,
}

fn look(series: &Series, place: usize) -> Look {
    let number = series.colour.unwrap_or(place);
    let dash = DASHES[(number / PALETTE.len()) % DASHES.len()];
    let crowded = series.points.len() > 60 && series.kind != Kind::Points;
    let default = if crowded || series.faint { Marker::None } else { MARKERS[number % MARKERS.len()] };
    Look { colour: number % PALETTE.len(), dash, marker: series.marker.unwrap_or(default), faint: series.faint }
}

fn dash(look: &Look) -> String {
    if look.dash.is_empty() || look.faint { String::new() } else { format!(" stroke-dasharray=\"{}\"", look.dash) }
}

/// Reference lines, then faint series, then all others; cut off at the edge of the plot.
pub(crate) fn series(svg: &mut Svg, chart: &Chart, plot: &Plot) {
    let (left, top) = (plot.x.start, plot.y.end);
    // A nested svg cuts without needing a name that is unique in the page. Signs at the very edge keep their other
    // half.
    let air = 7.0;
    let (w, h) = (plot.x.end - left + 2.0 * air, plot.y.start - top + 2.0 * air);
    svg.put(format_args!(
        "<svg x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" viewBox=\"{x} {y} {w} {h}\" overflow=\"hidden\">",
        x = px(left - air),
        y = px(top - air),
        w = px(w),
        h = px(h)
    ));
    for reference in chart.references.iter().filter(|r| inside(r.upright, r.at, plot)) {
        if reference.upright {
            let x = plot.x.pixel(reference.at).unwrap_or(left);
            svg.line((x, plot.y.start), (x, top), "kp-rule");
        } else {
            let y = plot.y.pixel(reference.at).unwrap_or(top);
            svg.line((left, y), (plot.x.end, y), "kp-rule");
        }
    }
    let columns: Vec<usize> = (0..chart.series.len()).filter(|&i| chart.series[i].kind == Kind::Columns).collect();
    let step = column_step(chart, plot);
    for faint in [true, false] {
        for (place, series) in chart.series.iter().enumerate().filter(|(_, s)| s.faint == faint) {
            let rank = columns.iter().position(|&i| i == place);
            match rank {
                Some(rank) => draw_columns(svg, chart, series, place, plot, (rank, columns.len(), step)),
                None => draw_line(svg, chart, series, place, plot),
            }
        }
    }
    svg.put(format_args!("</svg>"));
}

fn inside(upright: bool, at: f64, plot: &Plot) -> bool {
    if upright { plot.x.holds(at) } else { plot.y.holds(at) }
}

fn draw_line(svg: &mut Svg, chart: &Chart, series: &Series, place: usize, plot: &Plot) {
    let look = look(series, place);
    let c = look.colour;
    draw_band(svg, series, plot, c);
    let class = if series.faint { "kp-line kp-thin kp-rest".to_string() } else { format!("kp-line kp-s{c}") };
    if series.kind != Kind::Points {
        let d = line_data(series, plot);
        if !d.is_empty() {
            svg.put(format_args!("<path class=\"{class}\" d=\"{d}\"{}>", dash(&look)));
            svg.tip(&series.name);
            svg.put(format_args!("</path>"));
        }
    }
    for (i, &(x, y)) in series.points.iter().enumerate() {
        let Some(at) = plot.at(x, y) else { continue };
        draw_bar(svg, series, i, plot, at.0, c);
        if look.marker != Marker::None && plot.x.holds(x) && plot.y.holds(y) {
            svg.put(format_args!("<g>"));
            svg.tip(&tip(chart, series, i));
            sign(svg, look.marker, at, c, 1.0);
            svg.put(format_args!("</g>"));
        }
    }
}

fn tip(chart: &Chart, series: &Series, i: usize) -> String {
    if let Some(text) = series.tips.get(i) {
        return text.clone();
    }
    let (x, y) = series.points[i];
    let name = |label: &str, or: &str| if label.is_empty() { or.to_string() } else { label.to_string() };
    let category = (x >= 0.0).then(|| chart.x.categories.get(x as usize)).flatten();
    let x = category.map_or_else(|| format!("{} {}", name(&chart.x.label, "x"), short(x)), Clone::clone);
    let mut text = format!(
        "{}{}{x}: {} {}",
        series.name,
        if series.name.is_empty() { "" } else { ", " },
        name(&chart.y.label, "y"),
        short(y)
    );
    if let Some((low, high)) = series.bars.get(i).or(series.band.get(i)).filter(|(a, b)| a.is_finite() && b.is_finite())
    {
        let _ = write!(text, " ({} to {})", short(*low), short(*high));
    }
    text
}

/// A path through the points, begun anew after each one that has no place.
fn line_data(series: &Series, plot: &Plot) -> String {
    let mut d = String::new();
    let mut previous: Option<(f64, f64)> = None;
    for &(x, y) in &series.points {
        let at = plot.at(x, y);
        if let Some((x, y)) = at {
            let _ = match previous {
                None => write!(d, "M{} {}", px(x), px(y)),
                Some(_) if series.kind == Kind::Steps => write!(d, "H{}V{}", px(x), px(y)),
                Some(_) => write!(d, "L{} {}", px(x), px(y)),
            };
        }
        previous = at;
    }
    d
}

fn draw_band(svg: &mut Svg, series: &Series, plot: &Plot, colour: usize) {
    let mut runs: Vec<Vec<(f64, f64, f64)>> = vec![Vec::new()];
    for (&(x, _), &(low, high)) in series.points.iter().zip(&series.band) {
        match (plot.x.pixel(x), plot.y.pixel_or_start(low), plot.y.pixel(high)) {
            (Some(x), Some(low), Some(high)) => {
                if let Some(run) = runs.last_mut() {
                    run.push((x, low, high));
                }
            }
            _ => runs.push(Vec::new()),
        }
    }
    for run in runs.iter().filter(|run| run.len() > 1) {
        let mut d = String::new();
        for (i, (x, _, high)) in run.iter().enumerate() {
            let _ = write!(d, "{}{} {}", if i == 0 { 'M' } else { 'L' }, px(*x), px(*high));
        }
        for (x, low, _) in run.iter().rev() {
            let _ = write!(d, "L{} {}", px(*x), px(*low));
        }
        svg.put(format_args!("<path class=\"kp-band kp-f{colour}\" d=\"{d}Z\"/>"));
    }
}

fn draw_bar(svg: &mut Svg, series: &Series, i: usize, plot: &Plot, x: f64, colour: usize) {
    let Some(&(low, high)) = series.bars.get(i) else { return };
    if let (Some(low), Some(high)) = (plot.y.pixel_or_start(low), plot.y.pixel(high)) {
        let (x, a, b, l, h) = (px(x), px(x - 3.5), px(x + 3.5), px(low), px(high));
        svg.put(format_args!("<path class=\"kp-bar kp-s{colour}\" d=\"M{x} {l}V{h}M{a} {l}H{b}M{a} {h}H{b}\"/>"));
    }
}

/// Room for the columns at one x: the least distance between two, in pixels.
fn column_step(chart: &Chart, plot: &Plot) -> f64 {
    let columns = chart.series.iter().filter(|s| s.kind == Kind::Columns);
    let mut xs: Vec<f64> = columns.flat_map(|s| s.points.iter().filter_map(|p| plot.x.pixel(p.0))).collect();
    xs.sort_by(f64::total_cmp);
    let gaps = xs.windows(2).map(|w| w[1] - w[0]).filter(|gap| *gap > 0.5);
    let categories = chart.x.categories.len().max(1) as f64;
    gaps.fold((plot.x.end - plot.x.start) / categories, f64::min)
}

fn draw_columns(
    svg: &mut Svg,
    chart: &Chart,
    series: &Series,
    place: usize,
    plot: &Plot,
    (rank, count, step): (usize, usize, f64),
) {
    let c = look(series, place).colour;
    let width = (0.8 * step / count as f64).min(60.0);
    for (i, &(x, y)) in series.points.iter().enumerate() {
        let Some((x, y)) = plot.at(x, y) else { continue };
        let left = x + (rank as f64 - count as f64 / 2.0) * width;
        let (top, bottom) = (y.min(plot.y.base()), y.max(plot.y.base()));
        let (w, h) = (px((width - 2.0).max(1.0)), px(bottom - top));
        svg.put(format_args!(
            "<rect class=\"kp-f{c}\" opacity=\".85\" x=\"{}\" y=\"{}\" width=\"{w}\" height=\"{h}\">",
            px(left + 1.0),
            px(top)
        ));
        svg.tip(&tip(chart, series, i));
        svg.put(format_args!("</rect>"));
        let Some(&(low, high)) = series.bars.get(i) else { continue };
        if let (Some(low), Some(high)) = (plot.y.pixel_or_start(low), plot.y.pixel(high)) {
            let (x, a, b) = (px(left + width / 2.0), px(left + width / 2.0 - 3.5), px(left + width / 2.0 + 3.5));
            let (l, h) = (px(low), px(high));
            svg.put(format_args!(
                "<path class=\"kp-ring\" style=\"stroke-width:1.2\" d=\"M{x} {l}V{h}M{a} {l}H{b}M{a} {h}H{b}\"/>"
            ));
        }
    }
}

/// A marker around a point.
fn sign(svg: &mut Svg, marker: Marker, (x, y): (f64, f64), colour: usize, scale: f64) {
    let r = 3.7 * scale;
    let polygon = |svg: &mut Svg, corners: &[(f64, f64)]| {
        let points: Vec<String> = corners.iter().map(|(a, b)| format!("{},{}", px(x + a), px(y + b))).collect();
        svg.put(format_args!("<polygon class=\"kp-f{colour} kp-edge\" points=\"{}\"/>", points.join(" ")));
    };
    match marker {
        Marker::None => {}
        Marker::Circle => svg.put(format_args!(
            "<circle class=\"kp-f{colour} kp-edge\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>",
            px(x),
            px(y),
            px(1.05 * r)
        )),
        Marker::Square => polygon(svg, &[(-r, -r), (r, -r), (r, r), (-r, r)]),
        Marker::Triangle => polygon(svg, &[(0.0, -1.3 * r), (1.2 * r, r), (-1.2 * r, r)]),
        Marker::Diamond => polygon(svg, &[(0.0, -1.4 * r), (1.4 * r, 0.0), (0.0, 1.4 * r), (-1.4 * r, 0.0)]),
        Marker::Wedge => polygon(svg, &[(0.0, 1.3 * r), (1.2 * r, -r), (-1.2 * r, -r)]),
        Marker::Cross => {
            let (a, b, c, d) = (px(x - r), px(x + r), px(y - r), px(y + r));
            svg.put(format_args!("<path class=\"kp-line kp-s{colour}\" d=\"M{a} {c}L{b} {d}M{a} {d}L{b} {c}\"/>"));
        }
    }
}

/// The sample of a series in a legend; `at` is its left middle.
pub(crate) fn swatch(svg: &mut Svg, series: &Series, place: usize, (x, y): (f64, f64)) {
    let look = look(series, place);
    let c = look.colour;
    if series.kind == Kind::Columns {
        let (x, y) = (px(x + 8.0), px(y - 5.0));
        svg.put(format_args!(
            "<rect class=\"kp-f{c}\" opacity=\".85\" x=\"{x}\" y=\"{y}\" width=\"12\" height=\"10\"/>"
        ));
        return;
    }
    if series.kind != Kind::Points {
        let (a, b, y) = (px(x + 1.0), px(x + 26.0), px(y));
        svg.put(format_args!("<path class=\"kp-line kp-s{c}\" d=\"M{a} {y}H{b}\"{}/>", dash(&look)));
    }
    sign(svg, look.marker, (x + 13.5, y), c, 1.0);
}

/// Rings with labels, and the labels of reference lines.
pub(crate) fn marks(svg: &mut Svg, chart: &Chart, plot: &Plot) {
    let (left, right, top) = (plot.x.start, plot.x.end, plot.y.end);
    for reference in chart.references.iter().filter(|r| inside(r.upright, r.at, plot)) {
        if reference.upright {
            let x = plot.x.pixel(reference.at).unwrap_or(left);
            let (x, anchor, label) = beside(&reference.label, x, 5.0, (left, right));
            svg.text_over((x, top + 11.0), anchor, "kp-muted", &label);
        } else {
            let y = plot.y.pixel(reference.at).unwrap_or(top);
            let y = if y - top > 18.0 { y - 5.0 } else { y + 14.0 };
            svg.text_over((right - 3.0, y), Anchor::End, "kp-muted", &fit(&reference.label, SMALL, right - left - 6.0));
        }
    }
    for mark in chart.marks.iter().filter(|m| plot.x.holds(m.x) && plot.y.holds(m.y)) {
        let Some((x, y)) = plot.at(mark.x, mark.y) else { continue };
        svg.put(format_args!("<circle class=\"kp-ring\" cx=\"{}\" cy=\"{}\" r=\"7.5\">", px(x), px(y)));
        svg.tip(&format!("{}: {} {}, {} {}", mark.label, chart.x.label, short(mark.x), chart.y.label, short(mark.y)));
        svg.put(format_args!("</circle>"));
        let (x, anchor, label) = beside(&mark.label, x, 9.0, (left, right));
        let y = if y - top > 24.0 { y - 10.0 } else { y + 20.0 };
        svg.text_over((x, y), anchor, "", &label);
    }
}

/// Where a label beside `x` goes: to the right where it fits, else to the left, else to the side with more room, cut.
fn beside(label: &str, x: f64, gap: f64, (left, right): (f64, f64)) -> (f64, Anchor, String) {
    let (before, after) = (x - gap - left, right - x - gap - 3.0);
    let wide = text_width(label, SMALL);
    if wide <= after || (wide > before && after >= before) {
        (x + gap, Anchor::Start, fit(label, SMALL, after))
    } else {
        (x - gap, Anchor::End, fit(label, SMALL, before))
    }
}

/// The names of the series at their right ends, moved apart.
pub(crate) fn end_labels(svg: &mut Svg, chart: &Chart, plot: &Plot) {
    const APART: f64 = 14.0;
    let mut labels: Vec<(f64, f64, usize, &str)> = Vec::new();
    for (place, series) in chart.named() {
        let last = series.points.iter().rev().find_map(|&(x, y)| plot.at(x, y).filter(|_| plot.y.holds(y)));
        if let Some((x, y)) = last {
            labels.push((x, y, look(series, place).colour, &series.name));
        }
    }
    labels.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut at: Vec<f64> = labels.iter().map(|l| l.1).collect();
    spread(&mut at, APART, plot.y.end, plot.y.start);
    for ((x, y, colour, name), to) in labels.iter().zip(at) {
        let start = (plot.x.end + 16.0, to);
        svg.line((x + 5.0, *y), (plot.x.end + 4.0, *y), &format!("kp-s{colour} kp-thin"));
        svg.line((plot.x.end + 4.0, *y), (start.0 - 2.0, to), &format!("kp-s{colour} kp-thin"));
        let (width, _) = chart.extent();
        svg.text(
            (start.0, to + 4.0),
            Anchor::Start,
            &format!("kp-f{colour}"),
            &fit(name, SMALL, width - start.0 - 4.0),
        );
    }
}

/// Moves ascending positions at least `apart` apart, within `low` to `high` as far as there is room.
fn spread(at: &mut [f64], apart: f64, low: f64, high: f64) {
    for i in 1..at.len() {
        at[i] = at[i].max(at[i - 1] + apart);
    }
    let mut limit = high;
    for y in at.iter_mut().rev() {
        *y = y.min(limit);
        limit = *y - apart;
    }
    let mut limit = low;
    for y in at.iter_mut() {
        *y = y.max(limit);
        limit = *y + apart;
    }
}
