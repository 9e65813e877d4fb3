//! CSV: the tables of a run folder, and a user's points.

use crate::text::failure::usage;
use adaann::{
    Batch,
    fit::{StepRecord, UpdateRecord},
    importance::Sample,
    registry::Table,
    smc::Stage,
    support::file,
};
use anyhow::Result;
use std::{
    fmt::Write,
    io::{self, BufRead, ErrorKind},
    path::Path,
};

/// Writes a table of points, like `draws.csv`: parameters, derived quantities and further columns. Unknown
/// values are empty fields. Writes line by line, since the text may not fit into memory.
pub(crate) fn draws(
    out: &mut dyn io::Write,
    names: &[String],
    points: &Batch,
    quantities: Option<&Batch>,
    known: &[(&str, &[f64])],
) -> io::Result<()> {
    let mut line = header(names);
    known.iter().for_each(|(name, _)| line.extend([",", name]));
    line.push('\n');
    out.write_all(line.as_bytes())?;
    for i in 0..points.len() {
        line.clear();
        for batch in std::iter::once(points).chain(quantities) {
            for d in 0..batch.dim() {
                push(&mut line, batch.row(d)[i], ',');
            }
        }
        for (column, (_, values)) in known.iter().enumerate() {
            let after = if column + 1 == known.len() { '\n' } else { ',' };
            match values.get(i).filter(|value| !value.is_nan()) {
                Some(value) => push(&mut line, *value, after),
                None => line.push(after),
            }
        }
        out.write_all(line.as_bytes())?;
    }
    Ok(())
}

/// Writes `draws.csv` of a weighted sample. Particles and chains have no q: their column log_q is empty.
pub(crate) fn sample(
    out: &mut dyn io::Write,
    names: &[String],
    sample: &Sample,
    quantities: Option<&Batch>,
) -> io::Result<()> {
    let log_q = sample.log_q().unwrap_or(&[]);
    let known = [("log_p", sample.log_p()), ("log_q", log_q), ("weight", sample.weights())];
    draws(out, names, sample.x(), quantities, &known)
}

/// The text of `stages.csv`; missing numbers are empty fields.
pub(crate) fn stages(stages: &[Stage]) -> String {
    let mut text = String::from(
        "t,start,std_b,ess,resampled,sweeps,acceptance,jump_acceptance,scale,components,moved,\
         evaluations,log_z\n",
    );
    let or_empty = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:?}"));
    for stage in stages {
        let (start, std_b) = (or_empty(stage.start), or_empty(stage.std_b));
        let jumps = or_empty(stage.jump_acceptance);
        let Stage { t, ess, sweeps, acceptance, scale, components, moved, .. } = stage;
        let Stage { evaluations, log_z, .. } = stage;
        let resampled = u8::from(stage.resampled);
        writeln!(
            text,
            "{t:?},{start},{std_b},{ess:?},{resampled},{sweeps},{acceptance:?},{jumps},{scale:?},\
             {components},{moved:?},{evaluations},{log_z:?}"
        )
        .expect("strings grow");
    }
    text
}

/// The text of `schedule.csv`.
pub(crate) fn schedule(steps: &[StepRecord]) -> String {
    let mut text = String::from("step,t,epsilon,std_b,updates,lost,ess\n");
    for step in steps {
        write!(text, "{},{:?},{:?},", step.step, step.t, step.epsilon).expect("strings grow");
        if let Some(std_b) = step.std_b {
            write!(text, "{std_b:?}").expect("strings grow");
        }
        write!(text, ",{},{:?},", step.updates, step.lost).expect("strings grow");
        if let Some(ess) = step.ess {
            write!(text, "{ess:?}").expect("strings grow");
        }
        text.push('\n');
    }
    text
}

/// The text of `trace.csv`.
pub(crate) fn trace(trace: &[UpdateRecord]) -> String {
    let mut text = String::from("update,t,neg_elbo\n");
    for record in trace {
        write!(text, "{},", record.update).expect("strings grow");
        push(&mut text, record.t, ',');
        push(&mut text, record.neg_elbo, '\n');
    }
    text
}

/// The text of `data.csv`; missing numbers are empty fields.
pub(crate) fn data(table: &Table) -> String {
    let mut text = format!("{}\n", header(&table.names));
    for row in &table.rows {
        for (column, number) in row.iter().enumerate() {
            let after = if column + 1 == row.len() { '\n' } else { ',' };
            if number.is_nan() { text.push(after) } else { push(&mut text, *number, after) }
        }
    }
    text
}

/// Reads data: a header with the names of the columns, then numbers. An empty field, NA or NaN is a missing
/// number. `file` names the source in errors.
pub(crate) fn table(file: &str, text: &str) -> Result<Table> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    read_table(file, text).map_err(|error| match hint(text) {
        Some(hint) => usage(format!("{error}; {hint}")),
        None => error,
    })
}

