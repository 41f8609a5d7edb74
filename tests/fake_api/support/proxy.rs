//! A forward proxy that counts what it is asked for.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// Sends whatever is asked for to one port of this machine.
pub(crate) struct Proxy {
    port: u16,
    connects: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    pub(crate) fn start(to_port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let connects = Arc::new(Mutex::new(Vec::new()));
        let recorded = Arc::clone(&connects);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, recorded) = (stream.unwrap(), Arc::clone(&recorded));
                std::thread::spawn(move || forward(stream, to_port, &recorded));
            }
        });
        Self { port, connects }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The addresses asked for, with the credentials behind them.
    pub(crate) fn connects(&self) -> Vec<String> {
        self.connects.lock().unwrap().clone()
    }
}

fn forward(mut client: TcpStream, to_port: u16, connects: &Mutex<Vec<String>>) {
    let mut asked = String::new();
    let mut reader = BufReader::new(client.try_clone().unwrap());
    let mut line = String::new();
    while reader.read_line(&mut line).unwrap() > 2 {
        if let Some(to) = line.strip_prefix("CONNECT ") {
            to.split(' ').next().unwrap().clone_into(&mut asked);
        }
        if line.to_ascii_lowercase().starts_with("proxy-authorization:") {
            asked = format!("{asked} {}", line.trim_end().rsplit(' ').next().unwrap());
        }
        line.clear();
    }
    connects.lock().unwrap().push(asked);
    let mut server = TcpStream::connect(("127.0.0.1", to_port)).unwrap();
    client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
    let (mut from_client, mut to_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    std::thread::spawn(move || std::io::copy(&mut from_client, &mut to_server));
    let _ = std::io::copy(&mut server, &mut client);
}
