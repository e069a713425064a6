//! A browser that a test drives: chromedriver, spoken to over the loopback.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Error;
use crate::process::command;

/// How long a test waits for something to appear on a page.
const PATIENCE: u32 = 300;

/// The time between two looks.
const STEP: Duration = Duration::from_millis(50);

/// The key that moves the focus.
pub const TAB: &str = "\u{E004}";
/// The key that follows a link.
pub const ENTER: &str = "\u{E007}";
/// The key that closes.
pub const ESCAPE: &str = "\u{E00C}";

/// A running chromedriver.
pub struct Driver {
    process: Child,
    port: u16,
}

/// One browser window.
pub struct Window<'d> {
    driver: &'d Driver,
    session: String,
    _profile: TempDir,
}

/// How the browser presents itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// The window's width in pixels.
    pub width: u32,
    /// The window's height in pixels.
    pub height: u32,
    /// Whether the reader prefers dark colours.
    pub is_dark: bool,
    /// Whether scripts run.
    pub has_script: bool,
}

impl Look {
    /// A usual window.
    pub const USUAL: Self = Self { width: 1280, height: 900, is_dark: false, has_script: true };
}

impl Driver {
    /// Starts chromedriver on a free port.
    pub fn start() -> Result<Self, Error> {
        let mut process = command("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("cannot start chromedriver: {error}"))?;
        let stdout = process.stdout.take().ok_or("chromedriver has no output")?;
        let mut lines = BufReader::new(stdout);
        let mut said = String::new();
        let port = loop {
            let mut line = String::new();
            if lines.read_line(&mut line)? == 0 {
                return Err(format!("chromedriver named no port:\n{said}").into());
            }
            let found = line
                .split("successfully on port ")
                .nth(1)
                .map(|rest| rest.trim_end_matches(['.', '\n']));
            if let Some(port) = found.and_then(|port| port.parse().ok()) {
                break port;
            }
            said.push_str(&line);
        };
        thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        Ok(Self { process, port })
    }

    /// Sends a command, and returns its value.
    fn ask(&self, method: &str, path: &str, body: &Value) -> Result<Value, Error> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_mins(2)))?;
        let text =
            if method == "GET" || method == "DELETE" { String::new() } else { body.to_string() };
        let length = text.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{}\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\nconnection: close\r\n\r\n{text}",
            self.port
        )?;
        let body = read_body(&mut BufReader::new(stream))?;
        let mut value: Value = serde_json::from_str(&body)
            .map_err(|error| format!("{method} {path}: {error}: {body}"))?;
        match value["value"]["error"].as_str() {
            Some(error) => {
                let message = value["value"]["message"].as_str().unwrap_or_default();
                Err(format!("{method} {path}: {error}: {message}").into())
            }
            None => Ok(value["value"].take()),
        }
    }

    /// Opens a window with a profile of its own.
    pub fn window(&self, look: Look) -> Result<Window<'_>, Error> {
        let profile = tempfile::tempdir()?;
        let mut arguments = vec![
            "--headless=new".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-quic".to_owned(),
            "--no-first-run".to_owned(),
            "--disable-background-networking".to_owned(),
            "--disable-component-update".to_owned(),
            "--disable-sync".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            // Every request of a page to another host fails, and is in the log.
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1".to_owned(),
            format!("--user-data-dir={}", profile.path().display()),
            format!("--window-size={},{}", look.width, look.height),
        ];
        if look.is_dark {
            arguments.push("--force-dark-mode".to_owned());
            arguments.push("--blink-settings=preferredColorScheme=0".to_owned());
        }
        let mut options = json!({"args": arguments});
        if !look.has_script {
            let setting = json!({"profile.managed_default_content_settings.javascript": 2});
            options["prefs"] = setting;
        }
        let capabilities = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"performance": "ALL", "browser": "ALL"},
            "unhandledPromptBehavior": "ignore",
        }}});
        let opened = self.ask("POST", "/session", &capabilities)?;
        let session = opened["sessionId"].as_str().ok_or("no session")?.to_owned();
        Ok(Window { driver: self, session, _profile: profile })
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

