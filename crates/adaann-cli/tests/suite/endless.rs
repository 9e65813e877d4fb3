//! Runs that would not come to an end say so.

use crate::support::common;
use common::{Place, stderr};

#[test]
fn steps_that_lead_nowhere_end_the_run() {
    let place = Place::new();
    let output = place.adaann("run mixture2d --param mu=1e5 --out r --quiet", &[]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("hardly moves t = 0.0100") && said.contains("raise --tau"), "{said}");
    let output = place.adaann("run bimodal --t0 1e-320 --out r --quiet", &[]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("--t0 is 1e-320, but must be at least"));
    assert_eq!(place.entries(), [""; 0]);
}
