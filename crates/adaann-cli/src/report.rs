//! `report.html`: one page that needs nothing but itself.

use crate::{
    figures::Figure,
    record::Record,
    summary::Summary,
    table::{Table, tables},
};
use anyhow::Result;
use std::fmt::Write;

/// The page.
pub(crate) fn html(
    title: &str,
    record: &Record,
    summary: &Summary,
    figures: &[Figure],
) -> Result<String> {
    let mut body = String::new();
    for warning in &summary.warnings {
        writeln!(body, "<p class=\"warning\">{}</p>", escaped(warning))?;
    }
    body.push_str("<section class=\"tables\">\n");
    for table in tables(summary) {
        push_table(&mut body, &table)?;
    }
    body.push_str("</section>\n");
    for figure in figures {
        // An XML declaration has no place inside HTML.
        let svg = figure.svg.find("<svg").map_or("", |at| &figure.svg[at..]);
        writeln!(
            body,
            "<figure>\n{svg}\n<figcaption>{}</figcaption>\n</figure>",
            escaped(&figure.caption)
        )?;
    }
    writeln!(
        body,
        "<details><summary>Settings (run.toml)</summary><pre>{}</pre></details>",
        escaped(&record.to_toml()?)
    )?;
    writeln!(
        body,
        "<footer>adaann {}, {} threads, {}. Draws are in draws.csv, all numbers in \
         summary.json.</footer>",
        summary.version, summary.threads, summary.instructions
    )?;
    let lead = title.strip_prefix(&format!("{}: ", summary.target)).unwrap_or(title);
    let (title, lead) = (escaped(title), escaped(lead));
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta \
         name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1>{}</h1>\n<p class=\"lead\">{lead}</p>\n\
         {body}</body>\n</html>\n",
        escaped(&summary.target)
    ))
}

fn push_table(html: &mut String, table: &Table) -> Result<()> {
    html.push_str("<div class=\"scroll\"><table>\n");
    if !table.header.is_empty() {
        let cells = table.header.iter().map(|cell| format!("<th>{}</th>", escaped(cell)));
        writeln!(html, "<thead><tr>{}</tr></thead>", cells.collect::<String>())?;
    }
    for row in &table.rows {
        let cells = row.iter().map(|cell| format!("<td>{}</td>", escaped(cell)));
        writeln!(html, "<tr>{}</tr>", cells.collect::<String>())?;
    }
    html.push_str("</table>");
    if let Some(note) = &table.note {
        write!(html, "<p class=\"note\">{}</p>", escaped(note))?;
    }
    html.push_str("</div>\n");
    Ok(())
}

/// Text as HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

const STYLE: &str = "
:root { color-scheme: light; }
body { max-width: 46rem; margin: 2.5rem auto; padding: 0 1.1rem; color: #1d1d1f; background: #fff;
  font: 1rem/1.55 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif; }
h1 { font-size: 1.9rem; margin: 0 0 .2rem; letter-spacing: -.01em; }
.lead { color: #555; margin: 0 0 1.6rem; }
.warning { border-left: .25rem solid #e69f00; background: #fff7e6; padding: .5rem .8rem; }
.tables { display: flex; flex-wrap: wrap; gap: 1.6rem 3rem; align-items: flex-start;
  margin-bottom: 1.6rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th { text-align: right; font-weight: 600; color: #555; border-bottom: 1px solid #bbb; }
th, td { padding: .18rem .9rem .18rem 0; }
td { text-align: right; border-bottom: 1px solid #eee; }
th:first-child, td:first-child { text-align: left; }
.note { color: #666; font-size: .88rem; margin: .4rem 0 0; }
figure { margin: 2rem 0; overflow-x: auto; }
figure svg { width: 100%; height: auto; display: block; }
@media (max-width: 40rem) { figure svg { min-width: 33rem; } }
figcaption { color: #555; font-size: .92rem; margin-top: .3rem; }
details { margin: 2rem 0; } summary { cursor: pointer; }
pre { background: #f6f6f7; padding: .8rem 1rem; overflow-x: auto; font-size: .85rem; }
footer { color: #777; font-size: .85rem; border-top: 1px solid #ddd; padding-top: .8rem; }
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_escaped() {
        assert_eq!(escaped("a < b & c > d"), "a &lt; b &amp; c &gt; d");
    }
}
