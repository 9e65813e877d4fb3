//! Writes netCDF-4 files, which are HDF5 files, in pure Rust, so that ArviZ can open the draws of adaann.
//!
//! A [`File`] has groups, and a [`Group`] has dimensions and variables over them:
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
//! The bytes depend only on the `File`, because no clock is read. The caller can add a creation time as an
//! attribute.

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

/// A file: attributes and groups.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct File {
    /// The attributes of the file, by name.
    pub attributes: Vec<(String, Value)>,
    /// The groups, in the order that readers list them.
    pub groups: Vec<Group>,
}

/// A group: a data set with its own dimensions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// The name; ArviZ knows `posterior`, `sample_stats`, `observed_data` and others.
    pub name: String,
    /// The attributes of the group, by name.
    pub attributes: Vec<(String, Value)>,
    /// The dimensions of the variables.
    pub dimensions: Vec<Dimension>,
    /// The variables, in the order that readers list them.
    pub variables: Vec<Variable>,
}

/// A dimension of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct Dimension {
    /// The name of the dimension and of its coordinate.
    pub name: String,
    /// The number of values along the dimension, possibly 0.
    pub length: usize,
    /// The coordinate: one value for each index along the dimension.
    pub coordinate: Option<Values>,
}

impl Dimension {
    /// A dimension with the coordinate 0, 1, 2, ..., as ArviZ uses for chains and draws.
    pub fn counted(name: impl Into<String>, length: usize) -> Self {
        Self::labelled(name, Values::Integers((0..length as i64).collect()))
    }

    /// A dimension as long as its coordinate.
    pub fn labelled(name: impl Into<String>, coordinate: Values) -> Self {
        Self { name: name.into(), length: coordinate.len(), coordinate: Some(coordinate) }
    }
}

/// A variable: values over some dimensions of its group, or a single value without dimensions.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// The name.
    pub name: String,
    /// The names of its dimensions, slowest first.
    pub dimensions: Vec<String>,
    /// The values in row-major order: the last dimension varies fastest.
    pub values: Values,
    /// The attributes of the variable, by name.
    pub attributes: Vec<(String, Value)>,
}

/// Values of one kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Numbers, including infinities and NaN.
    Numbers(Vec<f64>),
    /// Integers.
    Integers(Vec<i64>),
    /// Texts without the character NUL, which ends a text in HDF5.
    Texts(Vec<String>),
}

impl Values {
    /// The number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(values) => values.len(),
            Self::Integers(values) => values.len(),
            Self::Texts(values) => values.len(),
        }
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// One number.
    Number(f64),
    /// One integer.
    Integer(i64),
    /// One text.
    Text(String),
    /// Several values of one kind.
    List(Values),
}

impl File {
    /// Checks the file and writes it. Apart from the values, only names, attributes and texts are copied to
    /// memory.
    pub fn write(&self, out: &mut impl Write) -> Result<()> {
        check::file(self)?;
        write::file(self, out)
    }

    /// The bytes of the file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.write(&mut bytes)?;
        Ok(bytes)
    }
}
