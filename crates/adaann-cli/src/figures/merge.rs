//! Filled contours arrive as one polygon per cell; runs of whole cells become one rectangle.
//!
//! A contour plot shrinks to a quarter, and no hairlines show between the cells.

/// The drawing with its runs of cells merged.
pub(super) fn merge_cells(svg: &str) -> String {
    const PATH: &str = "<path d=\"";
    let mut merged = String::with_capacity(svg.len() / 2);
    let mut rest = svg;
    while let Some(at) = rest.find(PATH) {
        let (before, path) = rest.split_at(at + PATH.len());
        let end = path.find('"').unwrap_or(path.len());
        merged += before;
        merged += &merge_path(&path[..end]);
        rest = &path[end..];
    }
    merged + rest
}

/// A rectangle by the texts of its numbers: equal texts are equal numbers.
struct Cell<'a> {
    left: &'a str,
    right: &'a str,
    top: &'a str,
    bottom: &'a str,
}

fn merge_path(path: &str) -> String {
    let mut polygons = Vec::new();
    let mut run: Option<Cell> = None;
    let text = |Cell { left, right, top, bottom }: Cell| {
        format!("M{left} {top} L{right} {top} L{right} {bottom} L{left} {bottom} Z")
    };
    for polygon in path.split_inclusive('Z').map(str::trim) {
        run = match (run.take(), cell(polygon)) {
            (Some(run), Some(next))
                if (run.right, run.top, run.bottom) == (next.left, next.top, next.bottom) =>
            {
                Some(Cell { right: next.right, ..run })
            }
            (ended, next) => {
                polygons.extend(ended.map(text));
                if next.is_none() {
                    polygons.push(polygon.to_owned());
                }
                next
            }
        };
    }
    polygons.extend(run.map(text));
    polygons.join(" ")
}

/// The polygon as a rectangle, if it is one.
fn cell(polygon: &str) -> Option<Cell<'_>> {
    let corners = polygon.strip_prefix('M')?.strip_suffix('Z')?.trim_end();
    let corners: Vec<_> =
        corners.split(" L").map(|corner| corner.split_once(' ')).collect::<Option<_>>()?;
    match corners[..] {
        [(left, top), (right, t), (r, bottom), (l, b)]
            if (t, r, l, b) == (top, right, left, bottom) =>
        {
            Some(Cell { left, right, top, bottom })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_in_a_row_become_one() {
        let square = |l: u8, r: u8, y: u8| format!("M{l} {y} L{r} {y} L{r} 9 L{l} 9 Z");
        let triangle = "M3 4 L5 4 L5 9 Z";
        let path = [square(1, 2, 4), square(2, 3, 4), triangle.into(), square(5, 6, 4)].join(" ");
        let expected = [square(1, 3, 4), triangle.into(), square(5, 6, 4)].join(" ");
        assert_eq!(merge_path(&path), expected);
        // Not the same row, and not touching.
        let apart = [square(1, 2, 4), square(2, 3, 5), square(4, 5, 5)].join(" ");
        assert_eq!(merge_path(&apart), apart);
    }

    #[test]
    fn everything_else_is_as_it_was() {
        for svg in ["", "<svg><path d=\"M1 2 L3 4\" stroke=\"x\"/><g/></svg>", "<path d=\"M1 2"] {
            assert_eq!(merge_cells(svg), svg);
        }
    }
}
