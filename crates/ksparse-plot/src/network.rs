//! Networks: nodes with names, edges with weight and sign.

use crate::axis::short;
use crate::chart::{at_least, heading};
use crate::layout::lay_out;
use crate::svg::{Anchor, Svg, fit, px, text_width};
use crate::theme::SMALL;

/// An edge between two nodes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// One end.
    pub a: usize,
    /// The other.
    pub b: usize,
    /// Its size gives the width, its sign the colour (and negative edges are dashed).
    pub weight: f64,
}

/// Nodes and edges. Laid out by distance in the graph, the same way every time; the size of a node grows with its
/// number of edges.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    /// The title.
    pub title: String,
    /// A smaller line below it.
    pub subtitle: String,
    /// Names of the nodes.
    pub names: Vec<String>,
    /// The edges. Those to a node that is not there, to itself, or without a finite weight are left out.
    pub edges: Vec<Edge>,
    /// What the weight is, in the legend and in tooltips. Default "weight".
    pub weight: String,
    /// Draw nodes without edges. Default true.
    pub isolated: bool,
    /// Print at most so many names, the nodes of most edges first; all have tooltips. Default 80.
    pub most_names: usize,
    /// In pixels. Default 760.
    pub width: f64,
    /// In pixels. Default 600.
    pub height: f64,
}

