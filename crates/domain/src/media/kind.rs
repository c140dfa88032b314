//! Media types, detected from a file's bytes and never from its name. Only images and videos that
//! browsers do not execute: no SVG, HTML or PDF.

use roundtable_model::InvalidValue;

use crate::ServiceError;

pub const MEDIA_TYPES: [&str; 7] =
    ["image/jpeg", "image/png", "image/gif", "image/webp", "image/avif", "video/mp4", "video/webm"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MediaKind {
    pub(super) content_type: &'static str,
    pub(super) is_image: bool,
}

/// Brands of the MP4 containers that browsers play.
const MP4_BRANDS: [&[u8]; 11] = [
    b"isom", b"iso2", b"iso3", b"iso4", b"iso5", b"iso6", b"mp41", b"mp42", b"avc1", b"dash",
    b"M4V ",
];
const AVIF_BRANDS: [&[u8]; 2] = [b"avif", b"avis"];
/// The Matroska `DocType` element with the value `webm`.
const WEBM_DOCTYPE: &[u8] = b"\x42\x82\x84webm";
/// The element must be within this many bytes.
const DOCTYPE_WITHIN: usize = 64;
const BRANDS_MAX: usize = 32;

impl MediaKind {
    pub(super) fn named(content_type: &str) -> Result<Self, ServiceError> {
        let supported = MEDIA_TYPES.into_iter().find(|supported| *supported == content_type);
        let content_type = supported.ok_or_else(|| {
            let found: String = content_type.chars().take(40).collect();
            let wanted = "an image or a video: jpeg, png, gif, webp, avif, mp4, webm";
            ServiceError::bad_input(
                "contentType",
                InvalidValue::new(wanted, format!("\"{found}\"")),
            )
        })?;
        Ok(Self { content_type, is_image: is_image(content_type) })
    }

    /// Detects the type from the first bytes; `None` if it is not accepted.
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        let content_type = if head.starts_with(b"\xff\xd8\xff") {
            "image/jpeg"
        } else if head.starts_with(b"\x89PNG\r\n\x1a\n") {
            "image/png"
        } else if head.starts_with(b"GIF87a") || head.starts_with(b"GIF89a") {
            "image/gif"
        } else if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
            "image/webp"
        } else if has_brand(head, &AVIF_BRANDS) {
            "image/avif"
        } else if has_brand(head, &MP4_BRANDS) {
            "video/mp4"
        } else if head.starts_with(b"\x1a\x45\xdf\xa3") && has_webm_doctype(head) {
            "video/webm"
        } else {
            return None;
        };
        Self::named(content_type).ok()
    }
}

pub(super) fn is_image(content_type: &str) -> bool {
    content_type.starts_with("image/")
}

/// Returns whether a file begins with an `ftyp` box that names one of these brands.
fn has_brand(head: &[u8], brands: &[&[u8]]) -> bool {
    if head.get(4..8) != Some(b"ftyp") {
        return false;
    }
    let length = head.first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes));
    let end = usize::try_from(length).unwrap_or(usize::MAX).min(head.len());
    // The major brand is followed by its version.
    let major = head.get(8..12.min(end)).unwrap_or_default();
    let others = head.get(16..end).unwrap_or_default().chunks(4).take(BRANDS_MAX);
    std::iter::once(major).chain(others).any(|brand| brands.contains(&brand))
}

fn has_webm_doctype(head: &[u8]) -> bool {
    let start = head.get(..DOCTYPE_WITHIN).unwrap_or(head);
    start.windows(WEBM_DOCTYPE.len()).any(|window| window == WEBM_DOCTYPE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(head: &[u8]) -> Option<&'static str> {
        MediaKind::of(head).map(|kind| kind.content_type)
    }

    #[test]
    fn the_first_bytes_identify_a_type() {
        assert_eq!(kind(b"\xff\xd8\xff\xe0\0\x10JFIF"), Some("image/jpeg"));
        assert_eq!(kind(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), Some("image/png"));
        assert_eq!(kind(b"GIF89a\x01\0\x01\0"), Some("image/gif"));
        assert_eq!(kind(b"RIFF\x24\0\0\0WEBPVP8 "), Some("image/webp"));
        assert_eq!(kind(b"\0\0\0\x1cftypmif1\0\0\0\0mif1avifmiaf"), Some("image/avif"));
        assert_eq!(kind(b"\0\0\0\x18ftypmp42\0\0\0\0isommp42"), Some("video/mp4"));
        assert_eq!(
            kind(b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm"),
            Some("video/webm")
        );
    }

    #[test]
    fn executable_and_unknown_types_are_rejected() {
        let others: [&[u8]; 10] = [
            b"",
            b"\xff\xd8",
            b"<svg xmlns=\"http://www.w3.org/2000/svg\">",
            b"<!doctype html><script>",
            b"%PDF-1.7",
            b"RIFF\x24\0\0\0WAVEfmt ",
            b"\0\0\0\x18ftypheic\0\0\0\0mif1heic",
            b"\0\0\0\x14ftypqt  \0\0\0\0qt  ",
            b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x88matroska",
            b"\xff\xff\xff\xffftyp",
        ];
        for head in others {
            assert_eq!(kind(head), None, "{head:?}");
        }
        assert!(
            MediaKind::named("image/svg+xml").is_err() && MediaKind::named("text/html").is_err()
        );
    }
}
