use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, header};
use http_body_util::BodyExt as _;
use kube::client::Body;

use super::api::{Api, LARGEST_OBJECT, TRIES, gather};
use super::fault::{Fault, Status};

/// One request of any kind.
pub(super) struct Call<'a> {
    pub(super) method: Method,
    pub(super) path: &'a str,
    /// The form of `body`.
    pub(super) content_type: &'static str,
    pub(super) body: Vec<u8>,
    /// Named where it is tried again.
    pub(super) what: &'a str,
}

/// Between two tries of a request that did not reach the server or that it put off.
const PAUSE: Duration = Duration::from_millis(500);

impl Api<'_> {
    /// The answer to a request that may change something. It is sent again only where the server put it off (429) or
    /// never got it: whatever else goes wrong, it may have been carried out.
    pub(super) async fn call(&self, call: &Call<'_>) -> Result<Vec<u8>, Fault> {
        let mut attempt = 1;
        loop {
            let fault = match self.try_call(call).await {
                Ok(answer) => return Ok(answer),
                Err(fault) => fault,
            };
            let pause = match &fault {
                Fault::Status(Status { code: 429, .. }) => fault.pause(PAUSE),
                Fault::Refused => Some(PAUSE),
                _ => None,
            };
            let Some(pause) = pause.filter(|_| attempt < TRIES) else { return Err(fault) };
            attempt += 1;
            let (what, seconds) = (call.what, pause.as_secs_f64());
            self.say(&format!("{what}: {fault}; trying again in {seconds} s ({attempt} of {TRIES})"));
            tokio::time::sleep(pause).await;
        }
    }

    async fn try_call(&self, call: &Call<'_>) -> Result<Vec<u8>, Fault> {
        let request = Request::builder()
            .method(call.method.clone())
            .uri(call.path)
            .header(header::ACCEPT, super::api::JSON)
            .header(header::CONTENT_TYPE, call.content_type)
            .body(Body::from(call.body.clone()))
            .map_err(|error| Fault::Unreachable(error.to_string()))?;
        let clock = self.patience.begin();
        let response = clock.within(self.client.send(request)).await?.map_err(|error| Fault::of(&error))?;
        let code = response.status().as_u16();
        let is_good = response.status().is_success();
        let retry_after = response.headers().get(header::RETRY_AFTER).and_then(|value| value.to_str().ok());
        let retry_after = retry_after.map(ToOwned::to_owned);
        let (body, read) = gather(&clock, response, LARGEST_OBJECT).await;
        if is_good {
            return read.map(|()| body);
        }
        Err(Fault::Status(Status::read(code, retry_after.as_deref(), &body)))
    }

    /// The end of a text, at most `most` bytes of it. It may be long, so that no more than that is ever held.
    pub(super) async fn end_of_text(&self, path: &str, most: usize) -> Result<Vec<u8>, Fault> {
        let request = Request::get(path)
            .header(header::ACCEPT, "*/*")
            .body(Body::empty())
            .map_err(|error| Fault::Unreachable(error.to_string()))?;
        let clock = self.patience.begin();
        let response = clock.within(self.client.send(request)).await?.map_err(|error| Fault::of(&error))?;
        if !response.status().is_success() {
            let code = response.status().as_u16();
            let body = gather(&clock, response, LARGEST_OBJECT).await.0;
            return Err(Fault::Status(Status::read(code, None, &body)));
        }
        self.keep_end(response, most).await
    }

    async fn keep_end(&self, response: Response<Body>, most: usize) -> Result<Vec<u8>, Fault> {
        let clock = self.patience.begin();
        let mut kept = Vec::new();
        let mut body = response.into_body();
        while let Some(frame) = clock.within(body.frame()).await? {
            let chunk = frame.map_err(|error| Fault::of(&error))?.into_data().unwrap_or_else(|_| Bytes::new());
            kept.extend_from_slice(&chunk);
            // Cut now and then only: each cut moves what is kept.
            if kept.len() > 2 * most {
                kept.drain(..kept.len() - most);
            }
        }
        kept.drain(..kept.len().saturating_sub(most));
        Ok(kept)
    }
}
