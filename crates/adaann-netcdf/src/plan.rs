//! The HDF5 objects of a netCDF-4 file: groups, dimension scales, variables.

use crate::{Dimension, File, Group, Value, Values, Variable, message::Shape};

/// The maximal number of variables that a scale lists, so that the list fits into its header. Readers do not need the
/// list, because they go from variables to scales.
const MOST_USERS: usize = 4000;

/// An object, with one header in the file.
pub(crate) struct Object<'a> {
    pub(crate) body: Body<'a>,
    pub(crate) attributes: Vec<(&'a str, Content<'a>)>,
}

pub(crate) enum Body<'a> {
    /// Names, and indices into the list of objects.
    Group(Vec<(&'a str, usize)>),
    /// Values over a shape, or `None` for the scale of a dimension without coordinate.
    Dataset(Shape, Option<&'a Values>),
}

/// The value of a user attribute, or of an attribute that netCDF-4 adds to HDF5.
pub(crate) enum Content<'a> {
    Given(&'a Value),
    Ascii(String),
    Id(i32),
    Ids(Vec<i32>),
    /// The scales of a variable, as indices into the list of objects.
    Scales(Vec<usize>),
    /// The variables that use a scale, and the index of the dimension in each.
    Users(Vec<(usize, u32)>),
}

/// All objects of the file, starting with the root.
pub(crate) fn objects(file: &File) -> Vec<Object<'_>> {
    let mut attributes = given(&file.attributes);
    let provenance = concat!("version=2,adaann-netcdf=", env!("CARGO_PKG_VERSION"));
    attributes.push(("_NCProperties", Content::Ascii(provenance.into())));
    let mut objects = vec![Object { body: Body::Group(vec![]), attributes }];
    let mut links = Vec::new();
    let mut dimensions_before = 0;
    for group in &file.groups {
        links.push((group.name.as_str(), objects.len()));
        push_group(&mut objects, group, dimensions_before);
        dimensions_before += group.dimensions.len();
    }
    objects[0].body = Body::Group(links);
    objects
}

/// The id of a dimension, counted over all dimensions of the file.
fn push_group<'a>(objects: &mut Vec<Object<'a>>, group: &'a Group, dimensions_before: usize) {
    let scales = objects.len() + 1;
    let variables = scales + group.dimensions.len();
    let mut users = vec![Vec::new(); group.dimensions.len()];
    let places: Vec<Vec<usize>> =
        group.variables.iter().map(|variable| places(variable, group)).collect();
    for (v, places) in places.iter().enumerate() {
        for (axis, &place) in places.iter().enumerate() {
            users[place].push((variables + v, axis as u32));
        }
    }
    let names = group.dimensions.iter().map(|dimension| &dimension.name);
    let names = names.chain(group.variables.iter().map(|variable| &variable.name));
    let links = names.enumerate().map(|(i, name)| (name.as_str(), scales + i)).collect();
    objects.push(Object { body: Body::Group(links), attributes: given(&group.attributes) });
    for (i, (dimension, users)) in group.dimensions.iter().zip(users).enumerate() {
        objects.push(scale(dimension, (dimensions_before + i) as i32, users));
    }
    for (variable, places) in group.variables.iter().zip(places) {
        let lengths = places.iter().map(|&place| group.dimensions[place].length as u64).collect();
        let shape = if places.is_empty() { Shape::Scalar } else { Shape::Simple(lengths) };
        let mut attributes = given(&variable.attributes);
        if !places.is_empty() {
            let ids = places.iter().map(|&place| (dimensions_before + place) as i32).collect();
            attributes.push(("_Netcdf4Coordinates", Content::Ids(ids)));
            let list = places.iter().map(|&place| scales + place).collect();
            attributes.push(("DIMENSION_LIST", Content::Scales(list)));
        }
        objects.push(Object { body: Body::Dataset(shape, Some(&variable.values)), attributes });
    }
}

/// The indices of the dimensions of a variable in its group.
fn places(variable: &Variable, group: &Group) -> Vec<usize> {
    let place = |name: &String| group.dimensions.iter().position(|d| d.name == *name);
    variable.dimensions.iter().filter_map(place).collect()
}

fn scale(dimension: &Dimension, id: i32, users: Vec<(usize, u32)>) -> Object<'_> {
    let name = match dimension.coordinate {
        Some(_) => dimension.name.clone(),
        // Readers recognise a scale without values by this sentence.
        None => {
            let length = dimension.length;
            format!("This is a netCDF dimension but not a netCDF variable.{length:>10}")
        }
    };
    let mut attributes = vec![
        ("CLASS", Content::Ascii("DIMENSION_SCALE".into())),
        ("NAME", Content::Ascii(name)),
        ("_Netcdf4Dimid", Content::Id(id)),
    ];
    if !users.is_empty() && users.len() <= MOST_USERS {
        attributes.push(("REFERENCE_LIST", Content::Users(users)));
    }
    let shape = Shape::Simple(vec![dimension.length as u64]);
    Object { body: Body::Dataset(shape, dimension.coordinate.as_ref()), attributes }
}

fn given(attributes: &[(String, Value)]) -> Vec<(&str, Content<'_>)> {
    attributes.iter().map(|(name, value)| (name.as_str(), Content::Given(value))).collect()
}
