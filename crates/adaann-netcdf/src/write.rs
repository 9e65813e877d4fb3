//! Encodes objects to bytes in two passes: without addresses to determine all sizes, then with them.

use crate::{
    File, Result, Value, Values,
    header::{self, Header},
    heap::Heap,
    message::{self, Shape, Type},
    plan::{self, Body, Content, Object},
};
use std::io::Write;

/// The number of values converted to bytes at a time.
const BLOCK: usize = 8192;

/// All addresses. No size depends on them.
struct Addresses {
    headers: Vec<u64>,
    heap: u64,
    values: Vec<u64>,
    end: u64,
}

/// The bytes of everything except numbers.
struct Encoded {
    headers: Vec<Vec<u8>>,
    heap: Vec<u8>,
    /// For each object, the references to its texts, if any.
    texts: Vec<Vec<u8>>,
}

pub(crate) fn file(file: &File, out: &mut impl Write) -> Result<()> {
    let objects = plan::objects(file);
    let count = objects.len();
    let unknown = Addresses { headers: vec![0; count], heap: 0, values: vec![0; count], end: 0 };
    let addresses = lay_out(&objects, &encode(&objects, &unknown));
    let encoded = encode(&objects, &addresses);

    out.write_all(&header::superblock(addresses.headers[0], addresses.end))?;
    let mut written = header::SUPERBLOCK;
    for header in &encoded.headers {
        out.write_all(header)?;
        written += header.len() as u64;
    }
    out.write_all(&[0; 8][..(addresses.heap - written) as usize])?;
    out.write_all(&encoded.heap)?;
    for (object, texts) in objects.iter().zip(&encoded.texts) {
        match &object.body {
            Body::Dataset(_, Some(Values::Numbers(values))) => {
                write_numbers(values, f64::to_le_bytes, out)?;
            }
            Body::Dataset(_, Some(Values::Integers(values))) => {
                write_numbers(values, i64::to_le_bytes, out)?;
            }
            _ => out.write_all(texts)?,
        }
    }
    Ok(())
}

fn write_numbers<T: Copy>(
    values: &[T],
    to_bytes: fn(T) -> [u8; 8],
    out: &mut impl Write,
) -> Result<()> {
    let mut bytes = Vec::with_capacity(8 * BLOCK.min(values.len()));
    for block in values.chunks(BLOCK) {
        bytes.clear();
        bytes.extend(block.iter().flat_map(|&value| to_bytes(value)));
        out.write_all(&bytes)?;
    }
    Ok(())
}

