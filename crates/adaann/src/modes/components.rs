//! Groups places into modes by the passes between them.
//!
//! Passes are opened from the highest down. Two regions merge if the lower of their tops is at most
//! `drop` above the pass, so that only tops that stand out by more remain separate. A place on a
//! flank thus joins one region and never links two.
//!
//! F. Chazal, L. Guibas, S. Oudot, P. Skraba, "Persistence-based clustering in Riemannian
//! manifolds" (2013).

/// The pass between two places.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pass {
    pub(super) a: usize,
    pub(super) b: usize,
    /// The lowest height on it.
    pub(super) height: f64,
}

/// The highest place of the region of each place.
pub(super) fn tops(heights: &[f64], passes: &[Pass], drop: f64) -> Vec<usize> {
    let mut passes = passes.to_vec();
    passes.sort_by(|p, q| q.height.total_cmp(&p.height).then((p.a, p.b).cmp(&(q.a, q.b))));
    let mut parent: Vec<usize> = (0..heights.len()).collect();
    for pass in passes {
        let (a, b) = (root(&mut parent, pass.a), root(&mut parent, pass.b));
        // The root is the top; in a tie the first.
        let (upper, lower) = match heights[a].total_cmp(&heights[b]).then(b.cmp(&a)) {
            std::cmp::Ordering::Less => (b, a),
            _ => (a, b),
        };
        if heights[lower] - pass.height <= drop {
            parent[lower] = upper;
        }
    }
    (0..heights.len()).map(|i| root(&mut parent, i)).collect()
}

fn root(parent: &mut [usize], mut i: usize) -> usize {
    while parent[i] != i {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    i
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(a: usize, b: usize, height: f64) -> Pass {
        Pass { a, b, height }
    }

    #[test]
    fn a_flank_between_two_peaks_joins_one_and_links_none() {
        // 0 and 1 are peaks, 2 is in the valley; from it both are uphill.
        let heights = [5.0, 4.0, 1.0];
        let passes = [pass(0, 2, 1.0), pass(2, 1, 1.0)];
        assert_eq!(tops(&heights, &passes, 0.5), [0, 1, 0]);
        // A valley of 3 nats does not separate peaks if the drop is 3.
        assert_eq!(tops(&heights, &passes, 3.0), [0, 0, 0]);
    }

    #[test]
    fn a_ridge_is_one_region_however_its_heights_run() {
        // Each neighbour is 0.4 lower; the ends differ by 1.2 in height, with no valley between.
        let heights = [0.0, -0.4, -0.8, -1.2];
        let passes = [pass(0, 1, -0.4), pass(1, 2, -0.8), pass(2, 3, -1.2)];
        assert_eq!(tops(&heights, &passes, 0.1), [0; 4]);
        assert_eq!(tops(&heights, &[], 0.1), [0, 1, 2, 3]);
        assert_eq!(
            tops(&[1.0, 1.0], &[pass(1, 0, 1.0), pass(0, 1, f64::NEG_INFINITY)], 0.1),
            [0; 2]
        );
    }
}
