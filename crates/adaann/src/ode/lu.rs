//! Linear equations in I − s·J, factored and solved as recorded expressions.
//!
//! Every sample has its own matrix, but all run the same instructions, so the order of the pivots
//! is fixed in advance. Pivots stay on the diagonal, which is 1 for a small s, and the next pivot
//! is the one with the least fill-in (Markowitz). Structural zeros are never multiplied. A fixed
//! order cannot avoid cancellation, but it is detected: a pivot that is tiny relative to its terms
//! has lost its digits, and the caller tries a smaller s.

use crate::program::{Graph, Node};

/// A pivot may be this much smaller than its terms, which leaves it ten digits.
const LARGEST_CANCELLATION: f64 = 1e6;

/// A sparse square matrix: `None` where an entry is structurally 0.
type Matrix = Vec<Vec<Option<Node>>>;

/// The factors of I − s·J.
pub(super) struct Factors {
    pivots: Vec<Pivot>,
    /// Pairs of nodes; the pivots are accurate where the first is at most the second.
    pub(super) sound: Vec<[Node; 2]>,
}

/// One step of the elimination.
struct Pivot {
    index: usize,
    reciprocal: Node,
    /// Entries of its column in later rows, divided by the pivot.
    below: Vec<(usize, Node)>,
    /// Entries of its row in later columns.
    beside: Vec<(usize, Node)>,
}

impl Factors {
    /// Eliminates in the order of [`elimination`].
    pub(super) fn new(graph: &mut Graph, s: Node, jacobian: &Matrix) -> Self {
        let one = graph.constant(1.0);
        let order = elimination(&pattern(jacobian)).order;
        let minus = graph.neg(s);
        let mut matrix: Matrix = jacobian.clone();
        for entry in matrix.iter_mut().flatten().flatten() {
            *entry = graph.mul(minus, *entry);
        }
        // The sums of squares of the terms of each diagonal entry, which reveal cancellation.
        let mut squares = vec![one; order.len()];
        for (k, square) in squares.iter_mut().enumerate() {
            matrix[k][k] = Some(match matrix[k][k] {
                Some(entry) => {
                    *square = plus_square(graph, *square, entry);
                    graph.add(one, entry)
                }
                None => one,
            });
        }
        let (mut pivots, mut sound) = (Vec::new(), Vec::new());
        for (done, &k) in order.iter().enumerate() {
            let later = &order[done + 1..];
            let diagonal = matrix[k][k].unwrap_or(one);
            if diagonal != one {
                sound.push(kept_digits(graph, squares[k], diagonal));
            }
            let reciprocal = graph.div(one, diagonal);
            let entries = |of: &dyn Fn(usize) -> Option<Node>| -> Vec<(usize, Node)> {
                later.iter().filter_map(|&i| of(i).map(|entry| (i, entry))).collect()
            };
            let beside = entries(&|j| matrix[k][j]);
            let mut below = entries(&|i| matrix[i][k]);
            for (i, factor) in &mut below {
                *factor = graph.mul(*factor, reciprocal);
                for &(j, entry) in &beside {
                    let product = graph.mul(*factor, entry);
                    if *i == j {
                        squares[j] = plus_square(graph, squares[j], product);
                    }
                    matrix[*i][j] = Some(minus_node(graph, matrix[*i][j], product));
                }
            }
            pivots.push(Pivot { index: k, reciprocal, below, beside });
        }
        Self { pivots, sound }
    }

    /// The solution for a right-hand side.
    pub(super) fn solve(&self, graph: &mut Graph, right: &[Node]) -> Vec<Node> {
        let zero = graph.constant(0.0);
        let mut x = right.to_vec();
        let subtract = |graph: &mut Graph, from: Node, a: Node, b: Node| {
            if b == zero {
                return from;
            }
            let product = graph.mul(a, b);
            graph.sub(from, product)
        };
        for pivot in &self.pivots {
            for &(i, factor) in &pivot.below {
                x[i] = subtract(graph, x[i], factor, x[pivot.index]);
            }
        }
        for pivot in self.pivots.iter().rev() {
            let k = pivot.index;
            for &(j, entry) in &pivot.beside {
                x[k] = subtract(graph, x[k], entry, x[j]);
            }
            if x[k] != zero {
                x[k] = graph.mul(x[k], pivot.reciprocal);
            }
        }
        x
    }
}