/// The order of the file: superblock, headers, heap, values. Values of at least eight bytes are aligned to eight.
fn lay_out(objects: &[Object<'_>], encoded: &Encoded) -> Addresses {
    let mut end = header::SUPERBLOCK;
    let mut take = |size: u64| {
        end += size;
        end - size
    };
    let headers: Vec<u64> =
        encoded.headers.iter().map(|header| take(header.len() as u64)).collect();
    let gap = take(0).next_multiple_of(8) - take(0);
    take(gap);
    let heap = take(encoded.heap.len() as u64);
    let values = objects.iter().map(|object| take(stored_size(object))).collect();
    Addresses { headers, heap, values, end }
}

/// The size of the values of an object outside the heap, in bytes.
fn stored_size(object: &Object<'_>) -> u64 {
    match &object.body {
        Body::Dataset(_, Some(values)) => values.len() as u64 * u64::from(kind(values).size()),
        Body::Dataset(_, None) | Body::Group(_) => 0,
    }
}

fn kind(values: &Values) -> Type {
    match values {
        Values::Numbers(_) => Type::F64,
        Values::Integers(_) => Type::I64,
        Values::Texts(_) => Type::Text,
    }
}

fn encode(objects: &[Object<'_>], addresses: &Addresses) -> Encoded {
    let mut heap = Heap::new(addresses.heap);
    let mut headers = Vec::with_capacity(objects.len());
    let mut texts = Vec::with_capacity(objects.len());
    for (i, object) in objects.iter().enumerate() {
        let mut header = Header::default();
        match &object.body {
            Body::Group(links) => {
                header.link_info(&message::link_info(links.len() as u64));
                header.group_info();
                for (order, &(name, place)) in links.iter().enumerate() {
                    header.link(&message::link(name, order as u64, addresses.headers[place]));
                }
                texts.push(Vec::new());
            }
            Body::Dataset(shape, values) => {
                header.dataspace(&shape.encode());
                header.datatype(&values.map_or(Type::F32, kind).encode());
                header.fill_value(&message::no_fill_value());
                header.layout(&layout(object, shape, addresses.values[i]));
                texts.push(match values {
                    Some(Values::Texts(texts)) => into_heap(texts, &mut heap),
                    _ => Vec::new(),
                });
            }
        }
        for (name, content) in &object.attributes {
            let (kind, shape, values) = attribute(content, addresses, &mut heap);
            header.attribute(&message::attribute(name, kind, &shape, &values));
        }
        headers.push(header.finish());
    }
    Encoded { headers, heap: heap.finish(), texts }
}

/// The layout of a dataset. Without stored values it has no address, but still the size of the values.
fn layout(object: &Object<'_>, shape: &Shape, address: u64) -> Vec<u8> {
    match (stored_size(object), shape, &object.body) {
        (_, Shape::Simple(lengths), Body::Dataset(_, None)) => {
            let size = lengths.iter().product::<u64>() * u64::from(Type::F32.size());
            message::contiguous(message::NOWHERE, size)
        }
        (0, ..) => message::contiguous(message::NOWHERE, 0),
        (size, ..) => message::contiguous(address, size),
    }
}

fn into_heap(texts: &[String], heap: &mut Heap) -> Vec<u8> {
    texts.iter().flat_map(|text| heap.insert(text.len() as u32, text.as_bytes())).collect()
}

/// Type, shape and values of an attribute. As in netCDF, a single number is a list of length one.
fn attribute(
    content: &Content<'_>,
    addresses: &Addresses,
    heap: &mut Heap,
) -> (Type, Shape, Vec<u8>) {
    let list = |length: usize| Shape::Simple(vec![length as u64]);
    let address = |place: usize| addresses.headers[place].to_le_bytes();
    match content {
        Content::Given(Value::Number(value)) => (Type::F64, list(1), value.to_le_bytes().to_vec()),
        Content::Given(Value::Integer(value)) => (Type::I64, list(1), value.to_le_bytes().to_vec()),
        Content::Given(Value::Text(text)) => {
            (Type::Text, Shape::Scalar, into_heap(std::slice::from_ref(text), heap))
        }
        Content::Given(Value::List(values)) => {
            let bytes = match values {
                Values::Numbers(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
                Values::Integers(values) => values.iter().flat_map(|v| v.to_le_bytes()).collect(),
                Values::Texts(texts) => into_heap(texts, heap),
            };
            (kind(values), list(values.len()), bytes)
        }
        Content::Ascii(text) => {
            let bytes = [text.as_bytes(), b"\0"].concat();
            (Type::Ascii(bytes.len() as u32), Shape::Scalar, bytes)
        }
        Content::Id(id) => (Type::I32, Shape::Scalar, id.to_le_bytes().to_vec()),
        Content::Ids(ids) => {
            (Type::I32, list(ids.len()), ids.iter().flat_map(|id| id.to_le_bytes()).collect())
        }
        Content::Scales(places) => {
            let bytes = places.iter().flat_map(|&place| heap.insert(1, &address(place))).collect();
            (Type::References, list(places.len()), bytes)
        }
        Content::Users(users) => {
            let user = |&(place, axis): &(usize, u32)| {
                [&address(place)[..], &axis.to_le_bytes(), &[0; 4]].concat()
            };
            (Type::BackReference, list(users.len()), users.iter().flat_map(user).collect())
        }
    }
}

#[cfg(test)]
mod tests;
