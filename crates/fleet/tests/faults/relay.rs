//! A network between two programs that a test can cut and mend.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// How often a cut network looks whether it was mended.
const STEP: Duration = Duration::from_millis(20);

/// Takes connections on a port of its own and passes them on to another port. While it is cut,
/// connections stay open and nothing comes through, as with a cable that was pulled.
pub(crate) struct Relay {
    pub(crate) port: u16,
    is_cut: Arc<AtomicBool>,
}

impl Relay {
    pub(crate) fn to(target: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let is_cut = Arc::new(AtomicBool::new(false));
        let cut = Arc::clone(&is_cut);
        thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                let cut = Arc::clone(&cut);
                thread::spawn(move || join(&near, target, &cut));
            }
        });
        Self { port, is_cut }
    }

    pub(crate) fn cut(&self) {
        self.is_cut.store(true, Ordering::SeqCst);
    }

    pub(crate) fn mend(&self) {
        self.is_cut.store(false, Ordering::SeqCst);
    }
}

fn wait_while_cut(is_cut: &AtomicBool) {
    while is_cut.load(Ordering::SeqCst) {
        thread::sleep(STEP);
    }
}

/// Connects one program with the other, until either ends the connection.
fn join(near: &TcpStream, target: u16, is_cut: &AtomicBool) {
    wait_while_cut(is_cut);
    let Ok(far) = TcpStream::connect(("127.0.0.1", target)) else { return };
    thread::scope(|threads| {
        threads.spawn(|| pass_on(near, &far, is_cut));
        pass_on(&far, near, is_cut);
    });
}

fn pass_on(mut from: &TcpStream, mut to: &TcpStream, is_cut: &AtomicBool) {
    let mut bytes = [0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        wait_while_cut(is_cut);
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    wait_while_cut(is_cut);
    to.shutdown(Shutdown::Write).ok();
}
