//! Self-contained HTML pages, also as Markdown.

use crate::{Figure, Table, escape::escaped, words};

/// The script that makes charts interactive. The block keeps its names out of the global scope.
const SCRIPT: &str = concat!(
    "\"use strict\";\n{\n",
    include_str!("panel.js"),
    include_str!("space.js"),
    include_str!("page.js"),
    "}\n"
);

/// A part of a page. Texts support only `` `code` ``, `**strong**` and `[links](url)`.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// A heading.
    Heading {
        /// The anchor of the heading.
        id: String,
        /// The text.
        text: String,
        /// The level, from 2 (a chapter) to 4.
        level: u8,
    },
    /// Text. An empty line begins a new paragraph.
    Text(String),
    /// A highlighted warning.
    Warning(String),
    /// A judgement of the results.
    Judgement {
        /// How good it is.
        tone: Tone,
        /// The judgement.
        title: String,
        /// The reasons for it.
        points: Vec<String>,
    },
    /// A table.
    Table(Table),
    /// Tables that are side by side on wide screens.
    SideBySide(Vec<Table>),
    /// A figure.
    Figure(Figure),
    /// Collapsible plain text.
    Details {
        /// The visible summary.
        summary: String,
        /// The text, verbatim.
        text: String,
    },
}

/// How good a judgement is, shown by its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// No problems.
    Good,
    /// Correct as far as known, with an open question.
    Partial,
    /// There are problems.
    Doubtful,
    /// The result is wrong.
    Bad,
}

/// A page.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// Its title.
    pub title: String,
    /// A line below the title.
    pub lead: String,
    /// Its parts.
    pub blocks: Vec<Block>,
    /// A line at the end of the page.
    pub footer: String,
    /// Does the page begin with a table of contents?
    pub contents: bool,
}

impl Page {
    /// The page as one HTML file, including styles and script.
    pub fn html(&self) -> String {
        let mut body = format!("<h1>{}</h1>\n", escaped(&self.title));
        if !self.lead.is_empty() {
            body += &format!("<p class=\"lead\">{}</p>\n", words::html(&self.lead));
        }
        if self.contents {
            body += &self.contents();
        }
        body.extend(self.blocks.iter().map(Block::html));
        if !self.footer.is_empty() {
            body += &format!("<footer>{}</footer>\n", words::html(&self.footer));
        }
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta \
             name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" \
             href=\"data:,\">\n<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n\
             {body}</main>\n<script>\n{}</script>\n</body>\n</html>\n",
            escaped(&self.title),
            include_str!("page.css"),
            SCRIPT,
        )
    }

    fn contents(&self) -> String {
        let mut html = String::from("<nav class=\"contents\" aria-label=\"Contents\"><ul>\n");
        for block in &self.blocks {
            if let Block::Heading { id, text, level } = block {
                html += &format!(
                    "<li class=\"level-{}\"><a href=\"#{}\">{}</a></li>\n",
                    level.clamp(&2, &4),
                    escaped(id),
                    escaped(text)
                );
            }
        }
        html + "</ul></nav>\n"
    }

    /// The page in Markdown, with figures at the paths that `figure_path` returns.
    pub fn markdown(&self, figure_path: &dyn Fn(&Figure) -> String) -> String {
        let mut parts = vec![format!("# {}", self.title)];
        parts.extend((!self.lead.is_empty()).then(|| self.lead.clone()));
        parts.extend(self.blocks.iter().map(|block| block.markdown(figure_path)));
        parts.extend((!self.footer.is_empty()).then(|| self.footer.clone()));
        let trimmed: Vec<&str> = parts.iter().map(|part| part.trim_end()).collect();
        trimmed.join("\n\n") + "\n"
    }
}