/// sum + x²
fn plus_square(graph: &mut Graph, sum: Node, x: Node) -> Node {
    let square = graph.mul(x, x);
    graph.add(sum, square)
}

/// a − b, where `None` stands for 0.
fn minus_node(graph: &mut Graph, a: Option<Node>, b: Node) -> Node {
    match a {
        Some(a) => graph.sub(a, b),
        None => graph.neg(b),
    }
}

/// Two nodes, the first of which is at most the second unless a pivot is too small relative to its
/// terms.
fn kept_digits(graph: &mut Graph, squares: Node, pivot: Node) -> [Node; 2] {
    let square = graph.mul(pivot, pivot);
    let most = graph.constant(LARGEST_CANCELLATION * LARGEST_CANCELLATION);
    [squares, graph.mul(most, square)]
}

/// The positions of a matrix's entries, which always include the diagonal.
pub(super) fn pattern(matrix: &Matrix) -> Vec<Vec<bool>> {
    let row = |(i, row): (usize, &Vec<Option<Node>>)| {
        row.iter().enumerate().map(|(j, entry)| i == j || entry.is_some()).collect()
    };
    matrix.iter().enumerate().map(row).collect()
}

/// An order of the pivots, and its cost.
pub(super) struct Elimination {
    pub(super) order: Vec<usize>,
    /// Products in the elimination.
    pub(super) elimination: usize,
    /// Products in a solution.
    pub(super) solution: usize,
}

