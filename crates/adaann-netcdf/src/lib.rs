//! Writes netCDF-4 files, which are HDF5 files, in Rust alone, so that ArviZ opens what adaann has drawn.
//!
//! A [`File`] has groups, a [`Group`] has dimensions and variables over them:
//!
//! ```
//! use adaann_netcdf::{Dimension, File, Group, Value, Values, Variable};
//!
//! let posterior = Group {
//!     name: "posterior".into(),
//!     attributes: vec![("inference_library".into(), Value::Text("adaann".into()))],
//!     dimensions: vec![
//!         Dimension::counted("chain", 1),
//!         Dimension::counted("draw", 2),
//!         Dimension::labelled("theta_dim_0", Values::Texts(vec!["a".into(), "b".into(), "c".into()])),
//!     ],
//!     variables: vec![Variable {
//!         name: "theta".into(),
//!         dimensions: vec!["chain".into(), "draw".into(), "theta_dim_0".into()],
//!         values: Values::Numbers(vec![0.1, 0.2, 0.3, 1.1, 1.2, 1.3]), // the last dimension goes fastest
//!         attributes: vec![],
//!     }],
//! };
//! let file = File { attributes: vec![], groups: vec![posterior] };
//! assert!(file.to_bytes()?.starts_with(b"\x89HDF\r\n\x1a\n"));
//! # Ok::<(), adaann_netcdf::Error>(())
//! ```
//!
//! The bytes depend on the `File` alone: no clock is read. A time of creation is an attribute that the
//! caller gives.

mod check;
mod checksum;
mod error;
mod header;
mod heap;
mod message;
mod plan;
mod write;

pub use error::{Error, Result};

use std::io::Write;

/// A file: attributes of the whole, and groups.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct File {
    /// What is said of the whole file, by name.
    pub attributes: Vec<(String, Value)>,
    /// The groups, in the order that readers list them.
    pub groups: Vec<Group>,
}

/// A group: a data set of its own, with its own dimensions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// The name; ArviZ knows `posterior`, `sample_stats`, `observed_data` and others.
    pub name: String,
    /// What is said of the group, by name.
    pub attributes: Vec<(String, Value)>,
    /// The dimensions that the variables name.
    pub dimensions: Vec<Dimension>,
    /// The variables, in the order that readers list them.
    pub variables: Vec<Variable>,
}

/// A dimension of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct Dimension {
    /// The name, also that of its coordinate.
    pub name: String,
    /// How many values a variable has along it; may be 0.
    pub length: usize,
    /// The coordinate: one value for each place along the dimension.
    pub coordinate: Option<Values>,
}

impl Dimension {
    /// A dimension whose coordinate counts 0, 1, 2, ..., as ArviZ has it for chains and draws.
    pub fn counted(name: impl Into<String>, length: usize) -> Self {
        Self::labelled(name, Values::Integers((0..length as i64).collect()))
    }

    /// A dimension as long as its coordinate.
    pub fn labelled(name: impl Into<String>, coordinate: Values) -> Self {
        Self { name: name.into(), length: coordinate.len(), coordinate: Some(coordinate) }
    }
}

/// A variable: values over some dimensions of its group, or a single value over none.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// The name.
    pub name: String,
    /// The names of its dimensions, slowest first.
    pub dimensions: Vec<String>,
    /// The values; those that differ in the last dimension alone are neighbours.
    pub values: Values,
    /// What is said of the variable, by name.
    pub attributes: Vec<(String, Value)>,
}

/// Values of one kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Numbers; infinities and NaN are kept.
    Numbers(Vec<f64>),
    /// Whole numbers.
    Integers(Vec<i64>),
    /// Texts without the character NUL, which ends a text in HDF5.
    Texts(Vec<String>),
}

impl Values {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(values) => values.len(),
            Self::Integers(values) => values.len(),
            Self::Texts(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// One number.
    Number(f64),
    /// One whole number.
    Integer(i64),
    /// One text.
    Text(String),
    /// Several values of one kind.
    List(Values),
}

impl File {
    /// Checks the file and writes it. Beside the values only names, attributes and texts are held in
    /// memory.
    pub fn write(&self, out: &mut impl Write) -> Result<()> {
        check::file(self)?;
        write::file(self, out)
    }

    /// The whole file in memory.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.write(&mut bytes)?;
        Ok(bytes)
    }
}
