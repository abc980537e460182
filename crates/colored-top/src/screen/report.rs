//! The verdict, the warnings, and the page with the whole report.

use crate::model::{Finding, Snapshot};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget, Wrap};

pub(super) const WRAP: Wrap = Wrap { trim: false };

/// One sentence: what limits the program.
pub(super) fn verdict(snapshot: &Snapshot) -> Line<'static> {
    let Some(report) = &snapshot.report else {
        return Line::raw("the report comes with the second snapshot");
    };
    let name = match &report.fault {
        Some(fault) => Span::styled(format!("{fault}: "), Style::new().red().bold()),
        None => Span::styled("none: ", Style::new().green().bold()),
    };
    Line::from(vec![name, Span::raw(report.sentence.clone())])
}

/// A line for each fault, with the remedy.
pub(super) fn warnings(snapshot: &Snapshot) -> Vec<Line<'static>> {
    let findings = snapshot.report.iter().flat_map(|report| &report.findings);
    let mut lines = Vec::new();
    for (place, finding) in findings.enumerate() {
        // The sentence of the first one is the verdict.
        if place > 0 {
            lines.push(title(finding));
        }
        lines.push(remedy(finding));
    }
    lines
}

/// The report with its evidence.
pub(super) fn draw_all(snapshot: &Snapshot, area: Rect, buffer: &mut Buffer) {
    let Some(report) = &snapshot.report else {
        return verdict(snapshot).render(area, buffer);
    };
    let mut lines = Vec::new();
    if report.findings.is_empty() {
        lines.push(verdict(snapshot));
    }
    for finding in &report.findings {
        lines.push(title(finding));
        lines.extend(finding.evidence.iter().map(|text| Line::raw(format!("  {text}"))));
        lines.push(remedy(finding));
        lines.push(Line::raw(""));
    }
    lines.push(Line::raw(format!("of the last {:.1} s", report.length)).dim());
    Paragraph::new(lines).wrap(WRAP).render(area, buffer);
}

fn title(finding: &Finding) -> Line<'static> {
    Line::from(vec![
        Span::styled(format!("{}: ", finding.fault), Style::new().red().bold()),
        Span::raw(finding.sentence.clone()),
    ])
}

fn remedy(finding: &Finding) -> Line<'static> {
    Line::raw(format!("  to mend it: {}", finding.remedy))
}