impl Window<'_> {
    fn ask(&self, method: &str, path: &str, body: &Value) -> Result<Value, Error> {
        self.driver.ask(method, &format!("/session/{}{path}", self.session), body)
    }

    /// Opens an address.
    pub fn goto(&self, address: &str) -> Result<(), Error> {
        self.ask("POST", "/url", &json!({"url": address})).map(drop)
    }

    /// Returns the address of the page.
    pub fn address(&self) -> Result<String, Error> {
        Ok(self.ask("GET", "/url", &Value::Null)?.as_str().unwrap_or_default().to_owned())
    }

    /// Runs a script on the page, and returns what it returns.
    pub fn script(&self, script: &str, arguments: &Value) -> Result<Value, Error> {
        self.ask("POST", "/execute/sync", &json!({"script": script, "args": arguments}))
    }

    /// Runs a script that ends by calling its last argument.
    pub fn script_that_calls_back(&self, script: &str) -> Result<Value, Error> {
        self.ask("POST", "/execute/async", &json!({"script": script, "args": []}))
    }

    /// Returns the text that a reader sees.
    pub fn text(&self) -> Result<String, Error> {
        let text = self.script("return document.body.innerText", &json!([]))?;
        Ok(text.as_str().unwrap_or_default().to_owned())
    }

    /// Waits until the page shows a text.
    pub fn wait_for(&self, text: &str) -> Result<(), Error> {
        self.wait_until(&format!("the page shows `{text}`"), |window| {
            Ok(window.text()?.contains(text))
        })
    }

    /// Waits until something holds.
    pub fn wait_until(
        &self,
        what: &str,
        holds: impl Fn(&Self) -> Result<bool, Error>,
    ) -> Result<(), Error> {
        for _ in 0..PATIENCE {
            if holds(self).unwrap_or(false) {
                return Ok(());
            }
            thread::sleep(STEP);
        }
        let shown = self.text().unwrap_or_default();
        Err(format!("waited in vain until {what}; the page shows:\n{shown}").into())
    }

    fn element(&self, selector: &str) -> Result<String, Error> {
        let found = json!({"using": "css selector", "value": selector});
        let found = self.ask("POST", "/element", &found)?;
        let id = found.as_object().and_then(|found| found.values().next()).and_then(Value::as_str);
        Ok(id.ok_or("no element")?.to_owned())
    }

    /// Clicks on the first element that a selector finds.
    pub fn click(&self, selector: &str) -> Result<(), Error> {
        let id = self.element(selector)?;
        self.ask("POST", &format!("/element/{id}/click"), &json!({})).map(drop)
    }

    /// Types into the first element that a selector finds.
    pub fn fill(&self, selector: &str, text: &str) -> Result<(), Error> {
        let id = self.element(selector)?;
        self.ask("POST", &format!("/element/{id}/value"), &json!({"text": text})).map(drop)
    }

    /// Presses keys, one after the other, wherever the focus is.
    pub fn press(&self, keys: &[&str]) -> Result<(), Error> {
        let press = |key: &&str| {
            [json!({"type": "keyDown", "value": key}), json!({"type": "keyUp", "value": key})]
        };
        let actions: Vec<_> = keys.iter().flat_map(press).collect();
        let actions = json!({"actions": [{"type": "key", "id": "keys", "actions": actions}]});
        self.ask("POST", "/actions", &actions).map(drop)
    }

    /// Gives the window another size.
    pub fn resize(&self, width: u32, height: u32) -> Result<(), Error> {
        let metrics = json!({"cmd": "Emulation.setDeviceMetricsOverride", "params": {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false,
        }});
        self.ask("POST", "/goog/cdp/execute", &metrics).map(drop)
    }

    /// Has the browser prefer dark or light colours.
    pub fn prefer(&self, scheme: &str) -> Result<(), Error> {
        let features = json!({"cmd": "Emulation.setEmulatedMedia", "params": {
            "features": [{"name": "prefers-color-scheme", "value": scheme}],
        }});
        self.ask("POST", "/goog/cdp/execute", &features).map(drop)
    }

    /// Gives the reader another time zone.
    pub fn zone(&self, name: &str) -> Result<(), Error> {
        let zone = json!({"cmd": "Emulation.setTimezoneOverride", "params": {"timezoneId": name}});
        self.ask("POST", "/goog/cdp/execute", &zone).map(drop)
    }

    /// Keeps a picture of the window.
    pub fn picture(&self, path: &Path) -> Result<(), Error> {
        let picture = self.ask("GET", "/screenshot", &Value::Null)?;
        let bytes = decoded(picture.as_str().unwrap_or_default()).ok_or("no picture")?;
        Ok(fs::write(path, bytes)?)
    }

    /// Returns a picture of what reaches from the first of some elements to the last one, with a margin.
    pub fn picture_of(&self, selectors: &[&str]) -> Result<Vec<u8>, Error> {
        let frame = "const boxes = arguments[0].map((one) => document.querySelector(one)\
                     .getBoundingClientRect()); const edge = (of, name) => \
                     Math.round(of(...boxes.map((box) => box[name])));\
                     const x = Math.max(0, edge(Math.min, 'left') + scrollX - 12);\
                     const y = Math.max(0, edge(Math.min, 'top') + scrollY - 12);\
                     return {x, y, width: Math.min(innerWidth, edge(Math.max, 'right') + scrollX + 12) - x, \
                     height: edge(Math.max, 'bottom') + scrollY + 12 - y, scale: 1}";
        let clip = self.script(frame, &json!([selectors]))?;
        let asked = json!({"cmd": "Page.captureScreenshot", "params": {
            "format": "png", "clip": clip, "captureBeyondViewport": true,
        }});
        let taken = self.ask("POST", "/goog/cdp/execute", &asked)?;
        Ok(decoded(taken["data"].as_str().unwrap_or_default()).ok_or("no picture")?)
    }

    /// Tells whether a page has opened a box, which only a script does.
    pub fn has_alert(&self) -> bool {
        self.ask("GET", "/alert/text", &Value::Null).is_ok()
    }

    /// Returns the address of every request since the last call.
    pub fn requests(&self) -> Result<Vec<String>, Error> {
        let log = self.ask("POST", "/se/log", &json!({"type": "performance"}))?;
        let mut found = Vec::new();
        for entry in log.as_array().into_iter().flatten() {
            let text = entry["message"].as_str().unwrap_or_default();
            let event: Value = serde_json::from_str(text).unwrap_or_default();
            if event["message"]["method"] == "Network.requestWillBeSent" {
                let address = event["message"]["params"]["request"]["url"].as_str();
                found.extend(address.map(str::to_owned));
            }
        }
        Ok(found)
    }

    /// Returns what the browser complained about since the last call.
    pub fn complaints(&self) -> Result<Vec<String>, Error> {
        let log = self.ask("POST", "/se/log", &json!({"type": "browser"}))?;
        let entries = log.as_array().into_iter().flatten();
        Ok(entries.filter_map(|entry| entry["message"].as_str().map(str::to_owned)).collect())
    }
}

impl Drop for Window<'_> {
    fn drop(&mut self) {
        self.ask("DELETE", "", &Value::Null).ok();
    }
}

/// Reads an answer to its end: chromedriver keeps the connection open.
fn read_body(answer: &mut impl BufRead) -> Result<String, Error> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if answer.read_line(&mut line)? == 0 {
            return Err("chromedriver gave no answer".into());
        }
        let line = line.trim().to_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
    }
    let mut body = vec![0; length];
    answer.read_exact(&mut body)?;
    Ok(String::from_utf8_lossy(&body).into_owned())
}

/// Decodes base64.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => Some(c - b'A'),
        b'a'..=b'z' => Some(c - b'a' + 26),
        b'0'..=b'9' => Some(c - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0_u32, 0);
    for c in text.bytes().filter(|c| *c != b'=') {
        bits = (bits << 6) | u32::from(digit(c)?);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from((bits >> held) & 0xff).ok()?);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_decoded() {
        assert_eq!(decoded("aGVsbG8="), Some(b"hello".to_vec()));
        assert_eq!(decoded("/+8="), Some(vec![0xff, 0xef]));
        assert_eq!(decoded("?"), None);
    }
}
