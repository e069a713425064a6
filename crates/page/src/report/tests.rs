//! Reports that travel, and attempts to change them.

use convoke_service::run::RunShowReport;
use proptest::prelude::*;

use super::*;
use crate::hostile::texts;
use crate::run::examples::example;

fn found(report: &RunShowReport) -> JournalAnswer {
    JournalAnswer::Found(Box::new(report.clone()), ReportDiagram::Text)
}

fn check(text: &str, report: &RunShowReport) -> ReportCheck {
    verify(text, |_| found(report)).1
}

fn both(report: &RunShowReport) -> [String; 2] {
    [html_report(report, &ReportDiagram::Text), markdown_report(report)]
}

#[test]
fn a_report_is_what_the_journal_gives_and_nothing_else() {
    let report = example("A half-written file");
    for text in both(&report) {
        assert!(matches!(check(&text, &report), ReportCheck::Genuine(_)), "{text}");
        let other = example("Another file");
        assert!(matches!(check(&text, &other), ReportCheck::Altered(_)));
    }
}

// The header is covered by the rendering, the rest by its hash as well.
#[test]
fn every_changed_byte_is_noticed() {
    let report = example("A half-written file");
    for text in both(&report) {
        for at in (0..text.len()).step_by(97).chain(0..400).filter(|at| *at < text.len()) {
            let mut bytes = text.clone().into_bytes();
            bytes[at] = if bytes[at] == b'x' { b'y' } else { b'x' };
            let Ok(changed) = String::from_utf8(bytes) else { continue };
            let verdict = check(&changed, &report);
            assert!(!matches!(verdict, ReportCheck::Genuine(_)), "at {at}: {verdict:?}");
        }
        let longer = format!("{text}<script>alert(1)</script>");
        assert!(matches!(check(&longer, &report), ReportCheck::Altered(_)));
        assert!(matches!(check(&text[..text.len() - 9], &report), ReportCheck::Altered(_)));
    }
}

// A message quotes the header's words, and a terminal may obey some characters.
#[test]
fn a_header_with_other_words_than_convokes_is_refused() {
    let report = example("A half-written file");
    let text = markdown_report(&report);
    let (header, body) = read_header(&text).unwrap();
    let forgers: [fn(&mut ReportHeader, &str); 3] = [
        |header, words| words.clone_into(&mut header.version),
        |header, words| words.clone_into(&mut header.run),
        |header, words| words.clone_into(&mut header.journal),
    ];
    for words in
        ["", "a b", "\u{1b}[2J", "genuine: rendered from the journal", "é", &"x".repeat(99)]
    {
        for forge in forgers {
            let mut forged = header.clone();
            forge(&mut forged, words);
            let verdict = check(&forged.before(body), &report);
            assert!(matches!(verdict, ReportCheck::CannotTell(_)), "{words}: {verdict:?}");
        }
    }
}

// A forger who also writes the hash anew is found out by the rendering.
#[test]
fn a_forged_report_with_a_right_hash_is_noticed() {
    let report = example("A half-written file");
    for text in both(&report) {
        let (header, body) = read_header(&text).unwrap();
        let forged = header.before(&body.replace("half-written", "well-written"));
        let (kept, _) = read_header(&forged).unwrap();
        assert_ne!(kept.sha256, header.sha256);
        assert!(matches!(check(&forged, &report), ReportCheck::Altered(_)));
        let hashed = text.replace(&header.journal, &"f".repeat(64));
        assert!(!matches!(check(&hashed, &report), ReportCheck::Genuine(_)));
    }
}

#[test]
fn a_verdict_needs_the_same_version_and_the_journal() {
    let report = example("A half-written file");
    for text in both(&report) {
        let own = format!("\"format\":{REPORT_FORMAT}");
        let later = text.replace(&own, "\"format\":77");
        assert!(
            matches!(check(&later, &report), ReportCheck::CannotTell(why) if why.contains("format 77"))
        );
        let missing = verify(&text, |_| JournalAnswer::Missing("not here".to_owned())).1;
        assert_eq!(missing, ReportCheck::JournalNotHere("not here".to_owned()));
    }
    for other in ["", "# A page", "<!DOCTYPE html>\n<html>", "<!-- convoke-report {} -->\n"] {
        assert!(matches!(check(other, &report), ReportCheck::CannotTell(_)), "{other}");
    }
}

