//! An HTTP/1.1 server whose answers are a function of the request.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Path and query, with `%XX` decoded.
    pub(crate) target: String,
    /// Headers, by their names in small letters; those that come twice have two values.
    pub(crate) headers: HashMap<String, Vec<String>>,
    /// The body as JSON; null where there is none.
    pub(crate) body: serde_json::Value,
    /// Which request with this target it is, from 1; how long a watch is to last does not matter.
    pub(crate) nth: usize,
    /// Whether the connection came with a client certificate.
    pub(crate) has_certificate: bool,
}

impl Request {
    /// The path alone.
    pub(crate) fn path(&self) -> &str {
        self.target.split('?').next().unwrap()
    }

    /// A header's first value.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.first().map(String::as_str)
    }

    /// A member of the query.
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        let query = self.target.split_once('?')?.1;
        query.split('&').find_map(|member| member.strip_prefix(name)?.strip_prefix('='))
    }
}

/// A part of an answer's body.
enum Part {
    Bytes(Vec<u8>),
    /// Nothing until something with this in its target has been asked for.
    UntilAsked(String),
    /// Nothing until the server is stopped; then the connection is closed.
    UntilStopped,
    /// The connection is closed here.
    Cut,
    /// Nothing ever comes.
    Silence,
}

/// An answer.
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    parts: Vec<Part>,
    gzip: bool,
    /// The connection is closed without an answer.
    dropped: bool,
}

impl Reply {
    pub(crate) fn json(status: u16, body: impl Into<String>) -> Self {
        Self::new(status, "application/json").then(body)
    }

    pub(crate) fn new(status: u16, content_type: &str) -> Self {
        Self {
            status,
            headers: vec![("content-type".into(), content_type.into())],
            parts: vec![],
            gzip: false,
            dropped: false,
        }
    }

    /// A `Status`, as the API server answers errors.
    pub(crate) fn status(code: u16, reason: &str, message: &str) -> Self {
        Self::status_with(code, reason, message, &serde_json::json!({}))
    }

    pub(crate) fn status_with(code: u16, reason: &str, message: &str, metadata: &serde_json::Value) -> Self {
        let status = serde_json::json!({
            "kind": "Status", "apiVersion": "v1", "metadata": metadata, "status": "Failure",
            "message": message, "reason": reason, "code": code,
        });
        Self::json(code, status.to_string())
    }

    /// What an absent API group is answered with.
    pub(crate) fn no_such_path() -> Self {
        Self::new(404, "text/plain").then("404 page not found\n")
    }

    /// Never an answer.
    pub(crate) fn silence() -> Self {
        let mut reply = Self::json(200, "");
        reply.parts = vec![Part::Silence];
        reply
    }

    /// The connection closed without an answer.
    pub(crate) fn dropped() -> Self {
        Self { dropped: true, ..Self::json(200, "") }
    }

    pub(crate) fn then(mut self, bytes: impl Into<String>) -> Self {
        self.parts.push(Part::Bytes(bytes.into().into_bytes()));
        self
    }

    pub(crate) fn then_wait_until_asked(mut self, target: &str) -> Self {
        self.parts.push(Part::UntilAsked(target.into()));
        self
    }

    pub(crate) fn then_wait_until_stopped(mut self) -> Self {
        self.parts.push(Part::UntilStopped);
        self
    }

    pub(crate) fn then_cut(mut self) -> Self {
        self.parts.push(Part::Cut);
        self
    }

    pub(crate) fn then_silence(mut self) -> Self {
        self.parts.push(Part::Silence);
        self
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// What it says, all of it.
    pub(crate) fn into_body(self) -> Vec<u8> {
        self.parts.into_iter().flat_map(|part| if let Part::Bytes(bytes) = part { bytes } else { Vec::new() }).collect()
    }

    /// Compressed, where that was asked for.
    pub(crate) fn gzip(mut self) -> Self {
        self.gzip = true;
        self
    }
}

type Handler = dyn Fn(&Request) -> Reply + Send + Sync;

struct Shared {
    handler: Box<Handler>,
    requests: Mutex<Vec<Request>>,
    asked: Condvar,
    over: AtomicBool,
}

/// The server; it ends with the value.
pub(crate) struct FakeApi {
    address: SocketAddr,
    scheme: &'static str,
    shared: Arc<Shared>,
    accepts: Option<std::thread::JoinHandle<()>>,
}

/// The longest a test waits for what it waits for: then it fails.
const LONGEST: Duration = Duration::from_secs(20);

impl FakeApi {
    pub(crate) fn start(handler: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        Self::listen("127.0.0.1:0", None, handler)
    }

    /// At a port where another one was stopped.
    pub(crate) fn start_at(port: u16, handler: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        Self::listen(&format!("127.0.0.1:{port}"), None, handler)
    }

    pub(crate) fn start_tls(config: ServerConfig, handler: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        Self::listen("0.0.0.0:0", Some(Arc::new(config)), handler)
    }

