//! A subset of Markdown: only `` `code` ``, `**strong**` and `[links](url)`.

use crate::escape::escaped;

/// The text as HTML.
pub(crate) fn html(text: &str) -> String {
    let mut html = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['`', '*', '[']) {
        let (plain, marked) = rest.split_at(at);
        html += &escaped(plain);
        rest = match code(marked).or_else(|| strong(marked)).or_else(|| link(marked)) {
            Some((found, after)) => {
                html += &found;
                after
            }
            None => {
                html += &escaped(&marked[..1]);
                &marked[1..]
            }
        };
    }
    html + &escaped(rest)
}

fn code(text: &str) -> Option<(String, &str)> {
    let (inside, after) = text.strip_prefix('`')?.split_once('`')?;
    (!inside.is_empty()).then(|| (format!("<code>{}</code>", escaped(inside)), after))
}

fn strong(text: &str) -> Option<(String, &str)> {
    let (inside, after) = text.strip_prefix("**")?.split_once("**")?;
    (!inside.is_empty()).then(|| (format!("<strong>{}</strong>", html(inside)), after))
}

fn link(text: &str) -> Option<(String, &str)> {
    let (words, after) = text.strip_prefix('[')?.split_once("](")?;
    let (url, after) = after.split_once(')')?;
    let is_one = !words.is_empty() && !words.contains('[') && !words.contains(']');
    (is_one && is_harmless(url))
        .then(|| (format!("<a href=\"{}\">{}</a>", escaped(url), escaped(words)), after))
}

/// Allows web pages, mail, and relative links, but no scripts.
fn is_harmless(url: &str) -> bool {
    let plain = !url.is_empty() && url.chars().all(|c| !c.is_whitespace() && !c.is_control());
    let head = url.split(['/', '?', '#']).next().unwrap_or_default();
    let scheme = head.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    plain && scheme.is_none_or(|scheme| ["http", "https", "mailto"].contains(&scheme.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_kinds_of_markup_are_known() {
        assert_eq!(html("a `b<` **c** d"), "a <code>b&lt;</code> <strong>c</strong> d");
        assert_eq!(html("[x](https://a.b/c?d=1&e)"), "<a href=\"https://a.b/c?d=1&amp;e\">x</a>");
        assert_eq!(html("see [it](#there)."), "see <a href=\"#there\">it</a>.");
        assert_eq!(html("**[x](a.md)**"), "<strong><a href=\"a.md\">x</a></strong>");
    }

    #[test]
    fn everything_else_is_text() {
        for text in ["2 * 3 ** 4", "`", "``", "[a", "[a](b", "[](x)", "****", "_a_ # b ü"] {
            assert_eq!(html(text), escaped(text), "{text}");
        }
        assert_eq!(html("<img src=x>"), "&lt;img src=x&gt;");
    }

    #[test]
    fn links_run_nothing() {
        for url in
            ["javascript:alert(1", "JaVaScript:x", " javascript:x", "data:text/html,x", "a b", ""]
        {
            let text = format!("[x]({url})");
            assert_eq!(html(&text), escaped(&text), "{text}");
        }
        let quoted = html("[x](\"onclick=\"y)");
        assert!(!quoted.contains("\"onclick"), "{quoted}");
    }
}