impl Network {
    /// Nodes without edges.
    pub fn new(title: impl Into<String>, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            title: title.into(),
            subtitle: String::new(),
            names: names.into_iter().map(Into::into).collect(),
            edges: Vec::new(),
            weight: "weight".to_string(),
            isolated: true,
            most_names: 80,
            width: 760.0,
            height: 600.0,
        }
    }

    /// A line below the title.
    pub fn subtitle(self, subtitle: impl Into<String>) -> Self {
        Self { subtitle: subtitle.into(), ..self }
    }

    /// One more edge.
    pub fn edge(mut self, a: usize, b: usize, weight: f64) -> Self {
        self.edges.push(Edge { a, b, weight });
        self
    }

    /// What the weight is.
    pub fn weight(self, weight: impl Into<String>) -> Self {
        Self { weight: weight.into(), ..self }
    }

    /// In pixels, at least 200 x 160.
    pub fn size(self, width: f64, height: f64) -> Self {
        Self { width, height, ..self }
    }

    /// The picture.
    pub fn to_svg(&self) -> String {
        let (width, height) = self.extent();
        Svg::document(width, height, &self.title, |svg| self.draw(svg))
    }

    pub(crate) fn extent(&self) -> (f64, f64) {
        (at_least(self.width, 200.0), at_least(self.height, 160.0))
    }

    fn valid_edges(&self) -> Vec<Edge> {
        let n = self.names.len();
        let ok = |e: &&Edge| e.a < n && e.b < n && e.a != e.b && e.weight.is_finite();
        self.edges.iter().filter(ok).copied().collect()
    }

    pub(crate) fn draw(&self, svg: &mut Svg) {
        let (width, height) = self.extent();
        let top = heading(svg, width, &self.title, &self.subtitle);
        let edges = self.valid_edges();
        let mut degree = vec![0usize; self.names.len()];
        edges.iter().for_each(|e| [e.a, e.b].iter().for_each(|&node| degree[node] += 1));
        // Only the nodes that are drawn are laid out.
        let drawn: Vec<usize> = (0..self.names.len()).filter(|&i| self.isolated || degree[i] > 0).collect();
        if drawn.is_empty() {
            svg.text((width / 2.0, height / 2.0), Anchor::Middle, "kp-label kp-muted", "no data");
            return;
        }
        let mut local = vec![usize::MAX; self.names.len()];
        drawn.iter().enumerate().for_each(|(i, &node)| local[node] = i);
        let pairs: Vec<(usize, usize)> = edges.iter().map(|e| (local[e.a], local[e.b])).collect();
        let frame = Frame { left: 40.0, top: top + 24.0, right: width - 40.0, bottom: height - 48.0 };
        let raw = lay_out(drawn.len(), &pairs, (frame.right - frame.left) / (frame.bottom - frame.top).max(1.0));
        let radius: Vec<f64> = drawn.iter().map(|&i| node_radius(degree[i], drawn.len())).collect();
        let at = frame.place(&raw, &radius);
        self.draw_edges(svg, &edges, &pairs, &at);
        self.draw_nodes(svg, &drawn, &degree, &radius, &at);
        self.draw_names(svg, &drawn, &degree, &radius, &at, width);
        self.draw_legend(svg, &edges, (width, height - 14.0));
    }

    fn draw_edges(&self, svg: &mut Svg, edges: &[Edge], pairs: &[(usize, usize)], at: &[(f64, f64)]) {
        let most = edges.iter().map(|e| e.weight.abs()).fold(0.0, f64::max);
        // The strongest on top.
        let mut order: Vec<usize> = (0..edges.len()).collect();
        order.sort_by(|&i, &j| edges[i].weight.abs().total_cmp(&edges[j].weight.abs()).then(i.cmp(&j)));
        for i in order {
            let (edge, (a, b)) = (&edges[i], pairs[i]);
            let share = if most > 0.0 { edge.weight.abs() / most } else { 0.5 };
            let (x1, y1, x2, y2) = (px(at[a].0), px(at[a].1), px(at[b].0), px(at[b].1));
            let (look, wide) = (edge_look(edge.weight), px(1.0 + 4.0 * share));
            svg.put(format_args!(
                "<path {look} style=\"stroke-width:{wide};opacity:{:.2}\" d=\"M{x1} {y1}L{x2} {y2}\">",
                0.45 + 0.45 * share
            ));
            let (a, b) = (&self.names[edge.a], &self.names[edge.b]);
            svg.tip(&format!("{a} \u{2013} {b}: {} {}", self.weight, short(edge.weight)));
            svg.put(format_args!("</path>"));
        }
    }

    fn draw_nodes(&self, svg: &mut Svg, drawn: &[usize], degree: &[usize], radius: &[f64], at: &[(f64, f64)]) {
        for (i, &node) in drawn.iter().enumerate() {
            let class = if degree[node] == 0 { "kp-f7" } else { "kp-f2" };
            let (x, y, r) = (px(at[i].0), px(at[i].1), px(radius[i]));
            svg.put(format_args!(
                "<circle class=\"{class} kp-edge\" style=\"stroke-width:1.5\" cx=\"{x}\" cy=\"{y}\" r=\"{r}\">"
            ));
            svg.tip(&format!("{}: {}", self.names[node], edges_of(degree[node])));
            svg.put(format_args!("</circle>"));
        }
    }

    /// Names beside their nodes: of eight places the one that covers least.
    fn draw_names(
        &self,
        svg: &mut Svg,
        drawn: &[usize],
        degree: &[usize],
        radius: &[f64],
        at: &[(f64, f64)],
        width: f64,
    ) {
        let mut order: Vec<usize> = (0..drawn.len()).collect();
        order.sort_by(|&i, &j| degree[drawn[j]].cmp(&degree[drawn[i]]).then(i.cmp(&j)));
        let crowded = order.len() > self.most_names;
        order.truncate(self.most_names);
        let nodes: Vec<Rect> = at.iter().zip(radius).map(|(p, r)| Rect::around(*p, *r)).collect();
        let mut taken: Vec<Rect> = Vec::new();
        for i in order {
            let ((x, y), r) = (at[i], radius[i] + 2.0);
            // Beside a node in the middle of the picture there is less than half of it.
            let name = fit(&self.names[drawn[i]], SMALL, width / 2.0 - 28.0);
            let wide = text_width(&name, SMALL);
            let places = [
                (x + r, y + 4.0, Anchor::Start),
                (x, y + r + 10.0, Anchor::Middle),
                (x, y - r - 2.0, Anchor::Middle),
                (x - r, y + 4.0, Anchor::End),
                (x + 0.7 * r, y - r, Anchor::Start),
                (x + 0.7 * r, y + r + 6.0, Anchor::Start),
                (x - 0.7 * r, y - r, Anchor::End),
                (x - 0.7 * r, y + r + 6.0, Anchor::End),
            ];
            let boxes = places.map(|(x, y, anchor)| Rect::text(x, y, anchor, wide));
            let cost = |rect: &Rect| {
                let over = |others: &[Rect]| others.iter().map(|o| rect.overlap(o)).sum::<f64>();
                over(&nodes) + 2.0 * over(&taken) + 50.0 * rect.outside(width)
            };
            let costs = boxes.each_ref().map(cost);
            let best = (0..costs.len()).fold(0, |best, i| if costs[i] < costs[best] { i } else { best });
            // In a crowd, a name that would cover others stays in its tooltip.
            if crowded && costs[best] > 60.0 {
                continue;
            }
            let (x, y, anchor) = places[best];
            svg.text_over((x, y), anchor, "", &name);
            taken.push(boxes[best]);
        }
    }

    fn draw_legend(&self, svg: &mut Svg, edges: &[Edge], (width, y): (f64, f64)) {
        let mut x = 14.0;
        // Half of the picture for each sign, without its line and what keeps them apart; of that, the words around.
        let weight = fit(&self.weight, SMALL, width / 2.0 - 56.0 - text_width("positive  (1000 edges)", SMALL));
        for (sample, sign) in [(1.0, "positive"), (-1.0, "negative")] {
            let count = edges.iter().filter(|e| (e.weight < 0.0) == (sample < 0.0)).count();
            if count > 0 {
                let (from, to, at) = (px(x), px(x + 26.0), px(y - 4.0));
                svg.put(format_args!("<path {} style=\"stroke-width:3\" d=\"M{from} {at}H{to}\"/>", edge_look(sample)));
                let text = format!("{sign} {weight} ({})", edges_of(count));
                svg.text((x + 32.0, y), Anchor::Start, "kp-muted", &text);
                x += 52.0 + text_width(&text, SMALL);
            }
        }
    }
}

