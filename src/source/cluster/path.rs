use std::fmt::Write as _;

/// The API's path of a resource: `/apis/GROUP/VERSION/namespaces/NAMESPACE/PLURAL`.
pub(super) fn of(group_version: &str, namespace: Option<&str>, plural: &str) -> String {
    let root = if group_version.contains('/') { "apis" } else { "api" };
    match namespace {
        Some(namespace) => format!("/{root}/{group_version}/namespaces/{}/{plural}", encode(namespace)),
        None => format!("/{root}/{group_version}/{plural}"),
    }
}

/// The group and version in a path of the API: `batch/v1`.
pub(super) fn group_version(path: &str) -> &str {
    let (rest, slashes) = match (path.strip_prefix("/apis/"), path.strip_prefix("/api/")) {
        (Some(rest), _) => (rest, 1),
        (_, Some(rest)) => (rest, 0),
        _ => return "",
    };
    rest.match_indices('/').nth(slashes).map_or(rest, |(end, _)| &rest[..end])
}

/// Percent-encodes what stands for itself nowhere in a URL.
pub(super) fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(char::from(byte)),
            _ => {
                let _ = write!(encoded, "%{byte:02X}");
            }
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_api() {
        for (group_version, namespace, plural, expected) in [
            ("v1", None, "pods", "/api/v1/pods"),
            ("v1", Some("ml-team"), "pods", "/api/v1/namespaces/ml-team/pods"),
            ("batch/v1", None, "jobs", "/apis/batch/v1/jobs"),
            ("batch/v1", Some("a/b c?"), "jobs", "/apis/batch/v1/namespaces/a%2Fb%20c%3F/jobs"),
        ] {
            assert_eq!(of(group_version, namespace, plural), expected);
            assert_eq!(super::group_version(expected), group_version);
        }
    }
}
