//! Waiting for conditions, never for time to pass.

use std::future::Future;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

/// Asks until the answer is `Some`, at most `limit`; the error says what was waited for and the last thing seen.
pub(crate) async fn until<T, F, Fut>(what: &str, limit: Duration, mut ask: F) -> Result<T>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<Answer<T>>>,
{
    let start = Instant::now();
    loop {
        let seen = match ask().await? {
            Answer::Ready(value) => return Ok(value),
            Answer::NotYet(seen) => seen,
        };
        if start.elapsed() > limit {
            bail!("waited {} s for {what}; last seen: {seen}", limit.as_secs());
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

pub(crate) enum Answer<T> {
    Ready(T),
    /// Not yet, and what there is instead.
    NotYet(String),
}
