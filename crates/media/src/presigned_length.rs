//! Binds the length of an upload to a presigned URL of S3. The library that signs everything else signs
//! no length, so that a URL for a small file would take a large one.
//!
//! The URL is signed once more, with the same date and expiry, over the length, the type and the host
//! ([Signature Version 4](https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html)).

use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

const SIGNATURE: &str = "X-Amz-Signature";
const SIGNED_HEADERS: &str = "X-Amz-SignedHeaders";
const HEADERS: &str = "content-length;content-type;host";
/// As the query of a URL has them.
const ENCODED_HEADERS: &str = "content-length%3Bcontent-type%3Bhost";

/// Returns the URL for a body of exactly this type and length; `None` if the URL was not signed with a
/// type by these credentials.
pub(crate) fn bind_length(
    url: &str,
    (key_id, secret): (&str, &str),
    content_type: &str,
    bytes: u64,
) -> Option<String> {
    let (place, query) = url.split_once('?')?;
    let (_, address) = place.split_once("://")?;
    let slash = address.find('/')?;
    let (host, path) = address.split_at(slash);
    let mut pairs: Vec<(&str, &str)> = query
        .split('&')
        .map(|pair| pair.split_once('='))
        .collect::<Option<Vec<_>>>()?
        .into_iter()
        .filter(|(name, _)| *name != SIGNATURE)
        .map(|(name, value)| (name, if name == SIGNED_HEADERS { ENCODED_HEADERS } else { value }))
        .collect();
    pairs.sort_unstable();
    let value_of = |wanted: &str| {
        pairs.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.replace("%2F", "/"))
    };
    let (credential, date) = (value_of("X-Amz-Credential")?, value_of("X-Amz-Date")?);
    // Credentials may have changed since the URL was signed.
    let scope = credential.strip_prefix(key_id)?.strip_prefix('/')?;
    let pairs: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let query = pairs.join("&");
    let request = format!(
        "PUT\n{path}\n{query}\ncontent-length:{bytes}\ncontent-type:{content_type}\nhost:{host}\n\n\
         {HEADERS}\nUNSIGNED-PAYLOAD"
    );
    let hash = HEXLOWER.encode(&Sha256::digest(request.as_bytes()));
    let text = format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n{hash}");
    // Day, region, service and `aws4_request`, one after the other.
    let first = format!("AWS4{secret}").into_bytes();
    let key = scope.split('/').try_fold(first, |key, part| mac(&key, part))?;
    let signature = HEXLOWER.encode(&mac(&key, &text)?);
    Some(format!("{place}?{query}&{SIGNATURE}={signature}"))
}

fn mac(key: &[u8], text: &str) -> Option<Vec<u8>> {
    let mut mac: Hmac<Sha256> = Hmac::new_from_slice(key).ok()?;
    mac.update(text.as_bytes());
    Some(mac.finalize().into_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://files.example.org/bucket/incoming/u/ana/photo?X-Amz-Algorithm=AWS4-HMAC-SHA256\
        &X-Amz-Credential=town%2F20261119%2Feu-central-1%2Fs3%2Faws4_request&X-Amz-Date=20261119T150000Z\
        &X-Amz-Expires=900&X-Amz-SignedHeaders=content-type%3Bhost&X-Amz-Signature=0123";

    #[test]
    fn the_signature_depends_on_everything_that_it_binds() {
        let signed = |secret, kind, bytes| bind_length(URL, ("town", secret), kind, bytes).unwrap();
        let one = signed("secret", "image/png", 45);
        assert!(one.contains("SignedHeaders=content-length%3Bcontent-type%3Bhost"), "{one}");
        assert_eq!(one.matches(SIGNATURE).count(), 1, "{one}");
        assert!(
            one.starts_with(URL.split_once('?').unwrap().0) && one.contains("X-Amz-Expires=900")
        );
        assert_eq!(one, signed("secret", "image/png", 45));
        for other in [
            signed("other", "image/png", 45),
            signed("secret", "text/html", 45),
            signed("secret", "image/png", 46),
        ] {
            assert_ne!(one, other);
        }
        assert_eq!(bind_length(URL, ("another", "secret"), "image/png", 45), None);
    }
}
