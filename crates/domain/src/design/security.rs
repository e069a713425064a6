//! Finds observations that may concern security, by the reviewers' words. Withholding one too many
//! is better than publishing one vulnerability.

use std::collections::HashMap;

use crate::markdown::fence::{FenceLine, Fences};
use crate::markdown::{bare, lines};

/// Parts of words that make a text a matter of security. In code they are only names.
const PROSE: [&str; 149] = [
    "security",
    "vulnerab",
    "exploit",
    "injection",
    "traversal",
    "credential",
    "secret",
    "password",
    "passphrase",
    "passwd",
    "api key",
    "api-key",
    "apikey",
    "private key",
    "access key",
    "signing key",
    "ssh key",
    "encryption key",
    "privilege",
    "bypass",
    "code execution",
    "cve-",
    "deseriali",
    "unserializ",
    "unpickl",
    "untrusted",
    "attacker",
    "malicious",
    "hostile",
    "adversar",
    "arbitrary code",
    "arbitrary command",
    "arbitrary file",
    "arbitrary sql",
    "arbitrary path",
    "remote code",
    "sanitiz",
    "sanitis",
    "unescaped",
    "not escaped",
    "without escaping",
    "html escap",
    "shell escap",
    "unvalidated",
    "not validated",
    "without validat",
    "certificate",
    "man-in-the-middle",
    "man in the middle",
    "spoof",
    "tamper",
    "forge",
    "phish",
    "authenti",
    "authoriz",
    "authoris",
    "unauth",
    "permission",
    "access control",
    "access check",
    "login",
    "cookie",
    "open redirect",
    "session fixation",
    "hijack",
    "personal data",
    "privacy",
    "encrypt",
    "decrypt",
    "crypto",
    "cipher",
    "plaintext",
    "plain text",
    "cleartext",
    "clear text",
    "predictable",
    "brute-force",
    "brute force",
    "denial of service",
    "zip bomb",
    "zip slip",
    "billion laughs",
    "external entit",
    "use-after-free",
    "use after free",
    "buffer overflow",
    "out-of-bounds",
    "out of bounds",
    "double free",
    "memory safety",
    "memory-unsafe",
    "sandbox",
    "escalat",
    "backdoor",
    "supply chain",
    "typosquat",
    "dependency confusion",
    "prototype pollution",
    "clickjack",
    "timing attack",
    "constant-time",
    "constant time",
    "side-channel",
    "side channel",
    "world-writable",
    "world writable",
    "world-readable",
    "world readable",
    "symlink",
    "shell command",
    "bearer",
    "sicherheit",
    "schwachstelle",
    "passwort",
    "geheim",
    "angreifer",
    "verschlüssel",
    "vertrauenswürdig",
    "berechtigung",
    "zertifikat",
    "sécurité",
    "vulnérab",
    "mot de passe",
    "attaquant",
    "chiffr",
    "malveillan",
    "seguridad",
    "contraseña",
    "atacante",
    "malicios",
    "segurança",
    "senha",
    "sicurezza",
    "безопасност",
    "уязвим",
    "пароль",
    "злоумышлен",
    "安全",
    "漏洞",
    "密码",
    "密碼",
    "攻击",
    "攻擊",
    "セキュリティ",
    "脆弱",
    "パスワード",
    "보안",
    "취약",
    "비밀번호",
];

/// Words that count only as whole words: `author` is not `auth`.
const WHOLE: [&str; 30] = [
    "xss", "csrf", "ssrf", "rce", "dos", "redos", "xxe", "idor", "mitm", "tls", "ssl", "cors",
    "csp", "hsts", "jwt", "hmac", "pii", "gdpr", "toctou", "auth", "oauth", "nonce", "salt",
    "eval", "unsafe", "insecure", "sudo", "setuid", "md5", "sha1",
];

/// Calls and settings that often cause vulnerabilities. Reviewers write these as code, so code is
/// searched, too.
const SINKS: [&str; 49] = [
    "pickle",
    "marshal.load",
    "yaml.load",
    "yaml.unsafe",
    "unsafe_load",
    "shell=true",
    "shell = true",
    "shell: true",
    "os.system",
    "os.popen",
    "child_process",
    "eval(",
    "exec(",
    "execfile(",
    "system(",
    "readobject",
    "objectinputstream",
    "binaryformatter",
    "unserialize(",
    "innerhtml",
    "dangerouslysetinnerhtml",
    "document.write",
    "v-html",
    "verify=false",
    "verify = false",
    "verify_mode",
    "cert_none",
    "insecureskipverify",
    "rejectunauthorized",
    "ssl_verify",
    "sslverify",
    "strict_ssl",
    "node_tls_reject",
    "--insecure",
    "curl -k",
    "no-check-certificate",
    "stricthostkeychecking",
    "mktemp(",
    "0777",
    "0o777",
    "chmod 777",
    "../",
    "/etc/passwd",
    "/etc/shadow",
    ".ssh/",
    "id_rsa",
    "aws_secret",
    "akia",
    "-----begin",
];

