//! Where the nodes of a network go.
//!
//! Each connected component is laid out by stress majorisation: two nodes should be as far apart as the path between
//! them is long, near pairs weighing most. Every step solves for one node at a time and lowers the stress, so there is
//! nothing to tune. Components are then packed in rows, the largest first; nodes without edges fill the last rows. No
//! random numbers: the same network gives the same picture.

use std::collections::VecDeque;

/// Positions in a box of the given width-to-height ratio, in units of an edge.
pub(crate) fn lay_out(count: usize, edges: &[(usize, usize)], ratio: f64) -> Vec<(f64, f64)> {
    let mut neighbours = vec![Vec::new(); count];
    for &(a, b) in edges.iter().filter(|(a, b)| a != b && *a < count && *b < count) {
        neighbours[a].push(b);
        neighbours[b].push(a);
    }
    let mut components = components(&neighbours);
    components.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
    let mut boxes: Vec<Block> = Vec::new();
    for nodes in components {
        let at = stress_layout(&nodes, &neighbours);
        boxes.push(Block::new(nodes, at));
    }
    pack(count, boxes, ratio)
}

fn components(neighbours: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut seen = vec![false; neighbours.len()];
    let mut out = Vec::new();
    for start in 0..neighbours.len() {
        if seen[start] {
            continue;
        }
        seen[start] = true;
        let (mut nodes, mut next) = (vec![start], 0);
        while let Some(&node) = nodes.get(next) {
            next += 1;
            for &other in &neighbours[node] {
                if !seen[other] {
                    seen[other] = true;
                    nodes.push(other);
                }
            }
        }
        nodes.sort_unstable();
        out.push(nodes);
    }
    out
}

/// Lengths of the shortest paths within a component. Neighbours of crowded nodes are asked to keep further away.
fn distances(nodes: &[usize], neighbours: &[Vec<usize>]) -> Vec<Vec<f64>> {
    let mut local = vec![usize::MAX; neighbours.len()];
    nodes.iter().enumerate().for_each(|(i, &node)| local[node] = i);
    let from = |start: usize| {
        let mut distance = vec![f64::INFINITY; nodes.len()];
        let mut queue = VecDeque::from([start]);
        distance[local[start]] = 0.0;
        while let Some(node) = queue.pop_front() {
            for &other in &neighbours[node] {
                if distance[local[other]].is_infinite() {
                    distance[local[other]] = distance[local[node]] + 1.0;
                    queue.push_back(other);
                }
            }
        }
        distance
    };
    nodes.iter().map(|&node| from(node)).collect()
}

fn stress_layout(nodes: &[usize], neighbours: &[Vec<usize>]) -> Vec<(f64, f64)> {
    let m = nodes.len();
    if m == 1 {
        return vec![(0.0, 0.0)];
    }
    let ideal = distances(nodes, neighbours);
    let radius = 0.5 * ideal.iter().flatten().copied().fold(1.0, f64::max);
    // Several starts: spirals through the nodes in order of their distance from different ones; the least stress wins.
    let mut best: Option<(f64, Vec<(f64, f64)>)> = None;
    let sweeps = if m > 400 { 60 } else { 200 };
    for start in 0..4.min(m) {
        let centre = start * m / 4.min(m);
        let mut order: Vec<usize> = (0..m).collect();
        order.sort_by(|&a, &b| ideal[centre][a].total_cmp(&ideal[centre][b]).then(a.cmp(&b)));
        let mut at = vec![(0.0, 0.0); m];
        for (rank, &i) in order.iter().enumerate() {
            let (angle, far) = (2.399_963 * rank as f64, radius * ((rank as f64 + 0.3) / m as f64).sqrt());
            at[i] = (far * angle.cos(), far * angle.sin());
        }
        for _ in 0..sweeps {
            if majorise(&mut at, &ideal) < 1e-3 {
                break;
            }
        }
        let stress = stress(&at, &ideal);
        if best.as_ref().is_none_or(|(least, _)| stress < 0.999 * least) {
            best = Some((stress, at));
        }
    }
    best.map_or_else(|| vec![(0.0, 0.0); m], |(_, at)| at)
}

