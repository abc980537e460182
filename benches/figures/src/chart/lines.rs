//! Curves: one value over another, several series.

use super::axis::{Axis, Laid, number};
use super::svg::{Anchor, Drawing, LETTER};

const HEIGHT: f64 = 400.0;
const LEFT: f64 = 76.0;
/// Where the plot ends and the legend begins.
const RIGHT: f64 = 560.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 52.0;
/// Between the lines of the legend.
const LEADING: f64 = 20.0;
/// Room for a series' line and mark in the legend.
const KEY: f64 = 32.0;

/// One curve.
#[derive(Clone, Debug)]
pub struct Series {
    /// The name in the legend.
    pub name: String,
    /// By rising x.
    pub points: Vec<(f64, f64)>,
    /// Whether the curve is a bound or another's figures, and not a measurement of ours.
    pub dashed: bool,
}

impl Series {
    /// A measured curve.
    #[must_use]
    pub fn measured(name: &str, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.to_owned(), points, dashed: false }
    }

    /// A curve for comparison: a bound, or a paper's figures.
    #[must_use]
    pub fn reference(name: &str, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.to_owned(), points, dashed: true }
    }
}

/// Curves over common axes.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The title of the plot.
    pub title: String,
    /// Left to right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// In the order of the legend.
    pub series: Vec<Series>,
}

impl Chart {
    /// The drawing, an SVG document.
    ///
    /// # Panics
    ///
    /// If there is no point, or a coordinate on a logarithmic axis is not positive.
    #[must_use]
    pub fn draw(&self) -> String {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let x = Laid::new(self.x.scale, points().map(|point| point.0));
        let y = Laid::new(self.y.scale, points().map(|point| point.1));
        let at = |(right, up): (f64, f64)| {
            let height = HEIGHT - TOP - BOTTOM;
            (LEFT + x.place(right) * (RIGHT - LEFT), HEIGHT - BOTTOM - y.place(up) * height)
        };
        let longest = self.series.iter().map(|series| series.name.chars().count()).max();
        let width = RIGHT + KEY + 24.0 + longest.unwrap_or(0) as f64 * LETTER;
        let mut drawing = Drawing::new(width, HEIGHT, &self.title);
        self.frame(&mut drawing, &x, &y);
        for (index, series) in self.series.iter().enumerate() {
            let places: Vec<_> = series.points.iter().copied().map(at).collect();
            drawing.path(&places, index, series.dashed);
            for place in places {
                drawing.mark(place, index);
            }
            self.legend(&mut drawing, index);
        }
        drawing.finish()
    }

    fn frame(&self, drawing: &mut Drawing, x: &Laid, y: &Laid) {
        let bottom = HEIGHT - BOTTOM;
        for mark in x.marks() {
            let place = LEFT + x.place(mark) * (RIGHT - LEFT);
            drawing.line((place, TOP), (place, bottom), 0.18);
            drawing.label((place, bottom + 18.0), Anchor::Middle, &number(mark));
        }
        for mark in y.marks() {
            let place = bottom - y.place(mark) * (bottom - TOP);
            drawing.line((LEFT, place), (RIGHT, place), 0.18);
            drawing.label((LEFT - 8.0, place + 4.0), Anchor::End, &number(mark));
        }
        drawing.line((LEFT, TOP), (LEFT, bottom), 0.8);
        drawing.line((LEFT, bottom), (RIGHT, bottom), 0.8);
        let middle = LEFT + (RIGHT - LEFT) / 2.0;
        drawing.label((middle, HEIGHT - 14.0), Anchor::Middle, &self.x.label);
        drawing.upright((18.0, TOP + (bottom - TOP) / 2.0), &self.y.label);
    }

    fn legend(&self, drawing: &mut Drawing, index: usize) {
        let series = &self.series[index];
        let (x, y) = (RIGHT + 16.0, TOP + 8.0 + index as f64 * LEADING);
        drawing.path(&[(x, y), (x + 24.0, y)], index, series.dashed);
        drawing.mark((x + 12.0, y), index);
        drawing.label((x + KEY, y + 4.0), Anchor::Start, &series.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_drawn_and_every_series_named() {
        let chart = Chart {
            title: String::from("cost & <size>"),
            x: Axis::log("size"),
            y: Axis::linear("cost"),
            series: vec![
                Series::measured("ours", vec![(1.0, 2.0), (10.0, 3.0), (100.0, 5.0)]),
                Series::reference("bound", vec![(1.0, 1.0), (100.0, 1.0)]),
            ],
        };
        let text = chart.draw();
        assert_eq!(text.matches("<circle").count(), 3 + 1);
        assert!(text.contains(">ours</text>") && text.contains(">bound</text>"));
        assert!(text.contains("cost &amp; &lt;size&gt;"));
        assert_eq!(text.matches("stroke-dasharray").count(), 2);
    }
}