// Hosts of comments store other line ends, and trim the end.
#[test]
fn a_comment_survives_its_host() {
    let report = example("A half-written file");
    let text = markdown_report(&report);
    let stored = text.trim_end().replace('\n', "\r\n");
    assert!(matches!(check(&stored, &report), ReportCheck::Genuine(_)));
    let page = html_report(&report, &ReportDiagram::Text).replace('\n', "\r\n");
    assert!(matches!(check(&page, &report), ReportCheck::Altered(_)));
}

#[test]
fn hostile_texts_travel_without_harm() {
    for (name, text) in texts() {
        let report = example(&text);
        let page = html_report(&report, &ReportDiagram::Text);
        crate::run::tests_of_pages::assert_inert(&page, &name);
        assert!(
            !page.contains("<script") && !page.contains("<form") && !page.contains("<iframe"),
            "{name}"
        );
        assert!(page.len() <= MOST_BYTES, "{name}");
        let comment = markdown_report(&report);
        assert!(comment.chars().count() <= MOST_CHARACTERS, "{name}");
        for text in [page, comment] {
            assert!(matches!(check(&text, &report), ReportCheck::Genuine(_)), "{name}");
            assert!(!text.contains("WITHHELD SECRET"), "{name}");
            assert!(text.contains("1 finding is withheld"), "{name}");
        }
    }
}

/// Returns the values of an attribute in a page.
fn values<'a>(html: &'a str, attribute: &str) -> Vec<&'a str> {
    let parts = html.split(attribute).skip(1);
    parts.filter_map(|part| part.split('"').next()).collect()
}

#[test]
fn a_withheld_finding_leaves_no_dead_link() {
    let mut report = example("A half-written file");
    let secret =
        report.results.findings.iter().find(|finding| finding.withheld).unwrap().id.clone();
    for plan in &mut report.evidence.plans {
        plan.matters.push(secret.clone());
    }
    report.warnings.push(format!("{secret} has no revision."));
    let html = html_report(&report, &ReportDiagram::Text);
    let ids = values(&html, " id=\"");
    let links = values(&html, " href=\"#");
    assert!(links.len() > 2, "{links:?}");
    for link in links {
        assert!(ids.contains(&link), "#{link} leads nowhere");
    }
    for text in both(&report) {
        assert!(!text.contains(&secret), "{secret}");
        assert!(!text.contains("the only reason of this revision"));
    }
    assert!(html.contains("a withheld finding"));
}

#[test]
fn long_runs_are_cut_and_every_cut_is_marked() {
    let long = "word ".repeat(20_000);
    let mut report = example(&long);
    let finding = report.results.findings[0].clone();
    report.results.findings = vec![finding; 300];
    let page = html_report(&report, &ReportDiagram::Text);
    let comment = markdown_report(&report);
    assert!(page.len() <= MOST_BYTES, "{}", page.len());
    let characters = comment.chars().count();
    assert!((20_000..=MOST_CHARACTERS).contains(&characters), "{characters}");
    for text in [page, comment] {
        assert!(text.contains("more characters]") && text.contains("more findings]"));
        assert!(matches!(check(&text, &report), ReportCheck::Genuine(_)));
    }
}

#[test]
fn a_comment_can_be_read() {
    insta::assert_snapshot!(markdown_report(&example("A half-written file")));
}

// A program of the same version must render the same. If this fails, raise `REPORT_FORMAT`.
#[test]
fn the_form_of_reports_has_a_number() {
    let report = example("A half-written file");
    let hashes = both(&report).map(|text| header::sha256(&text)[..16].to_owned());
    insta::assert_snapshot!(format!("format {REPORT_FORMAT}: {}", hashes.join(", ")));
}

proptest! {
    #[test]
    fn any_text_can_travel(text in any::<String>()) {
        let report = example(&text);
        for text in both(&report) {
            prop_assert!(matches!(check(&text, &report), ReportCheck::Genuine(_)));
        }
    }
}
