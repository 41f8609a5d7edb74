//! What of a value may be shown.

/// Longer values are cut: a path has at most 4,096 bytes, and nobody reads more than a line.
const LONGEST: usize = 512;

/// Schemes that write a container or an account before the `@`: `abfss://container@account.dfs.core.windows.net/path`.
const ACCOUNT_FIRST: [&str; 4] = ["abfs", "abfss", "wasb", "wasbs"];

/// The text without credentials of a URL: the user before an `@`, a query, a fragment.
pub(super) fn shown(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("://") {
        shown.push_str(before);
        shown.push_str("://");
        let end = behind.find(|c: char| c.is_whitespace() || "'\",;".contains(c)).unwrap_or(behind.len());
        let url = &behind[..end];
        let scheme = before.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        shown.push_str(&without_credentials(scheme, url));
        rest = &behind[end..];
    }
    shown.push_str(rest);
    match shown.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown,
    }
}

fn without_credentials(scheme: &str, url: &str) -> String {
    let (place, query) = match url.find(['?', '#']) {
        // `${NAME?}` is a reference that was not replaced, not a query.
        Some(at) if !url[..at].contains("${") => (&url[..at], "?…"),
        _ => (url, ""),
    };
    // A password may hold a slash; so all up to the last `@` goes, unless that is far behind in the path.
    let Some((user, host)) = place.rsplit_once('@') else { return format!("{place}{query}") };
    if ACCOUNT_FIRST.contains(&scheme) && !user.contains(':') {
        return format!("{place}{query}");
    }
    if !user.contains(':') && user.contains('/') {
        return format!("{place}{query}");
    }
    format!("…@{host}{query}")
}

/// Whether a variable's name says that its value is a secret. Such values replace nothing.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let secret =
        ["TOKEN", "SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASS", "CREDENTIAL", "CREDENTIALS", "KEY", "SAS"];
    name.split('_').any(|part| secret.iter().any(|secret| part.eq_ignore_ascii_case(secret)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_cut_out_of_urls() {
        for (text, is) in [
            ("/ckpt/run@1", "/ckpt/run@1"),
            ("gs://bucket/run", "gs://bucket/run"),
            ("s3://user:pa/ss@bucket/run", "s3://…@bucket/run"),
            ("s3://user@host/run", "s3://…@host/run"),
            ("s3://bucket/run@2", "s3://bucket/run@2"),
            ("https://a.blob.core.windows.net/c?sig=abc&se=1", "https://a.blob.core.windows.net/c?…"),
            ("abfss://box@account.dfs.core.windows.net/run", "abfss://box@account.dfs.core.windows.net/run"),
            ("abfss://k:s@account/run", "abfss://…@account/run"),
            ("gs://${BUCKET?}/run", "gs://${BUCKET?}/run"),
            ("a s3://k:s@b/c, gs://d", "a s3://…@b/c, gs://d"),
        ] {
            assert_eq!(shown(text), is);
        }
        assert_eq!(shown(&"ü".repeat(9999)).chars().count(), LONGEST + 1);
    }

    #[test]
    fn names_of_secrets_are_known() {
        assert!(is_secret_name("AWS_SECRET_ACCESS_KEY") && is_secret_name("hf_token") && !is_secret_name("TOKENIZER"));
    }
}
