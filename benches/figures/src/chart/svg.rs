//! The document: its style, its text, its shapes.

use std::fmt::Write;

/// Middle tones: at least 3:1 against white and against near-black.
const COLORS: [&str; 8] =
    ["#2f81f7", "#d9730d", "#2da44e", "#a371f7", "#e5534b", "#8b949e", "#1b9aaa", "#b08800"];
/// Text and axes.
const INK: &str = "#76808b";

/// About the width of a letter.
pub(super) const LETTER: f64 = 7.0;

/// Where a text is anchored.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// An unfinished drawing.
pub(super) struct Drawing {
    text: String,
}

impl Drawing {
    pub(super) fn new(width: f64, height: f64, title: &str) -> Self {
        let mut drawing = Self { text: String::new() };
        drawing.add(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\" font-family=\"system-ui,\
             -apple-system,Segoe UI,Helvetica,Arial,sans-serif\" font-size=\"12\" fill=\"{INK}\">",
        ));
        drawing.add(format_args!("<title>{}</title>", escaped(title)));
        drawing.add(format_args!(
            "<text x=\"16\" y=\"22\" font-size=\"15\" font-weight=\"600\">{}</text>",
            escaped(title)
        ));
        drawing
    }

    /// The finished document.
    pub(super) fn finish(mut self) -> String {
        self.add(format_args!("</svg>"));
        self.text
    }

    pub(super) fn label(&mut self, (x, y): (f64, f64), anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escaped(text);
        self.add(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>"
        ));
    }

    /// A text that reads upwards, centred on the point.
    pub(super) fn upright(&mut self, (x, y): (f64, f64), text: &str) {
        let text = escaped(text);
        self.add(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" \
             transform=\"rotate(-90 {x:.1} {y:.1})\">{text}</text>"
        ));
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), opacity: f64) {
        self.add(format_args!(
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{INK}\" \
             stroke-opacity=\"{opacity}\"/>",
            from.0, from.1, to.0, to.1
        ));
    }

    pub(super) fn path(&mut self, points: &[(f64, f64)], series: usize, dashed: bool) {
        let mut path = String::new();
        for (index, (x, y)) in points.iter().enumerate() {
            let command = if index == 0 { 'M' } else { 'L' };
            // Writing to a string does not fail.
            let _ = write!(path, "{command}{x:.1} {y:.1}");
        }
        let dashes = if dashed { " stroke-dasharray=\"6 4\"" } else { "" };
        self.add(format_args!(
            "<path d=\"{path}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"{dashes}/>",
            color(series)
        ));
    }

    /// The mark of a series.
    pub(super) fn mark(&mut self, (x, y): (f64, f64), series: usize) {
        let color = color(series);
        let shape = match series % 4 {
            0 => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{color}\"/>"),
            1 => format!(
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"7\" height=\"7\" fill=\"{color}\"/>",
                x - 3.5,
                y - 3.5
            ),
            2 => polygon(&[(x, y - 5.0), (x + 4.5, y + 3.5), (x - 4.5, y + 3.5)], color),
            _ => polygon(&[(x, y - 5.0), (x + 5.0, y), (x, y + 5.0), (x - 5.0, y)], color),
        };
        self.add(format_args!("{shape}"));
    }

    pub(super) fn bar(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), series: usize) {
        self.add(format_args!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"1.5\" \
             fill=\"{}\"/>",
            color(series)
        ));
    }

    fn add(&mut self, shape: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "{shape}");
    }
}

fn color(series: usize) -> &'static str {
    COLORS[series % COLORS.len()]
}

fn polygon(points: &[(f64, f64)], color: &str) -> String {
    let points: Vec<_> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    format!("<polygon points=\"{}\" fill=\"{color}\"/>", points.join(" "))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
