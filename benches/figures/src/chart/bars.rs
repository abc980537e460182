//! Horizontal bars: groups of them below each other, with the value at the end of each bar.

use super::axis::{Axis, Laid, number};
use super::svg::{Anchor, Drawing, LETTER};

const WIDTH: f64 = 760.0;
const RIGHT: f64 = 80.0;
const TOP: f64 = 66.0;
const BOTTOM: f64 = 48.0;
const BAR: f64 = 15.0;
const GAP: f64 = 12.0;

/// Figures by group, for each of some series.
#[derive(Clone, Debug)]
pub struct Bars {
    /// The title of the plot.
    pub title: String,
    /// Left to right.
    pub axis: Axis,
    /// From the top.
    pub groups: Vec<String>,
    /// Name, and a value for each group; `None` where there is none.
    pub series: Vec<(String, Vec<Option<f64>>)>,
}

impl Bars {
    /// The drawing, an SVG document.
    ///
    /// # Panics
    ///
    /// If there is no value, or a value on a logarithmic axis is not positive.
    #[must_use]
    pub fn draw(&self) -> String {
        let values = self.series.iter().flat_map(|(_, values)| values.iter().flatten().copied());
        let axis = Laid::new(self.axis.scale, values);
        let longest = self.groups.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let left = 24.0 + longest as f64 * LETTER;
        let group = self.series.len() as f64 * BAR + GAP;
        let bottom = TOP + self.groups.len() as f64 * group;
        let mut drawing = Drawing::new(WIDTH, bottom + BOTTOM, &self.title);
        let span = WIDTH - RIGHT - left;
        for mark in axis.marks() {
            let x = left + axis.place(mark) * span;
            drawing.line((x, TOP - 6.0), (x, bottom), 0.18);
            drawing.label((x, bottom + 16.0), Anchor::Middle, &number(mark));
        }
        drawing.line((left, TOP - 6.0), (left, bottom), 0.8);
        drawing.label((left + span / 2.0, bottom + 36.0), Anchor::Middle, &self.axis.label);
        for (row, name) in self.groups.iter().enumerate() {
            let top = TOP + row as f64 * group;
            let middle = top + (group - GAP) / 2.0;
            drawing.label((left - 8.0, middle + 4.0), Anchor::End, name);
            for (index, (_, values)) in self.series.iter().enumerate() {
                let Some(value) = values[row] else { continue };
                let y = top + index as f64 * BAR;
                let width = axis.place(value).max(0.0) * span;
                drawing.bar((left, y), (width, BAR - 2.0), index);
                drawing.label((left + width + 5.0, y + 10.5), Anchor::Start, &number(value));
            }
        }
        self.legend(&mut drawing);
        drawing.finish()
    }

    fn legend(&self, drawing: &mut Drawing) {
        let mut x = 16.0;
        for (index, (name, _)) in self.series.iter().enumerate() {
            drawing.bar((x, 34.0), (12.0, 12.0), index);
            drawing.label((x + 18.0, 44.0), Anchor::Start, name);
            x += 36.0 + name.chars().count() as f64 * LETTER;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_for_each_value_and_none_where_there_is_none() {
        let bars = Bars {
            title: String::from("rates"),
            axis: Axis::linear("tasks/s"),
            groups: vec![String::from("base"), String::from("queues")],
            series: vec![
                (String::from("ours"), vec![Some(1.0), Some(2.0)]),
                (String::from("paper"), vec![Some(0.5), None]),
            ],
        };
        // Three bars and two keys of the legend.
        assert_eq!(bars.draw().matches("<rect").count(), 3 + 2);
    }
}