fn read_table(file: &str, text: &str) -> Result<Table> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let (first, header) = lines.next().ok_or_else(|| usage(format!("{file} is empty")))?;
    let names: Vec<String> = split(header).into_iter().map(str::to_owned).collect();
    if names.iter().any(|name| name.is_empty() || name.parse::<f64>().is_ok()) {
        return Err(usage(format!(
            "{file}, line {first}: the first line must name the columns, like t,x,y"
        )));
    }
    let mut rows = Vec::new();
    for (number, line) in lines {
        let fields = split(line);
        let place = format!("{file}, line {number}");
        if fields.len() != names.len() {
            let (found, expected) = (fields.len(), names.len());
            return Err(usage(format!("{place}: {found} columns instead of {expected}")));
        }
        let field = |(text, name): (&str, &String)| match text {
            "" | "NA" => Ok(f64::NAN),
            _ => text
                .parse()
                .map_err(|_| usage(format!("{place}: {name} is '{text}', which is not a number"))),
        };
        rows.push(fields.into_iter().zip(&names).map(field).collect::<Result<Vec<f64>>>()?);
    }
    Ok(Table { names, rows })
}

/// Reads columns by name from a table that this program has written. An empty field is a missing number.
/// `file` names the source in errors.
pub(crate) fn columns(
    file: &str,
    mut source: impl BufRead,
    names: &[&str],
) -> Result<Vec<Vec<f64>>> {
    let mut line = String::new();
    let mut next = |line: &mut String| {
        line.clear();
        let read = source.read_line(line);
        read.map_err(|error| usage(format!("{file} cannot be read: {error}")))
    };
    if next(&mut line)? == 0 {
        return Err(usage(format!("{file} is empty")));
    }
    let header: Vec<String> = split(&line).into_iter().map(str::to_owned).collect();
    let place = |name: &&str| {
        let place = header.iter().position(|found| found == name);
        place.ok_or_else(|| usage(format!("{file} has no column {name}")))
    };
    let places = names.iter().map(place).collect::<Result<Vec<usize>>>()?;
    let mut columns = vec![Vec::new(); names.len()];
    for number in 2.. {
        if next(&mut line)? == 0 {
            break;
        }
        if line.trim().is_empty() {
            continue;
        }
        let fields = split(&line);
        if fields.len() != header.len() {
            let (found, expected) = (fields.len(), header.len());
            return Err(usage(format!(
                "{file}, line {number}: {found} columns instead of {expected}"
            )));
        }
        for ((&place, name), column) in places.iter().zip(names).zip(&mut columns) {
            column.push(match fields[place] {
                "" => f64::NAN,
                text => text.parse().map_err(|_| {
                    usage(format!(
                        "{file}, line {number}: {name} is '{text}', which is not a number"
                    ))
                })?,
            });
        }
    }
    Ok(columns)
}

/// Maximum size of a file that the user names, in bytes.
const MOST_BYTES: u64 = 1 << 31;

/// Reads the text of a file that the user has named; `what` describes its contents in errors.
pub(crate) fn text(path: &Path, what: &str) -> Result<String> {
    let wrong = |problem: String| usage(format!("{}: {problem}", path.display()));
    let bytes = file::read_regular(path, MOST_BYTES).map_err(|error| match error.kind() {
        ErrorKind::NotFound => wrong("there is no such file".to_owned()),
        ErrorKind::Other => wrong(format!("cannot read the {what} from this: {error}")),
        _ => wrong(error.to_string()),
    })?;
    String::from_utf8(bytes)
        .map_err(|_| wrong(format!("the {what} must be CSV text in UTF-8, but this is not UTF-8")))
}

/// A name as a cell, in quotes if it has a comma or a quote.
pub(crate) fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}

/// Appends a number with the shortest digits that read back to the same bits.
fn push(text: &mut String, number: f64, after: char) {
    write!(text, "{number:?}{after}").expect("strings grow");
}

/// Reads points. With a header, columns are matched to parameters by name; without one, the file has a column
/// for each parameter. `file` names the source in errors.
pub(crate) fn points(file: &str, text: &str, names: &[String]) -> Result<Batch> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    read(file, text, names).map_err(|error| match hint(text) {
        Some(hint) => usage(format!("{error}; {hint}")),
        None => error,
    })
}

/// A hint on the format of a file that cannot be read.
fn hint(text: &str) -> Option<&'static str> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.clone().next()?;
    if lines.any(|line| line.starts_with(['#', '%']) || line.starts_with("//")) {
        Some("comments are not supported: every line except the header must be a point")
    } else if first.contains(';') {
        Some("columns must be separated by ',', not by ';'")
    } else if first.contains('\t') {
        Some("columns must be separated by ',', not by tabs")
    } else {
        None
    }
}

fn read(file: &str, text: &str, names: &[String]) -> Result<Batch> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()).peekable();
    let no_points = || usage(format!("{file} has no points"));
    let &(first_line, first) = lines.peek().ok_or_else(no_points)?;
    let fields = split(first);
    let columns = if fields.iter().all(|field| field.parse::<f64>().is_ok()) {
        if fields.len() != names.len() {
            return Err(usage(format!(
                "{file}, line {first_line}: {} columns, but the {} parameters are {}",
                fields.len(),
                names.len(),
                names.join(", ")
            )));
        }
        (0..names.len()).collect()
    } else {
        lines.next();
        find_columns(file, first_line, &fields, names)?
    };
    let width = fields.len();
    let mut points = Vec::new();
    for (number, line) in lines {
        points.push(point(&format!("{file}, line {number}"), line, width, &columns, names)?);
    }
    if points.is_empty() {
        return Err(no_points());
    }
    Ok(Batch::from_points(names.len(), &points))
}