impl Block {
    fn html(&self) -> String {
        match self {
            Self::Heading { id, text, level } => {
                let level = level.clamp(&2, &4);
                format!("<h{level} id=\"{}\">{}</h{level}>\n", escaped(id), words::html(text))
            }
            Self::Text(text) => {
                let paragraphs = text.split("\n\n").map(str::trim).filter(|text| !text.is_empty());
                paragraphs.map(|text| format!("<p>{}</p>\n", words::html(text))).collect()
            }
            Self::Warning(text) => {
                format!("<p class=\"warning\" role=\"note\">{}</p>\n", words::html(text))
            }
            Self::Judgement { tone, title, points } => {
                let class = match tone {
                    Tone::Good => "good",
                    Tone::Partial => "partial",
                    Tone::Doubtful => "doubtful",
                    Tone::Bad => "bad",
                };
                let items: String = points
                    .iter()
                    .map(|point| format!("<li>{}</li>\n", words::html(point)))
                    .collect();
                let list = if items.is_empty() { items } else { format!("<ul>\n{items}</ul>\n") };
                let title = words::html(title);
                format!(
                    "<div class=\"judgement {class}\" role=\"note\">\n<p><strong>{title}</strong>\
                     </p>\n{list}</div>\n"
                )
            }
            Self::Table(table) => table.html(),
            Self::SideBySide(tables) => {
                let tables: String = tables.iter().map(Table::html).collect();
                format!("<div class=\"beside\">\n{tables}</div>\n")
            }
            Self::Figure(figure) => figure.html(),
            Self::Details { summary, text } => format!(
                "<details><summary>{}</summary><pre tabindex=\"0\">{}</pre></details>\n",
                escaped(summary),
                escaped(text)
            ),
        }
    }

    fn markdown(&self, figure_path: &dyn Fn(&Figure) -> String) -> String {
        match self {
            Self::Heading { text, level, .. } => {
                format!("{} {text}", "#".repeat(usize::from(*level.clamp(&2, &4))))
            }
            Self::Text(text) => text.trim().to_owned(),
            Self::Warning(text) => format!("> **Warning:** {}", text.replace('\n', "\n> ")),
            Self::Judgement { title, points, .. } => {
                let points = points.iter().map(|point| format!("\n> - {point}"));
                format!("> **{title}**\n>{}", points.collect::<String>())
            }
            Self::Table(table) => table.markdown(),
            Self::SideBySide(tables) => {
                tables.iter().map(Table::markdown).collect::<Vec<_>>().join("\n")
            }
            Self::Figure(figure) => {
                let alt = figure.caption.replace(['[', ']', '\n'], " ");
                format!("![{alt}]({})\n\n*{}*", figure_path(figure), figure.caption)
            }
            Self::Details { summary, text } => format!(
                "<details><summary>{}</summary>\n\n<pre>{}</pre>\n\n</details>",
                escaped(summary),
                escaped(text)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> Page {
        Page {
            title: "A <page>".into(),
            lead: "of `code`".into(),
            blocks: vec![
                Block::Heading { id: "one".into(), text: "One & two".into(), level: 9 },
                Block::Text("first\n\nsecond".into()),
                Block::Warning("**careful** </p>".into()),
                Block::Judgement {
                    tone: Tone::Bad,
                    title: "Wrong".into(),
                    points: vec!["a < b".into(), "**try:** c".into()],
                },
                Block::Details { summary: "more".into(), text: "</pre><script>".into() },
                Block::Figure(Figure::grid("f", "cap [1]", 1, Vec::new())),
            ],
            footer: "the end".into(),
            contents: true,
        }
    }

    #[test]
    fn everything_is_escaped() {
        let html = page().html();
        assert!(html.contains("<title>A &lt;page&gt;</title>"));
        assert!(html.contains("<h4 id=\"one\">One &amp; two</h4>"));
        assert!(html.contains("<a href=\"#one\">One &amp; two</a>"));
        assert!(html.contains("<p>first</p>\n<p>second</p>"));
        assert!(html.contains("<div class=\"judgement bad\" role=\"note\">"));
        assert!(html.contains("<li>a &lt; b</li>\n<li><strong>try:</strong> c</li>"));
        assert_eq!(html.matches("<script>").count(), 1, "the page's own");
    }

    #[test]
    fn markdown_has_every_part() {
        let text = page().markdown(&|figure| format!("figures/{}.svg", figure.name));
        let expected = "# A <page>\n\nof `code`\n\n#### One & two\n\nfirst\n\nsecond\n\n\
                        > **Warning:** **careful** </p>\n\n> **Wrong**\n>\n> - a < b\n> - **try:** c\n\n<details><summary>more</summary>\n\n\
                        <pre>&lt;/pre&gt;&lt;script&gt;</pre>\n\n</details>\n\n\
                        ![cap  1 ](figures/f.svg)\n\n*cap [1]*\n\nthe end\n";
        assert_eq!(text, expected);
    }
}
