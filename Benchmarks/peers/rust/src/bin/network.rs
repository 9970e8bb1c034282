// SPDX-License-Identifier: Apache-2.0

//! tokio: a task for each connection, on one thread.
//! network echo | http

use std::future::Future;
use std::io;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

const RESPONSE: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nhello, world\n";

async fn echo(mut stream: TcpStream) -> io::Result<()> {
    let mut input = [0; 4096];
    loop {
        let count = stream.read(&mut input).await?;
        if count == 0 {
            return Ok(());
        }
        stream.write_all(&input[..count]).await?;
    }
}

async fn http(mut stream: TcpStream, responses: &'static [u8]) -> io::Result<()> {
    let mut input = [0; 4096];
    let mut matched = 0;
    loop {
        let count = stream.read(&mut input).await?;
        if count == 0 {
            return Ok(());
        }
        let ended = requests_ended(&input[..count], &mut matched);
        stream.write_all(&responses[..ended * RESPONSE.len()]).await?;
    }
}

/// How many requests end in these bytes. A request ends with an empty line; `matched` of its four bytes
/// were the last ones of what came before.
fn requests_ended(mut input: &[u8], matched: &mut usize) -> usize {
    let mut ended = 0;
    while !input.is_empty() {
        if *matched == 0 {
            match memchr::memchr(b'\r', input) {
                None => break,
                Some(next) => input = &input[next..],
            }
        }
        let byte = input[0];
        input = &input[1..];
        *matched = match byte {
            _ if byte == b"\r\n\r\n"[*matched] => *matched + 1,
            b'\r' => 1,
            _ => 0,
        };
        if *matched == 4 {
            ended += 1;
            *matched = 0;
        }
    }
    ended
}

async fn serve<S, F>(session: S) -> io::Result<()>
where
    S: Fn(TcpStream) -> F,
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    let socket = TcpSocket::new_v4()?;
    socket.bind(([127, 0, 0, 1], 0).into())?;
    let listener = socket.listen(4096)?;
    println!("port {}", listener.local_addr()?.port());
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(session(stream));
    }
}

/// Ends the process when standard input does; a thread that sleeps in `read` costs nothing.
fn end_with_input() {
    std::thread::spawn(|| {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        std::process::exit(0);
    });
}

fn main() {
    let mode = std::env::args().nth(1).unwrap_or_default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    let run = |server: tokio::task::JoinHandle<io::Result<()>>| runtime.block_on(server).unwrap();
    end_with_input();
    // What is not spawned is polled in another way: everything is.
    let ended = match mode.as_str() {
        "echo" => run(runtime.spawn(serve(echo))),
        "http" => {
            // As many as one read can ask for.
            let responses: &'static [u8] = RESPONSE.repeat(1024).leak();
            run(runtime.spawn(serve(move |stream| http(stream, responses))))
        }
        _ => {
            eprintln!("usage: network echo | http");
            std::process::exit(64);
        }
    };
    eprintln!("{:?}", ended.err());
    std::process::exit(1);
}