    fn listen(
        at: &str,
        tls: Option<Arc<ServerConfig>>,
        handler: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(at).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            handler: Box::new(handler),
            requests: Mutex::default(),
            asked: Condvar::new(),
            over: AtomicBool::new(false),
        });
        let scheme = if tls.is_some() { "https" } else { "http" };
        let accepting = Arc::clone(&shared);
        let accepts = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if accepting.over.load(Ordering::SeqCst) {
                    break;
                }
                let (stream, tls, shared) = (stream.unwrap(), tls.clone(), Arc::clone(&accepting));
                std::thread::spawn(move || serve(stream, tls, &shared));
            }
        });
        Self { address, scheme, shared, accepts: Some(accepts) }
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Its address, under a host name or IP address of this machine.
    pub(crate) fn url(&self, host: &str) -> String {
        format!("{}://{host}:{}", self.scheme, self.port())
    }

    /// The targets asked for, in order.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.requests().into_iter().map(|request| request.target).collect()
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.shared.requests.lock().unwrap().clone()
    }
}

impl Drop for FakeApi {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        drop(self.shared.requests.lock());
        self.shared.asked.notify_all();
        let _ = TcpStream::connect(("127.0.0.1", self.port()));
        // With its thread, the port is free again.
        let _ = self.accepts.take().map(std::thread::JoinHandle::join);
    }
}

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

fn serve(tcp: TcpStream, tls: Option<Arc<ServerConfig>>, shared: &Shared) {
    let socket = tcp.try_clone().unwrap();
    let mut has_certificate = false;
    let stream: Box<dyn Stream> = match tls {
        None => Box::new(tcp),
        Some(config) => {
            let mut stream = StreamOwned::new(ServerConnection::new(config).unwrap(), tcp);
            while stream.conn.is_handshaking() {
                if stream.conn.complete_io(&mut stream.sock).is_err() {
                    return;
                }
            }
            has_certificate = stream.conn.peer_certificates().is_some();
            Box::new(stream)
        }
    };
    let mut stream = BufReader::new(stream);
    while let Some(request) = read_request(&mut stream, has_certificate, shared) {
        let reply = (shared.handler)(&request);
        if answer(stream.get_mut(), &request, reply, shared).is_err() {
            let _ = socket.shutdown(Shutdown::Both);
            return;
        }
    }
}

fn read_request(stream: &mut impl BufRead, has_certificate: bool, shared: &Shared) -> Option<Request> {
    let mut line = String::new();
    stream.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let (method, rest) = line.split_once(' ')?;
    let (method, target) = (method.to_owned(), decode(rest.split(' ').next()?));
    let mut headers: HashMap<String, Vec<String>> = HashMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.entry(name.to_ascii_lowercase()).or_default().push(value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|values| values[0].parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).unwrap_or_default();
    let mut requests = shared.requests.lock().unwrap();
    let nth = 1 + requests.iter().filter(|request| without_time(&request.target) == without_time(&target)).count();
    let request = Request { method, target, headers, body, nth, has_certificate };
    requests.push(request.clone());
    shared.asked.notify_all();
    Some(request)
}

/// A watch's target without the time that it is to last, which is another one each time.
fn without_time(target: &str) -> &str {
    target.split("&timeoutSeconds=").next().unwrap()
}

fn answer(stream: &mut impl Write, request: &Request, reply: Reply, shared: &Shared) -> std::io::Result<()> {
    let closed = || std::io::Error::other("closed");
    if reply.dropped {
        return Err(closed());
    }
    let silent = matches!(reply.parts.first(), Some(Part::Silence));
    if !silent {
        write!(stream, "HTTP/1.1 {} x\r\ntransfer-encoding: chunked\r\n", reply.status)?;
        for (name, value) in &reply.headers {
            write!(stream, "{name}: {value}\r\n")?;
        }
    }
    let gzip = reply.gzip && request.header("accept-encoding").is_some_and(|accepted| accepted.contains("gzip"));
    if gzip {
        write!(stream, "content-encoding: gzip\r\n")?;
    }
    if !silent {
        write!(stream, "\r\n")?;
    }
    for part in reply.parts {
        match part {
            Part::Bytes(bytes) if bytes.is_empty() => {}
            Part::Bytes(bytes) => {
                let bytes = if gzip { compress(&bytes) } else { bytes };
                write!(stream, "{:x}\r\n", bytes.len())?;
                stream.write_all(&bytes)?;
                write!(stream, "\r\n")?;
                stream.flush()?;
            }
            Part::UntilAsked(target) => {
                let requests = shared.requests.lock().unwrap();
                let is_asked = |requests: &mut Vec<Request>| !requests.iter().any(|r| r.target.contains(&target));
                let waited = shared.asked.wait_timeout_while(requests, LONGEST, is_asked).unwrap();
                if waited.1.timed_out() {
                    return Err(closed());
                }
            }
            Part::UntilStopped => {
                let requests = shared.requests.lock().unwrap();
                let goes_on = |_: &mut Vec<Request>| !shared.over.load(Ordering::SeqCst);
                let _stopped = shared.asked.wait_timeout_while(requests, LONGEST, goes_on).unwrap();
                return Err(closed());
            }
            Part::Cut => return Err(closed()),
            Part::Silence => {
                std::thread::sleep(LONGEST);
                return Err(closed());
            }
        }
    }
    write!(stream, "0\r\n\r\n")?;
    stream.flush()
}

fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn decode(target: &str) -> String {
    let mut decoded = Vec::new();
    let mut bytes = target.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let digits: String = bytes.by_ref().take(2).map(char::from).collect();
            decoded.push(u8::from_str_radix(&digits, 16).unwrap());
        } else {
            decoded.push(byte);
        }
    }
    String::from_utf8(decoded).unwrap()
}