/// Markowitz's order: next comes the pivot with the fewest products, the first in case of a tie.
pub(super) fn elimination(pattern: &[Vec<bool>]) -> Elimination {
    let mut full: Vec<Vec<bool>> = pattern.to_vec();
    let mut left: Vec<usize> = (0..pattern.len()).collect();
    let (mut order, mut elimination, mut solution) = (Vec::new(), 0, 0);
    let others = |full: &[Vec<bool>], left: &[usize], k: usize| {
        let below: Vec<usize> = left.iter().copied().filter(|&i| i != k && full[i][k]).collect();
        let beside: Vec<usize> = left.iter().copied().filter(|&j| j != k && full[k][j]).collect();
        (below, beside)
    };
    while !left.is_empty() {
        let cost = |k: usize| {
            let (below, beside) = others(&full, &left, k);
            below.len() * beside.len()
        };
        let Some(best) = (0..left.len()).min_by_key(|&place| cost(left[place])) else { break };
        let (below, beside) = others(&full, &left, left[best]);
        elimination += below.len() * (beside.len() + 1) + 1;
        solution += below.len() + beside.len() + 1;
        for &i in &below {
            beside.iter().for_each(|&j| full[i][j] = true);
        }
        order.push(left.remove(best));
    }
    Elimination { order, elimination, solution }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Block, Routine};
    use crate::simd::{Kernel, dispatch};
    use fearless_simd::Simd;

    struct Run<'a>(&'a Routine, &'a [Block]);

    impl Kernel for Run<'_> {
        type Output = Vec<Block>;

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> Vec<Block> {
            let mut room = self.0.room();
            self.0.load(&mut room, self.1);
            self.0.run(simd, &mut room, &self.0.tables([&[][..]]), 0);
            (0..self.0.outputs()).map(|row| *self.0.output(&room, row)).collect()
        }
    }

    /// Inputs: s, the entries of a pattern row by row, the right-hand side. Outputs: the solution,
    /// then 1 where the pivots are sound and 0 elsewhere.
    fn solver(pattern: &[Vec<bool>]) -> (Routine, usize) {
        let mut graph = Graph::new();
        let entries = pattern.iter().flatten().filter(|has| **has).count();
        let inputs = 1 + entries + pattern.len();
        let rows: Vec<Node> = (0..inputs as u32).map(|row| graph.input(row)).collect();
        let (s, right) = (rows[0], &rows[1 + entries..]);
        let mut entry = rows[1..].iter();
        let mut jacobian: Matrix = Vec::new();
        for row in pattern {
            jacobian
                .push(row.iter().map(|has| has.then(|| entry.next().copied()).flatten()).collect());
        }
        let factors = Factors::new(&mut graph, s, &jacobian);
        let mut outputs = factors.solve(&mut graph, right);
        let (zero, mut sound) = (graph.constant(0.0), graph.constant(1.0));
        for [a, b] in factors.sound {
            sound = graph.select(crate::program::Comparison::LessOrEqual, [a, b, sound, zero]);
        }
        outputs.push(sound);
        (Routine::new(&graph, inputs, &outputs), inputs)
    }

    /// A wave without any regularity.
    fn wave(row: usize) -> Block {
        std::array::from_fn(|i| (2.3 * (i + 37 * row) as f64 + 0.1).sin())
    }

    #[test]
    fn solutions_solve_matrices_of_any_pattern() {
        let dense = vec![vec![true; 6]; 6];
        let arrow: Vec<Vec<bool>> =
            (0..6).map(|i| (0..6).map(|j| i == j || i == 0 || j == 0).collect()).collect();
        let lower: Vec<Vec<bool>> = (0..6).map(|i| (0..6).map(|j| j < i).collect()).collect();
        for pattern in [dense, arrow, lower] {
            let (routine, inputs) = solver(&pattern);
            let mut rows: Vec<Block> = (0..inputs).map(wave).collect();
            rows[0] = std::array::from_fn(|i| 0.02 * i as f64);
            let found = dispatch(Run(&routine, &rows));
            for lane in 0..rows[0].len() {
                let mut entries = rows[1..].iter().map(|row| row[lane]);
                let mut jacobian = vec![vec![0.0; 6]; 6];
                for (i, row) in pattern.iter().enumerate() {
                    for j in (0..6).filter(|&j| row[j]) {
                        jacobian[i][j] = entries.next().unwrap();
                    }
                }
                let right: Vec<f64> = entries.collect();
                for i in 0..6 {
                    let product: f64 = (0..6).map(|j| jacobian[i][j] * found[j][lane]).sum();
                    let left = found[i][lane] - rows[0][lane] * product;
                    assert!((left - right[i]).abs() < 1e-9, "lane {lane}: {left} for {}", right[i]);
                }
            }
        }
    }

    #[test]
    fn a_matrix_without_fill_in_costs_what_its_entries_do() {
        // An arrow that points to the first row is eliminated from its other end.
        let arrow: Vec<Vec<bool>> =
            (0..30).map(|i| (0..30).map(|j| i == j || i == 0 || j == 0).collect()).collect();
        let found = elimination(&arrow);
        assert_eq!(found.order[0], 1);
        assert!(found.order[28..].contains(&0), "{:?}", found.order);
        assert!(found.elimination + found.solution < 30 * 8, "{}", found.elimination);
    }

    #[test]
    fn pivots_that_lose_their_digits_are_noticed() {
        // 1 − s·j is 0, nearly 0, or fine, next to a matrix that is regular in all lanes.
        let (routine, inputs) = solver(&vec![vec![true; 2]; 2]);
        let mut rows: Vec<Block> = vec![[1.0; 32]; inputs];
        rows[1] = std::array::from_fn(|i| match i % 4 {
            0 => 1.0,
            1 => 1.0 + 1e-9,
            2 => 1.001,
            _ => -5.0,
        });
        rows[4] = [-3.0; 32];
        let found = dispatch(Run(&routine, &rows));
        for lane in 0..32 {
            assert_eq!(found[2][lane], if lane % 4 < 2 { 0.0 } else { 1.0 }, "lane {lane}");
        }
    }
}