/// Words that make a matter of security only together: one of the first beside one of the second, in
/// one paragraph.
const TOGETHER: [(&[&str], &[&str]); 8] = [
    (
        &["sql", "query", "statement", "where"],
        &[
            "concat",
            "interpolat",
            "f-string",
            "format string",
            "string format",
            "built from",
            "builds from",
            "from strings",
            "from a string",
            "by hand",
            "user input",
            "user-supplied",
            "user supplied",
            "pasted",
            "glued",
            "%s",
            "unparameter",
            "parameteri",
            "placeholder",
            "quoting",
        ],
    ),
    (
        &["path", "filename", "file name", "archive", "upload", "download"],
        &[
            "outside",
            "escape",
            "absolute",
            "..",
            "user-supplied",
            "user supplied",
            "from the user",
            "from the request",
            "unchecked",
        ],
    ),
    (
        &["shell", "subprocess", "command"],
        &[
            "user input",
            "user-supplied",
            "user supplied",
            "interpolat",
            "concat",
            "quoting",
            "unquoted",
            "built from",
            "from the request",
            "untrusted",
        ],
    ),
    (
        &["token", " key", "session"],
        &[
            "leak",
            " log",
            " plain",
            "hard-coded",
            "hardcoded",
            "hard coded",
            "committed",
            "in the repo",
            "exposed",
            "expose",
            "printed",
            "prints",
            "bearer",
            "access",
            "expir",
            "revok",
            "steal",
            "stolen",
            "guess",
        ],
    ),
    (&["hard-coded", "hardcoded", "hard coded"], &["key", "token", "account", "user", "login"]),
    (
        &["leak", "expose", "disclos"],
        &[
            "user",
            "customer",
            "personal",
            "private",
            "email",
            "data",
            "key",
            "session",
            "environment",
        ],
    ),
    (&["random"], &["guess", "weak", "seed", "token"]),
    (&["http://", "http"], &["unencrypted", "instead of https", "without https", "plain http"]),
];

/// Tells whether a text may be about security. `focus-area=security` in code does not count.
pub(super) fn may_be_about_security(text: &str) -> bool {
    let whole = text.to_lowercase();
    let prose = without_code(text).to_lowercase();
    let holds = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    let is_both = |paragraph: &str| {
        TOGETHER.iter().any(|(first, second)| holds(paragraph, first) && holds(paragraph, second))
    };
    holds(&prose, &PROSE)
        || prose.split(|c: char| !c.is_alphanumeric()).any(|word| WHOLE.contains(&word))
        || holds(&whole, &SINKS)
        || prose.split("\n\n").any(is_both)
}

/// Removes fenced code and code within a line. Code that runs over a line's end, and a fence that
/// is never closed, do not count as code: an author could hide a word that way.
fn without_code(text: &str) -> String {
    let mut fences = Fences::default();
    let mut prose = String::with_capacity(text.len());
    let mut code = String::new();
    for line in lines(text) {
        match fences.feed(bare(line)) {
            FenceLine::Outside => push_prose(line, &mut prose),
            FenceLine::Opens | FenceLine::Body => code.push_str(line),
            FenceLine::Closes => code.clear(),
        }
    }
    // The rest is in a fence that is never closed.
    prose + &code
}

fn push_prose(line: &str, prose: &mut String) {
    let mut runs = Vec::new();
    let mut at = 0;
    while let Some(found) = line[at..].find('`') {
        let start = at + found;
        let length = line[start..].len() - line[start..].trim_start_matches('`').len();
        runs.push((start, length));
        at = start + length;
    }
    // A span ends at the next run of the same length.
    let mut later = HashMap::new();
    let mut ends = vec![None; runs.len()];
    for (index, (_, length)) in runs.iter().enumerate().rev() {
        ends[index] = later.insert(*length, index);
    }
    let (mut index, mut copied) = (0, 0);
    while index < runs.len() {
        if let Some(end) = ends[index] {
            prose.push_str(&line[copied..runs[index].0]);
            copied = runs[end].0 + runs[end].1;
            index = end;
        }
        index += 1;
    }
    prose.push_str(&line[copied..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    // P-286
    #[test]
    fn holes_in_plain_words_and_in_code_are_recognised() {
        for text in [
            "`load_state` calls `pickle.loads` on the uploaded file.",
            "The loader unpickles what a client sends.",
            "`config.py` runs `eval` on the expression: `eval(expr)`.",
            "The filter is given to eval.",
            "`yaml.load(text)` without a safe loader.",
            "`subprocess.run(cmd, shell=True)` gets the branch's name.",
            "The SQL in `find` is built from strings.",
            "The query concatenates the name that the user typed.",
            "A file name from the request can point outside of the folder.",
            "`open(base + \"../../etc\")` works.",
            "The API key is hard-coded in `client.py`.",
            "The hard-coded account of the demo still works.",
            "`requests.get(url, verify=False)` in the updater.",
            "The client does not check the certificate of the server.",
            "TLS is off in the updater.",
            "The session token is printed to the log.",
            "Die Zugangsdaten und das Passwort stehen im Protokoll.",
            "Le mot de passe est écrit dans le journal.",
            "上传的文件名没有检查，存在安全问题。",
            "Permissions of the socket are 0777.",
            "MD5 for signatures.",
        ] {
            assert!(may_be_about_security(text), "{text}");
        }
        for text in [
            "The loop is slow.",
            "The author of the log should be named.",
            "Evaluate whether the source can be read twice.",
            "The token budget in `brief.rs` is off by one.",
            "The log in src/log.rs:1-9 is never rotated.",
            "Rename `path_of` to `path`.",
            "Retries in a tight loop, src/d.rs:40-61",
        ] {
            assert!(!may_be_about_security(text), "{text}");
        }
    }
}