fn edges_of(count: usize) -> String {
    if count == 1 { "1 edge".to_string() } else { format!("{count} edges") }
}

fn edge_look(weight: f64) -> &'static str {
    if weight < 0.0 { "class=\"kp-line kp-s1\" stroke-dasharray=\"6 5\"" } else { "class=\"kp-line kp-s0\"" }
}

fn node_radius(degree: usize, count: usize) -> f64 {
    let base = if count > 120 { 3.0 } else { 4.5 };
    (base + 1.6 * (degree as f64).sqrt()).min(16.0)
}

/// The rectangle for the nodes.
struct Frame {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Frame {
    /// Positions stretched to the frame (up to a factor of 1.6 between the directions), nodes pushed apart where they
    /// touch.
    fn place(&self, raw: &[(f64, f64)], radius: &[f64]) -> Vec<(f64, f64)> {
        let least = raw.iter().fold((f64::MAX, f64::MAX), |a, p| (a.0.min(p.0), a.1.min(p.1)));
        let most = raw.iter().fold((f64::MIN, f64::MIN), |a, p| (a.0.max(p.0), a.1.max(p.1)));
        let (w, h) = ((self.right - self.left).max(10.0), (self.bottom - self.top).max(10.0));
        let scale = |room: f64, span: f64| if span > 1e-9 { room / span } else { f64::INFINITY };
        let (sx, sy) = (scale(w, most.0 - least.0), scale(h, most.1 - least.1));
        let longest = 160.0;
        let (sx, sy) = (sx.min(1.6 * sy).min(longest), sy.min(1.6 * sx).min(longest));
        let centre = ((self.left + self.right) / 2.0, (self.top + self.bottom) / 2.0);
        let middle = ((least.0 + most.0) / 2.0, (least.1 + most.1) / 2.0);
        let mut at: Vec<(f64, f64)> =
            raw.iter().map(|p| (centre.0 + sx * (p.0 - middle.0), centre.1 + sy * (p.1 - middle.1))).collect();
        for _ in 0..60 {
            if !self.push_apart(&mut at, radius) {
                break;
            }
        }
        at
    }

    fn push_apart(&self, at: &mut [(f64, f64)], radius: &[f64]) -> bool {
        let mut moved = false;
        for i in 0..at.len() {
            for j in 0..i {
                let (dx, dy) = (at[i].0 - at[j].0, at[i].1 - at[j].1);
                let (length, wanted) = (dx.hypot(dy), radius[i] + radius[j] + 5.0);
                if length < wanted - 0.1 {
                    let (ux, uy) = if length > 1e-6 { (dx / length, dy / length) } else { (1.0, 0.0) };
                    let push = 0.5 * (wanted - length);
                    at[i] = (at[i].0 + push * ux, at[i].1 + push * uy);
                    at[j] = (at[j].0 - push * ux, at[j].1 - push * uy);
                    moved = true;
                }
            }
            at[i] = (at[i].0.clamp(self.left, self.right), at[i].1.clamp(self.top, self.bottom));
        }
        moved
    }
}

/// A box on the picture.
#[derive(Clone, Copy)]
struct Rect {
    x: (f64, f64),
    y: (f64, f64),
}

impl Rect {
    fn around((x, y): (f64, f64), r: f64) -> Self {
        Self { x: (x - r, x + r), y: (y - r, y + r) }
    }

    fn text(x: f64, y: f64, anchor: Anchor, width: f64) -> Self {
        let left = match anchor {
            Anchor::Start => x,
            Anchor::Middle => x - width / 2.0,
            Anchor::End => x - width,
        };
        Self { x: (left, left + width), y: (y - 10.0, y + 3.0) }
    }

    fn overlap(&self, other: &Self) -> f64 {
        let side = |a: (f64, f64), b: (f64, f64)| (a.1.min(b.1) - a.0.max(b.0)).max(0.0);
        side(self.x, other.x) * side(self.y, other.y)
    }

    fn outside(&self, width: f64) -> f64 {
        (4.0 - self.x.0).max(0.0) + (self.x.1 - width + 4.0).max(0.0)
    }
}