/// One sweep; returns the longest move.
fn majorise(at: &mut [(f64, f64)], ideal: &[Vec<f64>]) -> f64 {
    let mut longest = 0f64;
    for i in 0..at.len() {
        let (mut x, mut y, mut total) = (0.0, 0.0, 0.0);
        for j in (0..at.len()).filter(|&j| j != i) {
            let (dx, dy) = (at[i].0 - at[j].0, at[i].1 - at[j].1);
            let length = dx.hypot(dy).max(1e-6);
            let weight = 1.0 / (ideal[i][j] * ideal[i][j]);
            x += weight * (at[j].0 + ideal[i][j] * dx / length);
            y += weight * (at[j].1 + ideal[i][j] * dy / length);
            total += weight;
        }
        let next = (x / total, y / total);
        longest = longest.max((next.0 - at[i].0).hypot(next.1 - at[i].1));
        at[i] = next;
    }
    longest
}

fn stress(at: &[(f64, f64)], ideal: &[Vec<f64>]) -> f64 {
    let mut sum = 0.0;
    for i in 0..at.len() {
        for j in 0..i {
            let off = (at[i].0 - at[j].0).hypot(at[i].1 - at[j].1) / ideal[i][j] - 1.0;
            sum += off * off;
        }
    }
    sum
}

/// A component with its box.
struct Block {
    nodes: Vec<usize>,
    at: Vec<(f64, f64)>,
    width: f64,
    height: f64,
}

impl Block {
    /// Turned so that its long side lies level, moved to (0, 0), with half an edge of air around.
    fn new(nodes: Vec<usize>, mut at: Vec<(f64, f64)>) -> Self {
        level(&mut at);
        let air = if nodes.len() == 1 { 0.35 } else { 0.5 };
        let least = at.iter().fold((f64::MAX, f64::MAX), |a, p| (a.0.min(p.0), a.1.min(p.1)));
        let most = at.iter().fold((f64::MIN, f64::MIN), |a, p| (a.0.max(p.0), a.1.max(p.1)));
        at.iter_mut().for_each(|p| *p = (p.0 - least.0 + air, p.1 - least.1 + air));
        Self { nodes, at, width: most.0 - least.0 + 2.0 * air, height: most.1 - least.1 + 2.0 * air }
    }
}

/// Turns points so that their principal axis lies level.
fn level(at: &mut [(f64, f64)]) {
    let n = at.len() as f64;
    let mean = at.iter().fold((0.0, 0.0), |a, p| (a.0 + p.0 / n, a.1 + p.1 / n));
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for p in at.iter() {
        let (x, y) = (p.0 - mean.0, p.1 - mean.1);
        (xx, xy, yy) = (xx + x * x, xy + x * y, yy + y * y);
    }
    let angle = 0.5 * (2.0 * xy).atan2(xx - yy);
    let (cos, sin) = (angle.cos(), angle.sin());
    at.iter_mut().for_each(|p| *p = (cos * p.0 + sin * p.1, cos * p.1 - sin * p.0));
}

/// Boxes in rows of a width such that the whole has about the wanted ratio.
fn pack(count: usize, boxes: Vec<Block>, ratio: f64) -> Vec<(f64, f64)> {
    let area: f64 = boxes.iter().map(|b| b.width * b.height).sum();
    let widest = boxes.iter().map(|b| b.width).fold(1.0, f64::max);
    let row = (area * ratio * 1.15).sqrt().max(widest);
    let mut out = vec![(0.0, 0.0); count];
    let (mut x, mut y, mut tall) = (0.0, 0.0, 0.0);
    let mut among_isolated = false;
    for block in boxes {
        let isolated = block.nodes.len() == 1;
        if x > 0.0 && (x + block.width > row || (isolated && !among_isolated)) {
            (x, y, tall) = (0.0, y + tall, 0.0);
        }
        block.nodes.iter().zip(&block.at).for_each(|(&node, p)| out[node] = (x + p.0, y + p.1));
        x += block.width;
        tall = block.height.max(tall);
        among_isolated = isolated;
    }
    out
}
