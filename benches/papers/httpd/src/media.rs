//! The media type of a file, by its name.

use std::path::Path;

/// The value of `Content-Type`.
pub(crate) fn media_type(path: &Path) -> &'static str {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        "avif" => "image/avif",
        "css" => "text/css; charset=utf-8",
        "csv" => "text/csv; charset=utf-8",
        "gif" => "image/gif",
        "gz" => "application/gzip",
        "htm" | "html" => "text/html; charset=utf-8",
        "ico" => "image/vnd.microsoft.icon",
        "jpeg" | "jpg" => "image/jpeg",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "json" | "map" => "application/json",
        "md" => "text/markdown; charset=utf-8",
        "mp3" => "audio/mpeg",
        "mp4" => "video/mp4",
        "pdf" => "application/pdf",
        "png" => "image/png",
        "rs" | "toml" | "txt" | "log" => "text/plain; charset=utf-8",
        "svg" => "image/svg+xml",
        "wasm" => "application/wasm",
        "webm" => "video/webm",
        "webp" => "image/webp",
        "woff" => "font/woff",
        "woff2" => "font/woff2",
        "xml" => "application/xml",
        "zip" => "application/zip",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_decides() {
        let of = |path: &str| media_type(Path::new(path));
        assert_eq!(of("a/b.HTML"), "text/html; charset=utf-8");
        assert_eq!(of("a.tar.gz"), "application/gzip");
        assert_eq!(of("a.html/b"), "application/octet-stream");
        assert_eq!(of(".png"), "application/octet-stream");
    }
}
