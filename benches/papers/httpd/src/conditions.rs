//! Conditional requests (RFC 9110, section 13).

use hyper::HeaderMap;
use hyper::header::{
    AsHeaderName, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE,
};
use std::time::{Duration, SystemTime};

/// The values that tell one version of a file from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Validators {
    /// With its quotes.
    pub(crate) etag: String,
    /// In whole seconds, as HTTP has them. `None` for a time that HTTP cannot name.
    pub(crate) modified: Option<SystemTime>,
}

/// The first second of the year 10000: the format of HTTP has four digits.
const END_OF_HTTP: Duration = Duration::from_secs(253_402_300_800);

impl Validators {
    pub(crate) fn new(len: u64, modified: SystemTime) -> Validators {
        let since = modified.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let etag = format!("\"{:x}-{len:x}\"", since.as_nanos());
        let whole = Duration::from_secs(since.as_secs());
        let has_name = modified >= SystemTime::UNIX_EPOCH && whole < END_OF_HTTP;
        Validators { etag, modified: has_name.then(|| SystemTime::UNIX_EPOCH + whole) }
    }
}

/// Whether to answer a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Answer,
    /// 304: the client has this version.
    NotModified,
    /// 412: the client wants another version.
    Failed,
}

/// Decides a `GET` or `HEAD` of a file that exists. A header with a tag counts before one with a time.
pub(crate) fn verdict(headers: &HeaderMap, file: &Validators) -> Verdict {
    let is_met = match lists(headers, IF_MATCH, |tag| tag == file.etag) {
        Some(is_met) => is_met,
        None => date(headers, IF_UNMODIFIED_SINCE)
            .zip(file.modified)
            .is_none_or(|(date, modified)| modified <= date),
    };
    if !is_met {
        return Verdict::Failed;
    }
    // The weak comparison: a proxy that changes the bytes marks a tag as weak.
    let strong = |tag: &str| tag.strip_prefix("W/").unwrap_or(tag) == file.etag;
    let has_it = match lists(headers, IF_NONE_MATCH, strong) {
        Some(has_it) => has_it,
        None => date(headers, IF_MODIFIED_SINCE)
            .zip(file.modified)
            .is_some_and(|(date, modified)| modified <= date),
    };
    if has_it { Verdict::NotModified } else { Verdict::Answer }
}

/// Whether a `Range` header counts: not if `If-Range` names another version.
pub(crate) fn range_counts(headers: &HeaderMap, file: &Validators) -> bool {
    let Some(value) = headers.get(IF_RANGE) else { return true };
    let Ok(value) = value.to_str() else { return false };
    match httpdate::parse_http_date(value) {
        Ok(date) => file.modified == Some(date),
        Err(_) => value.trim() == file.etag,
    }
}

/// Whether one of the tags in a header `is` it, or `*` stands there; `None` without the header.
fn lists(headers: &HeaderMap, name: impl AsHeaderName, is: impl Fn(&str) -> bool) -> Option<bool> {
    let mut values = headers.get_all(name).iter().peekable();
    values.peek()?;
    Some(values.filter_map(|value| value.to_str().ok()).any(|value| {
        // Our tags have no comma in them.
        value.split(',').map(str::trim).any(|tag| tag == "*" || is(tag))
    }))
}

fn date(headers: &HeaderMap, name: impl AsHeaderName) -> Option<SystemTime> {
    httpdate::parse_http_date(headers.get(name)?.to_str().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::{HeaderName, HeaderValue};

    const OLDER: &str = "Sun, 06 Nov 1994 08:49:36 GMT";
    const SAME: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    const TAG: &str = "\"abc-10\"";

    fn file() -> Validators {
        let modified = httpdate::parse_http_date(SAME).ok();
        Validators { etag: TAG.into(), modified }
    }

    fn headers(rows: &[(HeaderName, &str)]) -> HeaderMap {
        let row = |(name, value): &(HeaderName, &str)| {
            (name.clone(), HeaderValue::from_str(value).unwrap())
        };
        rows.iter().map(row).collect()
    }

    #[test]
    fn the_rules_of_rfc_9110() {
        use Verdict::{Answer, Failed, NotModified};
        let rows: &[(&[(HeaderName, &str)], Verdict)] = &[
            (&[], Answer),
            (&[(IF_NONE_MATCH, TAG)], NotModified),
            (&[(IF_NONE_MATCH, "W/\"abc-10\"")], NotModified),
            (&[(IF_NONE_MATCH, "\"x\", \"abc-10\"")], NotModified),
            (&[(IF_NONE_MATCH, "*")], NotModified),
            (&[(IF_NONE_MATCH, "\"x\"")], Answer),
            (&[(IF_MODIFIED_SINCE, SAME)], NotModified),
            (&[(IF_MODIFIED_SINCE, OLDER)], Answer),
            (&[(IF_MODIFIED_SINCE, "yesterday")], Answer),
            // The tag counts, not the time.
            (&[(IF_NONE_MATCH, "\"x\""), (IF_MODIFIED_SINCE, SAME)], Answer),
            (&[(IF_MATCH, TAG)], Answer),
            (&[(IF_MATCH, "*")], Answer),
            (&[(IF_MATCH, "W/\"abc-10\"")], Failed),
            (&[(IF_MATCH, "\"x\"")], Failed),
            (&[(IF_UNMODIFIED_SINCE, SAME)], Answer),
            (&[(IF_UNMODIFIED_SINCE, OLDER)], Failed),
            (&[(IF_MATCH, TAG), (IF_UNMODIFIED_SINCE, OLDER)], Answer),
            (&[(IF_MATCH, "\"x\""), (IF_NONE_MATCH, TAG)], Failed),
        ];
        for (rows, expected) in rows {
            assert_eq!(verdict(&headers(rows), &file()), *expected, "{rows:?}");
        }
    }

    #[test]
    fn a_range_of_another_version_does_not_count() {
        let rows =
            [(TAG, true), ("\"x\"", false), ("W/\"abc-10\"", false), (SAME, true), (OLDER, false)];
        for (value, expected) in rows {
            assert_eq!(range_counts(&headers(&[(IF_RANGE, value)]), &file()), expected, "{value}");
        }
        assert!(range_counts(&HeaderMap::new(), &file()));
    }

    #[test]
    fn times_that_http_cannot_name() {
        let of = |time| Validators::new(1, time).modified;
        assert_eq!(of(SystemTime::UNIX_EPOCH - Duration::from_secs(1)), None);
        assert_eq!(of(SystemTime::UNIX_EPOCH + END_OF_HTTP), None);
        let last = SystemTime::UNIX_EPOCH + END_OF_HTTP - Duration::from_secs(1);
        assert_eq!(of(last), Some(last));
        let _does_not_panic = httpdate::fmt_http_date(last);
        let half = SystemTime::UNIX_EPOCH + Duration::from_millis(1500);
        assert_eq!(of(half), Some(SystemTime::UNIX_EPOCH + Duration::from_secs(1)));
    }
}
