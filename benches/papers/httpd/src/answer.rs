//! [`Site`]: from a request to its answer.

use crate::access::{Absent, Access};
use crate::body::{Body, Piece, Streamed};
use crate::cache::{Cache, Cached};
use crate::conditions::{Verdict, range_counts, verdict};
use crate::entry::{Content, Entry};
use crate::key::Key;
use crate::outbox::Outbox;
use crate::range::Ranged;
use crate::roots::Roots;
use crate::steps;
use crate::target::Target;
use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::header::{
    ACCEPT_RANGES, ALLOW, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderName,
    HeaderValue, LAST_MODIFIED, LOCATION, RANGE,
};
use hyper::{Method, Request, Response, StatusCode};
use std::path::Path;
use std::sync::Arc;

/// Directories, and what is known of the files in them.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) roots: Roots,
    pub(crate) access: Arc<Access>,
    pub(crate) cache: Cache,
}

impl Site {
    /// Answers a request. With an `outbox` the connection sends what is not in the cache from the file.
    pub(crate) async fn answer<B>(
        &self,
        request: Request<B>,
        outbox: Option<&Outbox>,
    ) -> Response<Body> {
        let is_head = request.method() == Method::HEAD;
        if !is_head && request.method() != Method::GET {
            let mut answer =
                text(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD are allowed\n");
            answer.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return answer;
        }
        let target = match Target::parse(request.uri().path()) {
            Ok(target) => target,
            Err(reason) => return text(StatusCode::BAD_REQUEST, reason),
        };
        let Some(mut path) = self.roots.find(&target) else { return not_found() };
        if target.is_directory {
            path.push("index.html");
        }
        let path = Arc::from(path);
        match self.find(&path).await {
            Ok(entry) => self.send(&request, &path, &entry, outbox),
            Err(Absent::Directory) if !target.is_directory => moved(&target),
            Err(Absent::Directory | Absent::NotFound) => not_found(),
            Err(Absent::Forbidden) => text(StatusCode::FORBIDDEN, "the file cannot be read\n"),
            Err(Absent::Failed(error)) => {
                eprintln!("{}: {error}", path.display());
                text(StatusCode::INTERNAL_SERVER_ERROR, "the file cannot be read now\n")
            }
        }
    }

    /// The present version of a file.
    async fn find(&self, path: &Arc<Path>) -> Result<Arc<Entry>, Absent> {
        let key = self.cache.key(path);
        let loading = match self.cache.get(&key).await {
            Cached::Fresh(entry) => return Ok(entry),
            Cached::Stale(entry) => {
                let metadata = self.access.metadata(path).await;
                if metadata.is_ok_and(|metadata| entry.is_of(&metadata)) {
                    self.cache.confirm(&key, &entry);
                    return Ok(entry);
                }
                match self.cache.replace(&key, &entry).await {
                    Ok(newer) => return Ok(newer),
                    Err(loading) => loading,
                }
            }
            Cached::Missing(loading) => loading,
        };
        loading.join(|| self.load(&key)).await
    }

    async fn load(&self, key: &Key) -> Result<Arc<Entry>, Absent> {
        steps::note("read the file");
        let loaded = self.access.load(key.path()).await?;
        let content = match loaded.content {
            Some(bytes) => Content::Bytes(Bytes::from(bytes)),
            None => Content::File(loaded.file),
        };
        Ok(Arc::new(Entry::new(key.path(), &loaded.metadata, content)))
    }

    fn send<B>(
        &self,
        request: &Request<B>,
        path: &Arc<Path>,
        entry: &Arc<Entry>,
        outbox: Option<&Outbox>,
    ) -> Response<Body> {
        let (headers, is_head) = (request.headers(), request.method() == Method::HEAD);
        let mut answer = Response::new(full(Bytes::new()));
        describe(&mut answer, entry);
        match verdict(headers, &entry.validators) {
            Verdict::Answer => {}
            Verdict::NotModified => {
                *answer.status_mut() = StatusCode::NOT_MODIFIED;
                return answer;
            }
            Verdict::Failed => {
                return text(StatusCode::PRECONDITION_FAILED, "the file is another version\n");
            }
        }
        let ranged = match headers.get(RANGE).and_then(|range| range.to_str().ok()) {
            // RFC 9110 defines ranges for GET only.
            Some(range) if !is_head && range_counts(headers, &entry.validators) => {
                Ranged::parse(range, entry.len)
            }
            _ => Ranged::Whole,
        };
        let part = match ranged {
            Ranged::Whole => 0..entry.len,
            Ranged::Part(part) => {
                *answer.status_mut() = StatusCode::PARTIAL_CONTENT;
                let value = format!("bytes {}-{}/{}", part.start, part.end - 1, entry.len);
                set(&mut answer, CONTENT_RANGE, &value);
                part
            }
            Ranged::Unsatisfiable => {
                let mut answer = text(
                    StatusCode::RANGE_NOT_SATISFIABLE,
                    "the range begins behind the end of the file\n",
                );
                set(&mut answer, CONTENT_RANGE, &format!("bytes */{}", entry.len));
                return answer;
            }
        };
        let headers = answer.headers_mut();
        headers.insert(CONTENT_LENGTH, HeaderValue::from(part.end - part.start));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(entry.media_type));
        if !is_head {
            *answer.body_mut() = match &entry.content {
                Content::Bytes(bytes) => full(bytes.slice(part.start as usize..part.end as usize)),
                Content::File(_) => {
                    Either::Right(Streamed::new(&self.access, path, entry, part, outbox))
                }
            };
        }
        answer
    }
}

/// The headers that each answer about a file has.
fn describe(answer: &mut Response<Body>, entry: &Entry) {
    set(answer, ETAG, &entry.validators.etag);
    if let Some(modified) = entry.validators.modified {
        set(answer, LAST_MODIFIED, &httpdate::fmt_http_date(modified));
    }
    answer.headers_mut().insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
}

fn set(answer: &mut Response<Body>, name: HeaderName, value: &str) {
    let value = HeaderValue::from_str(value).expect("numbers, dates and tags are ASCII");
    answer.headers_mut().insert(name, value);
}

fn moved(target: &Target) -> Response<Body> {
    let mut answer = text(StatusCode::MOVED_PERMANENTLY, "the directory is one slash further\n");
    set(&mut answer, LOCATION, &target.as_directory());
    answer
}

fn not_found() -> Response<Body> {
    text(StatusCode::NOT_FOUND, "there is no such file\n")
}

fn text(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut answer = Response::new(full(Bytes::from_static(text.as_bytes())));
    *answer.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, plain);
    answer
}

fn full(bytes: Bytes) -> Body {
    Either::Left(Full::new(Piece::Bytes(bytes)))
}
