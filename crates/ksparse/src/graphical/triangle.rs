//! A symmetric matrix as a vector, and a support as a graph.
//!
//! Coordinate `i (i + 1) / 2 + j` is entry (i, j), i >= j: the lower triangle row by row. An off-diagonal entry stands
//! for two entries of the matrix, so its coordinate is `sqrt 2` times the entry: lengths and inner products of vectors
//! are then those of the matrices (Frobenius), and a gradient step on the vector is the gradient step on the matrix.

use faer::Mat;
use std::f64::consts::SQRT_2;

/// The coordinate of entry (i, j) of a symmetric matrix, in either order.
///
/// ```
/// use ksparse::graphical::{coordinate, entry};
/// assert_eq!([coordinate(0, 0), coordinate(1, 0), coordinate(0, 1), coordinate(1, 1)], [0, 1, 1, 2]);
/// assert_eq!(entry(coordinate(7, 3)), (7, 3));
/// ```
pub fn coordinate(i: usize, j: usize) -> usize {
    let (i, j) = (i.max(j), i.min(j));
    i * (i + 1) / 2 + j
}

/// The entry (i, j), i >= j, of a coordinate.
pub fn entry(coordinate: usize) -> (usize, usize) {
    let mut i = (((8.0 * coordinate as f64 + 1.0).sqrt() - 1.0) / 2.0) as usize;
    // The root is exact to rounding; the integers decide.
    while i * (i + 1) / 2 > coordinate {
        i -= 1;
    }
    while (i + 1) * (i + 2) / 2 <= coordinate {
        i += 1;
    }
    (i, coordinate - i * (i + 1) / 2)
}

/// Coordinates of p x p matrices.
pub(super) fn dimension(p: usize) -> usize {
    p * (p + 1) / 2
}

/// What an entry is multiplied by to become a coordinate.
pub(super) fn unit(i: usize, j: usize) -> f64 {
    if i == j { 1.0 } else { SQRT_2 }
}

/// A connected component of the graph of a support: f is a sum over these.
#[derive(Debug, Clone)]
pub(super) struct Component {
    /// Its nodes, ascending.
    pub nodes: Vec<usize>,
    /// Its entries.
    pub entries: Vec<Entry>,
}

impl Component {
    /// Its matrix, both triangles, from the coordinates at its entries.
    pub fn matrix(&self, x: &[f64]) -> Mat<f64> {
        let mut matrix = Mat::zeros(self.nodes.len(), self.nodes.len());
        for (e, x) in self.entries.iter().zip(x) {
            let value = x / unit(e.row, e.column);
            matrix[(e.row, e.column)] = value;
            matrix[(e.column, e.row)] = value;
        }
        matrix
    }
}

/// One entry of a component's matrix.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    /// Where it stands in the support.
    pub place: usize,
    /// Row and column among the component's nodes, row >= column.
    pub row: usize,
    pub column: usize,
}

/// The components of a support over p nodes, by their smallest node. Nodes without a diagonal coordinate are there too,
/// so that their matrices are seen not to be positive definite.
pub(super) fn components(p: usize, support: &[usize]) -> Vec<Component> {
    let mut parent: Vec<usize> = (0..p).collect();
    fn root(parent: &mut [usize], mut i: usize) -> usize {
        while parent[i] != i {
            parent[i] = parent[parent[i]];
            i = parent[i];
        }
        i
    }
    let entries: Vec<(usize, usize)> = support.iter().map(|&c| entry(c)).collect();
    for &(i, j) in &entries {
        let (a, b) = (root(&mut parent, i), root(&mut parent, j));
        // The smaller node stays the root: components come out in order.
        parent[a.max(b)] = a.min(b);
    }
    let (mut of_root, mut local) = (vec![usize::MAX; p], vec![0; p]);
    let mut found: Vec<Component> = Vec::new();
    for (i, local) in local.iter_mut().enumerate() {
        let r = root(&mut parent, i);
        if r == i {
            of_root[i] = found.len();
            found.push(Component { nodes: Vec::new(), entries: Vec::new() });
        }
        *local = found[of_root[r]].nodes.len();
        found[of_root[r]].nodes.push(i);
    }
    for (place, &(i, j)) in entries.iter().enumerate() {
        let component = of_root[root(&mut parent, i)];
        found[component].entries.push(Entry { place, row: local[i], column: local[j] });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_and_entries_are_inverse() {
        let mut expected = 0;
        for i in 0..300 {
            for j in 0..=i {
                assert_eq!(coordinate(i, j), expected);
                assert_eq!(entry(expected), (i, j));
                expected += 1;
            }
        }
        let far = coordinate(60_000_000, 59_999_999);
        assert_eq!(entry(far), (60_000_000, 59_999_999));
    }

    #[test]
    fn components_of_a_small_graph() {
        // Edges 0-3, 3-4, 1-2; node 5 alone.
        let edges = [coordinate(3, 0), coordinate(4, 3), coordinate(2, 1)];
        let mut support: Vec<usize> = (0..6).map(|i| coordinate(i, i)).chain(edges).collect();
        support.sort_unstable();
        let found = components(6, &support);
        let nodes: Vec<&[usize]> = found.iter().map(|c| c.nodes.as_slice()).collect();
        assert_eq!(nodes, [&[0, 3, 4][..], &[1, 2], &[5]]);
        assert_eq!(found.iter().map(|c| c.entries.len()).collect::<Vec<_>>(), [5, 3, 1]);
        for component in &found {
            for e in &component.entries {
                assert_eq!(support[e.place], coordinate(component.nodes[e.row], component.nodes[e.column]));
            }
        }
    }
}
