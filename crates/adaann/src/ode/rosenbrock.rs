//! Steps for stiff systems as graphs: RODAS5P, a Rosenbrock method of order 5 with an estimate of order 4
//! (G. Steinebach, BIT Numerical Mathematics 63:27, 2023).
//!
//! A stage solves one system of linear equations with the matrix I − γhJ, which all stages share.
//! There is no iteration whose length would depend on the sample, so a step is a program like an
//! explicit one. The method is L-stable and stiffly accurate: a fast component is damped within one
//! step of any length.

use super::System;
use super::jacobian::Jacobian;
use super::layout::inputs;
use super::lu::{Factors, elimination, pattern};
use super::runge_kutta::later;
use super::trial::Trial;
use crate::program::{Graph, Node};

const GAMMA: f64 = 0.211_937_563_194_290_14;

/// A stage: its time c, the factor d of f_t, and the weights of the stages before it in its argument (a)
/// and on its right-hand side (C).
struct Stage {
    c: f64,
    d: f64,
    a: &'static [f64],
    right: &'static [f64],
}

/// The arguments of the last three stages and of the solution differ by one stage each; the last
/// stage is the error estimate.
const STAGES: [Stage; 8] = [
    Stage { c: 0.0, d: GAMMA, a: &[], right: &[] },
    Stage {
        c: 0.635_812_689_582_870_4,
        d: -0.423_875_126_388_580_27,
        a: &[3.0],
        right: &[-14.155_112_264_123_755],
    },
    Stage {
        c: 0.409_579_839_339_753_5,
        d: -0.338_462_712_623_592_4,
        a: &[2.849_394_379_747_939, 0.458_422_422_044_639_23],
        right: &[-17.972_960_358_859_52, -2.859_693_295_451_294],
    },
    Stage {
        c: 0.976_930_672_506_071_6,
        d: 1.804_645_287_288_273_4,
        a: &[-6.954_028_509_809_101, 2.489_845_061_869_568, -10.358_996_098_473_584],
        right: &[147.121_502_757_117_16, -1.412_214_027_182_13, 71.689_402_513_023_58],
    },
    Stage {
        c: 0.428_840_360_955_866_4,
        d: 2.325_825_639_765_069,
        a: &[
            2.802_998_627_562_896_4,
            0.507_246_473_622_820_6,
            -0.398_831_254_177_052_4,
            -0.047_211_872_304_046_41,
        ],
        right: &[
            165.435_170_248_716_76,
            -0.459_282_345_649_112_6,
            42.909_383_369_586_03,
            -5.961_986_721_573_306,
        ],
    },
    Stage {
        c: 1.0,
        d: 0.0,
        a: &LAST,
        right: &[
            24.854_864_614_690_072,
            -3.000_922_700_283_218_6,
            47.493_111_002_076_8,
            5.581_419_782_155_812_5,
            -0.661_069_182_524_947_1,
        ],
    },
    Stage {
        c: 1.0,
        d: 0.0,
        a: &[LAST[0], LAST[1], LAST[2], LAST[3], LAST[4], 1.0],
        right: &[
            30.912_732_140_285_99,
            -3.120_824_334_993_797_4,
            77.799_546_460_708_92,
            34.286_460_282_947_83,
            -19.097_331_116_725_623,
            -28.087_943_162_872_662,
        ],
    },
    Stage {
        c: 1.0,
        d: 0.0,
        a: &[LAST[0], LAST[1], LAST[2], LAST[3], LAST[4], 1.0, 1.0],
        right: &[
            37.802_771_233_905_63,
            -3.257_196_902_907_227_6,
            112.269_188_494_963_27,
            66.934_723_124_404_7,
            -40.066_189_370_910_02,
            -54.667_802_628_779_68,
            -9.488_616_523_096_27,
        ],
    },
];

const LAST: [f64; 5] = [
    -7.502_846_399_306_121,
    2.561_846_144_803_919,
    -11.627_539_656_261_098,
    -0.182_687_676_599_422_56,
    0.030_198_172_008_377_946,
];

/// In larger systems no elimination order is computed.
const MOST_STATES: usize = 300;

/// Products of the linear equations of a step; `None` if there are far too many.
pub(super) fn products(system: &System) -> Option<usize> {
    let n = system.states().len();
    if n > MOST_STATES {
        return None;
    }
    let mut graph = Graph::new();
    let z = inputs(&mut graph, 0, 1 + n + system.parameters().len());
    let (x, p) = z[1..].split_at(n);
    let rates = system.derivative(&mut graph, z[0], x, p);
    let jacobian = Jacobian::new(&mut graph, &rates, z[0], x);
    let found = elimination(&pattern(&jacobian.states));
    Some(found.elimination + STAGES.len() * found.solution)
}

/// A step. Its linear equations are (I − γhJ) k = γ (h f + h² d f_t + Σ C k), whose solution for
/// h = 0 is exactly 0: a waiting sample does not move.
pub(super) fn rodas5p(
    graph: &mut Graph,
    system: &System,
    t: Node,
    h: Node,
    x: &[Node],
    p: &[Node],
) -> Trial {
    let gamma = graph.constant(GAMMA);
    let scale = graph.mul(gamma, h);
    let rates = system.derivative(graph, t, x, p);
    let jacobian = Jacobian::new(graph, &rates, t, x);
    let factors = Factors::new(graph, scale, &jacobian.states);
    let square = graph.mul(scale, h);
    let mut moves: Vec<Vec<Node>> = Vec::new();
    // The argument without and with the last stage's increment.
    let mut to = x.to_vec();
    for (number, stage) in STAGES.iter().enumerate() {
        let rates = if number == 0 {
            rates.clone()
        } else {
            let one_more = STAGES[number - 1].a.len() < stage.a.len()
                && stage.a.starts_with(STAGES[number - 1].a)
                && stage.a.last() == Some(&1.0);
            to = if one_more {
                sum(graph, to, &[1.0], &moves[number - 1..])
            } else {
                sum(graph, x.to_vec(), stage.a, &moves)
            };
            let at = later(graph, t, stage.c, h);
            system.derivative(graph, at, &to, p)
        };
        let mut right: Vec<Node> = rates.iter().map(|&rate| graph.mul(scale, rate)).collect();
        if stage.d != 0.0 {
            let d = graph.constant(stage.d);
            let factor = graph.mul(d, square);
            for (right, slope) in right.iter_mut().zip(&jacobian.time) {
                if let Some(slope) = *slope {
                    let part = graph.mul(factor, slope);
                    *right = graph.add(*right, part);
                }
            }
        }
        let weights: Vec<f64> = stage.right.iter().map(|weight| GAMMA * weight).collect();
        let right = sum(graph, right, &weights, &moves);
        moves.push(factors.solve(graph, &right));
    }
    let last = moves.len() - 1;
    let to = sum(graph, to, &[1.0], &moves[last..]);
    Trial { to, error: moves.swap_remove(last), sound: factors.sound }
}

/// x + Σ weight·k
fn sum(graph: &mut Graph, mut x: Vec<Node>, weights: &[f64], moves: &[Vec<Node>]) -> Vec<Node> {
    for (&weight, k) in weights.iter().zip(moves) {
        let weight = graph.constant(weight);
        for (x, &k) in x.iter_mut().zip(k) {
            let part = graph.mul(weight, k);
            *x = graph.add(*x, part);
        }
    }
    x
}
