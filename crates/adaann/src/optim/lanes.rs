//! An elementwise update, written for one register and run over whole slices.

use crate::{
    pieces,
    simd::{F64, Kernel, Lane, dispatch},
};
use fearless_simd::Simd;

/// Computes new parameters and K new moments from the old ones and the gradient, elementwise.
pub(super) trait Elementwise<const K: usize>: Copy {
    /// The update of one register; must be `#[inline(always)]`.
    fn apply<S: Simd>(
        self,
        simd: S,
        param: F64<S>,
        gradient: F64<S>,
        moments: [F64<S>; K],
    ) -> (F64<S>, [F64<S>; K]);
}

/// Runs a rule over slices of the same length, on several threads if they are long.
pub(super) fn run<const K: usize>(
    rule: impl Elementwise<K> + Send + Sync,
    params: &mut [f64],
    gradient: &[f64],
    moments: [&mut [f64]; K],
) {
    let Some(at) = pieces::cut(params.len()) else {
        dispatch(Update { rule, params, gradient, moments });
        return;
    };
    let (params, params_rest) = params.split_at_mut(at);
    let (gradient, gradient_rest) = gradient.split_at(at);
    let mut moments_rest: [&mut [f64]; K] = std::array::from_fn(|_| &mut [][..]);
    let mut k = 0;
    let moments = moments.map(|moment| {
        let (moment, rest) = moment.split_at_mut(at);
        moments_rest[k] = rest;
        k += 1;
        moment
    });
    rayon::join(
        || run(rule, params, gradient, moments),
        || run(rule, params_rest, gradient_rest, moments_rest),
    );
}

struct Update<'a, R, const K: usize> {
    rule: R,
    params: &'a mut [f64],
    gradient: &'a [f64],
    moments: [&'a mut [f64]; K],
}

/// The widest register, for the remainder at the end.
const WIDEST: usize = 8;

impl<R: Elementwise<K>, const K: usize> Kernel for Update<'_, R, K> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { rule, params, gradient, moments } = self;
        let lanes = F64::<S>::LEN;
        let whole = params.len() / lanes * lanes;
        for i in (0..whole).step_by(lanes) {
            let mut old = [F64::<S>::splat(simd, 0.0); K];
            for k in 0..K {
                old[k] = F64::load(simd, &moments[k][i..]);
            }
            let param = F64::load(simd, &params[i..]);
            let (param, new) = rule.apply(simd, param, F64::load(simd, &gradient[i..]), old);
            param.store(&mut params[i..]);
            for k in 0..K {
                new[k].store(&mut moments[k][i..]);
            }
        }
        // The remainder uses the same instructions, so that a parameter's value does not depend on
        // its place in the vector.
        let rest = params.len() - whole;
        if rest > 0 {
            let padded = |from: &[f64]| {
                let mut to = [0.0; WIDEST];
                to[..rest].copy_from_slice(&from[whole..]);
                F64::<S>::load(simd, &to)
            };
            let unpadded = |lane: F64<S>, to: &mut [f64]| {
                let mut from = [0.0; WIDEST];
                lane.store(&mut from);
                to[whole..].copy_from_slice(&from[..rest]);
            };
            let mut old = [F64::<S>::splat(simd, 0.0); K];
            for k in 0..K {
                old[k] = padded(moments[k]);
            }
            let (param, new) = rule.apply(simd, padded(params), padded(gradient), old);
            unpadded(param, params);
            for k in 0..K {
                unpadded(new[k], moments[k]);
            }
        }
    }
}
