use std::cell::RefCell;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, header};
use http_body_util::BodyExt as _;
use kube::client::Body;
use serde::Deserialize;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::fault::{Destination, Fault, Status, first_line};

/// Makes requests, a few times where that may help, and bounds how long they take.
pub(super) struct Api<'a> {
    pub(super) client: kube::Client,
    /// Where they go.
    pub(super) destination: Destination,
    pub(super) patience: Patience,
    talk: RefCell<&'a mut dyn FnMut(&str)>,
}

/// How long to wait for an answer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Patience {
    /// As long as something comes at least this often.
    Silence(Duration),
    /// This long for the whole answer.
    Whole(Duration),
    /// For ever.
    Endless,
}

/// Without `--request-timeout`.
const LONGEST_SILENCE: Duration = Duration::from_secs(60);
/// Tries of one request, the first among them.
pub(super) const TRIES: u32 = 3;
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// The form that is asked for.
pub(super) const JSON: &str = "application/json";

/// What `/apis/GROUP` answers, as far as it is used.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Group {
    preferred_version: Version,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    group_version: String,
}

impl Group {
    /// Group and version that the server prefers: `jobset.x-k8s.io/v1alpha2`.
    pub(super) fn preferred(self) -> String {
        self.preferred_version.group_version
    }
}
/// Of an error's body.
const LARGEST_ERROR: usize = 64 << 10;
/// Of an answer that is read whole.
pub(super) const LARGEST_OBJECT: usize = 16 << 20;

impl Patience {
    /// What `--request-timeout` asks for.
    pub(super) fn new(request_timeout: Option<Duration>) -> Self {
        match request_timeout {
            None => Self::Silence(LONGEST_SILENCE),
            Some(Duration::ZERO) => Self::Endless,
            Some(whole) => Self::Whole(whole),
        }
    }

    pub(super) fn begin(self) -> Clock {
        Clock { patience: self, began: Instant::now() }
    }
}

/// The time one request has left.
pub(super) struct Clock {
    patience: Patience,
    began: Instant,
}

impl Clock {
    pub(super) async fn within<T>(&self, future: impl Future<Output = T>) -> Result<T, Fault> {
        let (deadline, granted) = match self.patience {
            Patience::Endless => return Ok(future.await),
            Patience::Silence(longest) => (Instant::now() + longest, longest),
            Patience::Whole(whole) => (self.began + whole, whole),
        };
        tokio::time::timeout_at(deadline, future).await.map_err(|_| Fault::Timeout(granted))
    }
}

impl<'a> Api<'a> {
    pub(super) fn new(
        client: kube::Client,
        destination: Destination,
        patience: Patience,
        talk: &'a mut dyn FnMut(&str),
    ) -> Self {
        Self { client, destination, patience, talk: RefCell::new(talk) }
    }

    /// Tells the user something.
    pub(super) fn say(&self, text: &str) {
        (self.talk.borrow_mut())(text);
    }

    /// The answer to a GET, without its body. `what` is named where it is tried again.
    pub(super) async fn get(&self, what: &str, path: &str) -> Result<Response<Body>, Fault> {
        let mut attempt = 1;
        loop {
            match self.try_get(path, JSON).await {
                Ok(response) => return Ok(response),
                Err(fault) => self.before_another(what, attempt, fault).await?,
            }
            attempt += 1;
        }
    }

    /// The answer to a GET, whole, for what is small; `accept` is the form that is asked for. Of one that is larger than
    /// [`LARGEST_OBJECT`] it is the beginning, of just that length.
    pub(super) async fn fetch(&self, what: &str, path: &str, accept: &str) -> Result<Vec<u8>, Fault> {
        let mut attempt = 1;
        loop {
            let fault = match self.try_get(path, accept).await {
                Ok(response) => match gather(&self.patience.begin(), response, LARGEST_OBJECT).await {
                    (bytes, Ok(())) => return Ok(bytes),
                    (_, Err(fault)) => fault,
                },
                Err(fault) => fault,
            };
            self.before_another(what, attempt, fault).await?;
            attempt += 1;
        }
    }

    /// Waits before another try, or gives the fault back where none is left or none would help.
    pub(super) async fn before_another(&self, what: &str, attempt: u32, fault: Fault) -> Result<(), Fault> {
        let Some(pause) = fault.pause(FIRST_PAUSE * 2_u32.pow(attempt - 1)).filter(|_| attempt < TRIES) else {
            return Err(fault);
        };
        let next = attempt + 1;
        self.say(&format!("{what}: {fault}; trying again in {} s ({next} of {TRIES})", pause.as_secs_f64()));
        tokio::time::sleep(pause).await;
        Ok(())
    }

    /// The answer to one GET, tried once.
    pub(super) async fn try_get(&self, path: &str, accept: &str) -> Result<Response<Body>, Fault> {
        let request = Request::get(path)
            .header(header::ACCEPT, accept)
            .body(Body::empty())
            .map_err(|error| Fault::Unreachable(error.to_string()))?;
        let clock = self.patience.begin();
        let response = clock.within(self.client.send(request)).await?.map_err(|error| Fault::of(&error))?;
        let code = response.status().as_u16();
        if response.status().is_success() {
            if is_foreign(&response) {
                return Err(Fault::Answer(first_line(&gather(&clock, response, LARGEST_ERROR).await.0)));
            }
            return Ok(response);
        }
        let retry_after = response.headers().get(header::RETRY_AFTER).and_then(|value| value.to_str().ok());
        let retry_after = retry_after.map(ToOwned::to_owned);
        // What was understood of a broken error body is enough.
        let body = gather(&clock, response, LARGEST_ERROR).await.0;
        Err(Fault::Status(Status::read(code, retry_after.as_deref(), &body)))
    }

    /// Sends an answer's body to its reader, to its end or until nobody reads.
    pub(super) async fn pump(&self, response: Response<Body>, chunks: mpsc::Sender<Bytes>) -> Result<(), Fault> {
        let clock = self.patience.begin();
        let mut body = response.into_body();
        while let Some(frame) = clock.within(body.frame()).await? {
            let Ok(chunk) = frame.map_err(|error| cut_off(&error))?.into_data() else { continue };
            if chunks.send(chunk).await.is_err() {
                break;
            }
        }
        Ok(())
    }
}

/// The first `most` bytes of a body; what comes behind them is not waited for.
pub(super) async fn gather(clock: &Clock, response: Response<Body>, most: usize) -> (Vec<u8>, Result<(), Fault>) {
    let mut bytes = Vec::new();
    let mut body = response.into_body();
    loop {
        match clock.within(body.frame()).await {
            Err(fault) => return (bytes, Err(fault)),
            Ok(None) => return (bytes, Ok(())),
            Ok(Some(Err(error))) => return (bytes, Err(cut_off(&error))),
            Ok(Some(Ok(frame))) => {
                if let Some(chunk) = frame.data_ref() {
                    let room = most - bytes.len();
                    bytes.extend_from_slice(chunk.get(..room).unwrap_or(chunk));
                }
                if bytes.len() == most {
                    return (bytes, Ok(()));
                }
            }
        }
    }
}

/// A body that breaks off, by whatever error, is one that a second try may bring whole.
fn cut_off(error: &kube::Error) -> Fault {
    match Fault::of(error) {
        fault @ Fault::Tls { .. } => fault,
        _ => Fault::Dropped("the answer was cut off".to_owned()),
    }
}

/// Whether an answer calls itself something else than JSON: a proxy's page to log in, for instance.
fn is_foreign(response: &Response<Body>) -> bool {
    let content_type = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    content_type.is_some_and(|content_type| !content_type.contains("json"))
}
