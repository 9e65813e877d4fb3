//! Similarity maps of recipes: shifts, scales, rotations, reflections and exchanges of coordinates.

use super::recipe::{Axes, Prior, Recipe, dot};
use crate::dice::Dice;

/// x ↦ scale · Q x + shift with an orthogonal Q.
#[derive(Debug, Clone)]
pub(crate) struct Map {
    /// Q row by row, or `None` for the identity.
    pub(crate) orthogonal: Option<Vec<f64>>,
    pub(crate) scale: f64,
    pub(crate) shift: Vec<f64>,
}

impl Map {
    pub(crate) fn identity(dim: usize) -> Self {
        Self { orthogonal: None, scale: 1.0, shift: vec![0.0; dim] }
    }

    /// Changes the signs of a random half of the coordinates, rounded up.
    pub(crate) fn reflection(dim: usize, dice: &mut Dice) -> Self {
        let order = dice.order(dim);
        let mut matrix = vec![0.0; dim * dim];
        for (rank, d) in order.into_iter().enumerate() {
            matrix[d * dim + d] = if rank < dim.div_ceil(2) { -1.0 } else { 1.0 };
        }
        Self { orthogonal: Some(matrix), ..Self::identity(dim) }
    }

    /// Puts the coordinates into a random order.
    pub(crate) fn exchange(dim: usize, dice: &mut Dice) -> Self {
        let mut matrix = vec![0.0; dim * dim];
        for (to, from) in dice.order(dim).into_iter().enumerate() {
            matrix[to * dim + from] = 1.0;
        }
        Self { orthogonal: Some(matrix), ..Self::identity(dim) }
    }

    pub(crate) fn point(&self, x: &[f64]) -> Vec<f64> {
        let turned = self.direction(x);
        turned.iter().zip(&self.shift).map(|(x, shift)| self.scale * x + shift).collect()
    }

    /// Q x
    fn direction(&self, x: &[f64]) -> Vec<f64> {
        let Some(matrix) = &self.orthogonal else { return x.to_vec() };
        matrix.chunks_exact(x.len()).map(|row| dot(row, x)).collect()
    }
}

impl Recipe {
    /// The recipe of the mapped variable, or `None` if its prior would no longer be a box.
    pub(crate) fn mapped(&self, map: &Map) -> Option<Self> {
        let mut mapped = self.clone();
        for part in &mut mapped.parts {
            part.centre = map.point(&part.centre);
            part.width *= map.scale;
        }
        mapped.axes = self.axes.as_ref().map(|axes| Axes {
            rows: axes.rows.chunks_exact(self.dim()).flat_map(|row| map.direction(row)).collect(),
            lengths: axes.lengths.clone(),
        });
        mapped.prior = match &self.prior {
            Prior::Flat => Prior::Flat,
            Prior::Normal { mean, sd } => {
                Prior::Normal { mean: map.point(mean), sd: map.scale * sd }
            }
            Prior::Box { .. } => return None,
        };
        Some(mapped)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::mixtures, *};
    use adaann::{
        Batch,
        model::Model,
        target::{Evaluation, Target},
    };

    fn log_density(recipe: &Recipe, x: &[f64]) -> f64 {
        let model = Model::parse("mapped.toml", &recipe.text()).unwrap();
        let target = model.target();
        let mut out = Evaluation::zeros(x.len(), 1);
        target.evaluate(&Batch::from_points(x.len(), &[x]), None, &mut out).unwrap();
        out.log_prior[0] + out.log_likelihood[0]
    }

    /// p'(x') dx' = p(x) dx for the likelihood. A normal prior contributes the same factor again.
    #[test]
    fn densities_map_with_their_volume() {
        let recipes = (1..60).map(mixtures::recipe);
        let has_axes = |recipe: &Recipe| recipe.axes.is_some();
        let mut seen = 0;
        for recipe in recipes.filter(|recipe| recipe.prior == Prior::Flat && has_axes(recipe)) {
            seen += 1;
            let dim = recipe.dim();
            let mut dice = Dice::new("test of maps", 1);
            let map =
                Map { orthogonal: Some(dice.rotation(dim)), scale: 2.5, shift: dice.normals(dim) };
            let posterior = recipe.posterior();
            let x = recipe.draw(0, &posterior, &mut dice);
            let mapped = recipe.mapped(&map).unwrap();
            let off = log_density(&mapped, &map.point(&x)) + dim as f64 * 2.5_f64.ln()
                - log_density(&recipe, &x);
            assert!(off.abs() < 1e-8, "{off}");
        }
        assert!(seen > 5);
    }

    #[test]
    fn reflections_and_exchanges_are_their_own_kind() {
        let mut dice = Dice::new("test of kinds", 1);
        let x = [1.0, 2.0, 3.0];
        let reflected = Map::reflection(3, &mut dice).point(&x);
        assert_eq!(reflected.iter().filter(|x| **x < 0.0).count(), 2);
        let mut exchanged = Map::exchange(3, &mut dice).point(&x);
        exchanged.sort_by(f64::total_cmp);
        assert_eq!(exchanged, x);
    }
}
