//! From values to places on a line, and which values are marked.

/// How values are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly, from zero.
    Linear,
    /// By magnitude. Values must be positive.
    Log,
}

/// One axis of a plot.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The measured quantity, with its unit.
    pub label: String,
    /// How values are laid out.
    pub scale: Scale,
}

impl Axis {
    /// An even axis from zero.
    #[must_use]
    pub fn linear(label: &str) -> Self {
        Self { label: label.to_owned(), scale: Scale::Linear }
    }

    /// An axis by magnitude.
    #[must_use]
    pub fn log(label: &str) -> Self {
        Self { label: label.to_owned(), scale: Scale::Log }
    }
}

/// An axis that knows its values: where each is, and which are marked.
pub(super) struct Laid {
    scale: Scale,
    low: f64,
    high: f64,
}

impl Laid {
    /// Wide enough for all `values`, and no wider than a mark more.
    pub(super) fn new(scale: Scale, values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        match scale {
            Scale::Linear => {
                let high = if high > 0.0 { high } else { 1.0 };
                let step = step(high);
                Self { scale, low: 0.0, high: (high / step - 1e-9).ceil() * step }
            }
            Scale::Log => {
                assert!(low > 0.0 && high.is_finite(), "{low} to {high} on a logarithmic axis");
                let (low, high) = (mark_below(low), mark_above(high));
                Self { scale, low, high: if high > low { high } else { low * 10.0 } }
            }
        }
    }

    /// The place of a value, from 0.0 at the low end to 1.0 at the high end.
    pub(super) fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => (value / self.low).ln() / (self.high / self.low).ln(),
        }
    }

    /// The values that are marked.
    pub(super) fn marks(&self) -> Vec<f64> {
        if self.scale == Scale::Linear {
            let step = step(self.high);
            let count = (self.high / step).round() as usize;
            return (0..=count).map(|index| index as f64 * step).collect();
        }
        let decades = (self.high / self.low).log10();
        let digits: &[f64] = if decades > 3.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let first = self.low.log10().floor() as i32;
        let last = self.high.log10().ceil() as i32;
        let all = (first..=last)
            .flat_map(|power| digits.iter().map(move |digit| digit * 10_f64.powi(power)));
        let (low, high) = (self.low * 0.999, self.high * 1.001);
        all.filter(|value| (low..=high).contains(value)).collect()
    }
}

/// 1, 2 or 5 times a power of ten, such that `high` has four to ten of it.
fn step(high: f64) -> f64 {
    let rough = high / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    let digit = rough / power;
    let nice = if digit > 5.0 {
        10.0
    } else if digit > 2.0 {
        5.0
    } else if digit > 1.0 {
        2.0
    } else {
        1.0
    };
    nice * power
}

fn mark_below(value: f64) -> f64 {
    let power = 10_f64.powf((value.log10() + 1e-9).floor());
    let digit = value / power;
    let below = [5.0, 2.0].into_iter().find(|mark| digit >= mark * (1.0 - 1e-9));
    below.unwrap_or(1.0) * power
}

fn mark_above(value: f64) -> f64 {
    let power = 10_f64.powf((value.log10() + 1e-9).floor());
    let digit = value / power;
    let above = [1.0, 2.0, 5.0].into_iter().find(|mark| digit <= mark * (1.0 + 1e-9));
    above.unwrap_or(10.0) * power
}

/// A number in a readable form: three significant digits, separated thousands, `M` for millions.
#[must_use]
pub fn number(value: f64) -> String {
    let size = value.abs();
    if size >= 999_950.0 {
        return format!("{} M", trimmed(format!("{:.2}", value / 1e6)));
    }
    if size >= 999.5 {
        let whole = format!("{value:.0}");
        let (head, tail) = whole.split_at(whole.len() - 3);
        return format!("{head},{tail}");
    }
    let decimals = match size {
        size if size >= 99.95 || size == 0.0 => 0,
        size if size >= 9.995 => 1,
        size if size >= 0.9995 => 2,
        size => (2.0 - size.log10().floor()).min(9.0) as usize,
    };
    trimmed(format!("{value:.decimals$}"))
}

/// Removes the zeros at the end of a fraction.
fn trimmed(text: String) -> String {
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_that_count() {
        let texts = [0.0, 0.0012, 0.25, 1.0, 2.136, 26.7, 400.0, 61_420.0, 3_050_000.0];
        let expected = ["0", "0.0012", "0.25", "1", "2.14", "26.7", "400", "61,420", "3.05 M"];
        assert_eq!(texts.map(number), expected);
        assert_eq!(number(999.7), "1,000");
    }

    #[test]
    fn a_logarithmic_axis_ends_at_marks() {
        let axis = Laid::new(Scale::Log, [0.23, 26.7].into_iter());
        let (low, high) = (axis.marks()[0], *axis.marks().last().expect("it has marks"));
        assert!((low - 0.2).abs() < 1e-9 && (high - 50.0).abs() < 1e-9, "{low} {high}");
        assert!(axis.place(low).abs() < 1e-9 && (axis.place(high) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn an_even_axis_begins_at_zero() {
        let axis = Laid::new(Scale::Linear, [3.0, 9.0].into_iter());
        assert_eq!(axis.marks(), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(axis.place(5.0), 0.5);
    }
}