/// The column of each parameter.
fn find_columns(file: &str, line: usize, header: &[&str], names: &[String]) -> Result<Vec<usize>> {
    let find = |name: &String| {
        let mut matches = (0..header.len()).filter(|&i| header[i] == name);
        match (matches.next(), matches.next()) {
            (Some(column), None) => Ok(column),
            (Some(_), Some(_)) => {
                Err(usage(format!("{file}, line {line}: two columns are called '{name}'")))
            }
            (None, _) => Err(usage(format!(
                "{file}, line {line}: no column is called '{name}'; the header must name {}",
                names.join(", ")
            ))),
        }
    };
    names.iter().map(find).collect()
}

fn point(
    place: &str,
    line: &str,
    width: usize,
    columns: &[usize],
    names: &[String],
) -> Result<Vec<f64>> {
    let fields = split(line);
    if fields.len() != width {
        return Err(usage(format!("{place}: {} columns instead of {width}", fields.len())));
    }
    let number = |(&column, name): (&usize, &String)| match fields[column].parse::<f64>() {
        Ok(number) if !number.is_nan() => Ok(number),
        _ => Err(usage(format!("{place}: {name} is '{}', which is not a number", fields[column]))),
    };
    columns.iter().zip(names).map(number).collect()
}

/// The header line of these names.
fn header(names: &[String]) -> String {
    names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(",")
}

/// The cells of a line; commas in quotes do not separate cells.
fn split(line: &str) -> Vec<&str> {
    let mut is_quoted = false;
    let ends = |c: char| {
        is_quoted ^= c == '"';
        c == ',' && !is_quoted
    };
    line.split(ends).map(|field| field.trim().trim_matches('"')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        vec!["a".into(), "b".into()]
    }

    #[test]
    fn columns_are_found_by_name_or_by_place() {
        for text in ["1,2\n3,4\n", "a,b\n1,2\n3,4", "\u{feff}b, x ,\"a\"\r\n2,?,1\r\n\r\n4,,3\r\n"]
        {
            let points = points("f", text, &names()).unwrap();
            assert_eq!((points.row(0), points.row(1)), (&[1.0, 3.0][..], &[2.0, 4.0][..]));
        }
    }

    /// Elements of a matrix have a comma in their names.
    #[test]
    fn a_comma_between_quotes_belongs_to_its_cell() {
        let names = vec!["m[1,2]".to_owned(), "b".to_owned()];
        let written = Batch::from_points(2, &[[1.0, 2.0], [3.0, 4.0]]);
        let mut text = Vec::new();
        draws(&mut text, &names, &written, None, &[("log_p", &[0.5, 0.25])]).unwrap();
        assert!(text.starts_with(b"\"m[1,2]\",b,log_p\n"));
        let read = columns("f", &text[..], &["m[1,2]", "log_p"]).unwrap();
        assert_eq!(read, [[1.0, 3.0], [0.5, 0.25]]);
        let text = String::from_utf8(text).unwrap();
        assert_eq!(points("f", &text, &names).unwrap().point(1), [3.0, 4.0]);
    }

    #[test]
    fn errors_name_the_line() {
        for (text, message) in [
            ("", "f has no points"),
            ("\n \n", "f has no points"),
            ("a,b\n", "f has no points"),
            ("1,2,3\n", "f, line 1: 3 columns, but the 2 parameters are a, b"),
            ("a,c\n1,2\n", "f, line 1: no column is called 'b'; the header must name a, b"),
            ("a,b,a\n", "f, line 1: two columns are called 'a'"),
            ("a,b\n1,2\n\n1\n", "f, line 4: 1 columns instead of 2"),
            ("a,b\n1,x\n", "f, line 2: b is 'x', which is not a number"),
            ("1,2\n1,nan\n", "f, line 2: b is 'nan', which is not a number"),
        ] {
            assert_eq!(points("f", text, &names()).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn other_formats_are_recognised() {
        for (text, message) in [
            ("a;b\n1;2\n", "separated by ',', not by ';'"),
            ("1,5;2,5\n", "separated by ',', not by ';'"),
            ("1\t2\n", "separated by ',', not by tabs"),
            ("# of Monday\n1,2\n", "comments are not supported"),
            ("a,b\n1,2\n# the rest\n3,4\n", "comments are not supported"),
        ] {
            let said = points("f", text, &names()).unwrap_err().to_string();
            assert!(said.starts_with("f, line ") && said.contains(message), "{said}");
        }
        // Unused columns may contain anything.
        assert!(points("f", "a,b,note\n1,2,x;y\n", &names()).is_ok());
    }
}
