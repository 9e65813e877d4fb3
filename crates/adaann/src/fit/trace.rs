//! Serialises the records of updates as columns: there are many records, with few numbers in each.

use super::UpdateRecord;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

#[derive(Serialize, Deserialize)]
struct Columns {
    update: Vec<usize>,
    t: Vec<f64>,
    neg_elbo: Vec<f64>,
}

pub(super) fn serialize<S: Serializer>(
    trace: &[UpdateRecord],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    Columns {
        update: trace.iter().map(|record| record.update).collect(),
        t: trace.iter().map(|record| record.t).collect(),
        neg_elbo: trace.iter().map(|record| record.neg_elbo).collect(),
    }
    .serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<UpdateRecord>, D::Error> {
    let Columns { update, t, neg_elbo } = Columns::deserialize(deserializer)?;
    if t.len() != update.len() || neg_elbo.len() != update.len() {
        return Err(D::Error::custom("the columns of the trace differ in length"));
    }
    let rows = update.into_iter().zip(t).zip(neg_elbo);
    Ok(rows.map(|((update, t), neg_elbo)| UpdateRecord { update, t, neg_elbo }).collect())
}
