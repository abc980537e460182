//! [`Table`]: a line for each kernel, and what all of them come to.

/// Searches of each kernel by each strategy.
pub const SEARCHES: u64 = 9;

/// The length of a search that finds nothing.
const NEVER: u64 = 1000;

/// A table of the seeds that strategies need, which is printed as it grows.
#[derive(Debug)]
pub struct Table {
    columns: usize,
    /// By kernel, the median of each column's searches.
    rows: Vec<Vec<f64>>,
    left_out: Vec<String>,
}

impl Table {
    /// Prints the head.
    #[must_use]
    pub fn new(columns: &[&str]) -> Self {
        println!("| kernel | {} |", columns.join(" | "));
        println!("|---|{}", "---|".repeat(columns.len()));
        Self { columns: columns.len(), rows: Vec::new(), left_out: Vec::new() }
    }

    /// Adds a kernel: by column, the seeds of each search.
    ///
    /// # Panics
    ///
    /// If there are no searches.
    pub fn add(&mut self, family: &str, kernel: &str, searches: &[Vec<Option<u64>>]) {
        let of_column = |seeds: &Vec<Option<u64>>| {
            median(&seeds.iter().map(|seeds| seeds.unwrap_or(NEVER) as f64).collect::<Vec<_>>())
        };
        let row: Vec<f64> = searches.iter().map(of_column).collect();
        assert_eq!(row.len(), self.columns);
        println!("| {family}: {kernel} | {} |", cells(&row));
        self.rows.push(row);
    }

    /// Names a kernel that the other simulator cannot run.
    pub fn leave_out(&mut self, kernel: &str) {
        self.left_out.push(kernel.to_owned());
    }

    /// Prints what all kernels come to.
    pub fn end(self) {
        let kernels = self.rows.len();
        println!("| median of {kernels} | {} |", cells(&self.by_column(median)));
        println!("| geometric mean | {} |", cells(&self.by_column(geometric_mean)));
        println!("| found, of {kernels} | {} |", cells(&self.by_column(found)));
        if !self.left_out.is_empty() {
            println!("\nLeft out, because the twin fails there: {}.", self.left_out.join(", "));
        }
    }

    fn by_column(&self, of: impl Fn(&[f64]) -> f64) -> Vec<f64> {
        let column = |column: usize| self.rows.iter().map(|row| row[column]).collect::<Vec<_>>();
        (0..self.columns).map(|number| of(&column(number))).collect()
    }
}

fn median(of: &[f64]) -> f64 {
    let mut of = of.to_vec();
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}

fn geometric_mean(of: &[f64]) -> f64 {
    (of.iter().map(|one| one.ln()).sum::<f64>() / of.len() as f64).exp()
}

/// Of how many kernels the median search finds the bug.
fn found(of: &[f64]) -> f64 {
    of.iter().filter(|seeds| **seeds < NEVER as f64).count() as f64
}

fn cells(of: &[f64]) -> String {
    of.iter().map(|one| ((one * 10.0).round() / 10.0).to_string()).collect::<Vec<_>>().join(" | ")
}
