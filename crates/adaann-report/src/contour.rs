//! Closed contour lines of heights over a grid, by marching squares.

use std::collections::HashMap;

/// Heights over a grid, row by row.
pub(crate) struct Heights<'a> {
    pub(crate) x: &'a [f64],
    pub(crate) y: &'a [f64],
    pub(crate) z: &'a [f64],
}

/// An edge of the grid: the node at its lower or left end, and whether it goes upwards.
type Edge = (usize, usize, bool);

impl Heights<'_> {
    /// Does the grid have at least two rows and columns, and all heights?
    pub(crate) fn is_whole(&self) -> bool {
        self.x.len() > 1 && self.y.len() > 1 && self.z.len() == self.x.len() * self.y.len()
    }

    /// The closed lines around the region above the level. Outside the grid the height counts as negative
    /// infinity, so a line follows the border where the height there is above the level.
    pub(crate) fn above(&self, level: f64) -> Vec<Vec<(f64, f64)>> {
        let mut next: HashMap<Edge, Edge> = HashMap::new();
        // Node indices include a ring around the grid.
        for j in 0..=self.y.len() {
            for i in 0..=self.x.len() {
                self.cross(i, j, level, &mut next);
            }
        }
        let mut starts: Vec<Edge> = next.keys().copied().collect();
        starts.sort_unstable();
        let mut lines = Vec::new();
        for start in starts {
            let mut line = Vec::new();
            let mut edge = start;
            while let Some(following) = next.remove(&edge) {
                let point = self.point(edge, level);
                if line.last() != Some(&point) {
                    line.push(point);
                }
                edge = following;
            }
            if line.len() > 2 {
                lines.push(line);
            }
        }
        lines
    }

    /// The height at a node of the grid with its ring.
    fn height(&self, i: usize, j: usize) -> f64 {
        let inside = (1..=self.x.len()).contains(&i) && (1..=self.y.len()).contains(&j);
        let z = if inside { self.z[(j - 1) * self.x.len() + i - 1] } else { f64::NEG_INFINITY };
        if z.is_nan() { f64::NEG_INFINITY } else { z }
    }

    /// The line segments through a cell, with the region above the level on their right.
    fn cross(&self, i: usize, j: usize, level: f64, next: &mut HashMap<Edge, Edge>) {
        let corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)];
        let heights = corners.map(|(i, j)| self.height(i, j));
        let edges: [Edge; 4] = [(i, j, false), (i + 1, j, true), (i, j + 1, false), (i, j, true)];
        let up = heights.map(|z| z >= level);
        // Edge k leads from corner k to the next one.
        let entries: Vec<usize> = (0..4).filter(|&k| !up[k] && up[(k + 1) % 4]).collect();
        let exits: Vec<usize> = (0..4).filter(|&k| up[k] && !up[(k + 1) % 4]).collect();
        let joined = heights.iter().sum::<f64>() / 4.0 >= level;
        for &entry in &entries {
            // The height in the middle decides whether two opposite corners above the level are joined.
            let steps = |exit: &&usize| (**exit + 4 - entry) % 4;
            let exit = if joined {
                exits.iter().max_by_key(steps)
            } else {
                exits.iter().min_by_key(steps)
            };
            if let Some(exit) = exit {
                next.insert(edges[*exit], edges[entry]);
            }
        }
    }

    fn point(&self, (i, j, upwards): Edge, level: f64) -> (f64, f64) {
        let (i2, j2) = if upwards { (i, j + 1) } else { (i + 1, j) };
        let at = |values: &[f64], k: usize| values[k.clamp(1, values.len()) - 1];
        let (from, to) = (self.height(i, j), self.height(i2, j2));
        let share = if from.is_finite() && to.is_finite() {
            (level - from) / (to - from)
        } else if from.is_finite() {
            0.0
        } else {
            1.0
        };
        let between = |a: f64, b: f64| a + share * (b - a);
        (between(at(self.x, i), at(self.x, i2)), between(at(self.y, j), at(self.y, j2)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(line: &[(f64, f64)]) -> f64 {
        let next = line.iter().cycle().skip(1);
        line.iter().zip(next).map(|(a, b)| (a.0 * b.1 - b.0 * a.1) / 2.0).sum::<f64>().abs()
    }

    fn grid(height: impl Fn(f64, f64) -> f64) -> (Vec<f64>, Vec<f64>) {
        let x: Vec<f64> = (0..101).map(|i| f64::from(i) / 25.0 - 2.0).collect();
        let z = x.iter().flat_map(|&y| x.iter().map(move |&x| (x, y)).collect::<Vec<_>>());
        let z = z.map(|(x, y)| height(x, y)).collect();
        (x, z)
    }

    #[test]
    fn a_cone_is_cut_in_a_circle() {
        let (x, z) = grid(|x, y| 1.0 - x.hypot(y));
        let lines = Heights { x: &x, y: &x, z: &z }.above(0.0);
        assert_eq!(lines.len(), 1);
        assert!((area(&lines[0]) - std::f64::consts::PI).abs() < 0.01, "{}", area(&lines[0]));
        for (x, y) in &lines[0] {
            assert!((x.hypot(*y) - 1.0).abs() < 1e-3);
        }
    }

    #[test]
    fn rings_have_two_lines_and_borders_close_them() {
        let (x, z) = grid(|x, y| 0.2 - (x.hypot(y) - 1.0).abs());
        assert_eq!(Heights { x: &x, y: &x, z: &z }.above(0.0).len(), 2);
        let (x, z) = grid(|_, _| 1.0);
        let lines = Heights { x: &x, y: &x, z: &z }.above(0.0);
        assert!(lines.len() == 1 && (area(&lines[0]) - 16.0).abs() < 1e-9);
        // NaN counts as below the level.
        let (x, z) = grid(|x, _| if x < 0.0 { f64::NAN } else { 1.0 });
        let lines = Heights { x: &x, y: &x, z: &z }.above(0.0);
        assert!((area(&lines[0]) - 8.0).abs() < 1e-9);
    }

    #[test]
    fn saddles_are_joined_as_their_middle_says() {
        for (low, lines) in [(0.9, 1), (0.1, 2)] {
            let z = [1.0, low, low, 1.0];
            let found = Heights { x: &[0.0, 1.0], y: &[0.0, 1.0], z: &z }.above(0.95 - 0.001);
            assert_eq!(found.len(), lines, "{low}: {found:?}");
        }
    }
}
