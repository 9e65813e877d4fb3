//! Serialisation of flows: the family, the base and the parameters.

use super::Flow;
use crate::flow::{Base, FlowSpec};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _, ser::Error as _};

/// The serialised parts of a flow.
#[derive(Serialize, Deserialize)]
struct Parts<S, B, P> {
    spec: S,
    base: B,
    parameters: P,
}

impl Serialize for Flow {
    /// Fails for custom layers, which have no name.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let spec = self.spec().ok_or_else(|| S::Error::custom("cannot serialise custom layers"))?;
        let (base, parameters) = (self.base(), self.parameters());
        Parts { spec, base, parameters }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Flow {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Parts::<FlowSpec, Base, Vec<f64>> { spec, base, parameters } =
            Parts::deserialize(deserializer)?;
        let mut flow = Self::new(&spec, base).map_err(D::Error::custom)?;
        flow.set_parameters(&parameters).map_err(D::Error::custom)?;
        Ok(flow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Batch, flow::SplineSpec};

    #[test]
    fn comes_back_to_the_same_bits() {
        let base = Base::mixture(&[1.0, 2.0], &[-1.0, 2.0, 0.5, 1.0], &[0.4, 0.7, 1.0, 0.2]);
        for spec in [FlowSpec::planar(3), FlowSpec::SplineAutoregressive(SplineSpec::default())] {
            let mut flow = Flow::new(&spec, base.as_ref().unwrap().clone()).unwrap();
            flow.initialise(0.3, 5);
            let text = serde_json::to_string(&flow).unwrap();
            let back: Flow = serde_json::from_str(&text).unwrap();
            let points = Batch::from_points(2, &[[0.1, -0.4], [2.0, 1.5]]);
            assert_eq!(back.log_density(&points).unwrap(), flow.log_density(&points).unwrap());
        }
    }
}
