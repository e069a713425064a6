//! Receipts, case by case.

use proptest::prelude::*;

use super::*;

/// Ten lines.
const NOW: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";

/// A session in short: the reader, and the file. `answer` is the answer, and at `compaction` all
/// earlier text is forgotten.
fn session(events: &[&str]) -> (Vec<Read>, Option<usize>) {
    let mut reads = Vec::new();
    let mut answered = None;
    for (step, event) in events.iter().enumerate() {
        if *event == "answer" {
            answered = Some(step);
            continue;
        }
        if *event == "compaction" {
            continue;
        }
        let by =
            if event.starts_with("sub ") { FileReader::Subagent } else { FileReader::Answerer };
        let forgotten = events.iter().skip(step).position(|event| *event == "compaction");
        let forgotten = forgotten.map(|at| step + at);
        reads.push(Read {
            step,
            by,
            seen: seen(event.trim_start_matches("sub ")),
            forgotten,
            call: None,
        });
    }
    (reads, answered)
}

/// `LINES PATH`, with ` = TEXT` if the text is known and ` ~ TEXT` if the text contains it.
fn seen(event: &str) -> Seen {
    let (head, text) = match (event.split_once(" = "), event.split_once(" ~ ")) {
        (Some((head, text)), _) => (head, ShownText::Exactly(Arc::from(text))),
        (None, Some((head, text))) => (head, ShownText::Among(Arc::from(text))),
        (None, None) => (event, ShownText::Unknown),
    };
    let (what, path) = head.split_once(' ').unwrap();
    let path = path.to_owned();
    let lines = match (what, what.split_once('-')) {
        ("all", _) => Lines::Whole,
        ("some", _) => Lines::Some,
        ("last3", _) => Lines::Last(3),
        ("fail", _) => return Seen::Nothing { path },
        ("run", _) => return Seen::Perhaps { command: path, reach: Reach::Words },
        ("loop", _) => return Seen::Perhaps { command: path, reach: Reach::Anything },
        (_, Some((first, ""))) => Lines::Range { first: first.parse().unwrap(), last: Lines::END },
        (_, Some((first, last))) => {
            Lines::Range { first: first.parse().unwrap(), last: last.parse().unwrap() }
        }
        (_, None) => unreachable!("{event}"),
    };
    Seen::Lines { path, lines, text }
}

fn spans(lines: &[Span]) -> String {
    lines.iter().map(|span| format!(" {}-{}", span.first, span.last)).collect::<Vec<_>>().concat()
}

fn told(receipt: &Receipt) -> String {
    let standing = match &receipt.standing {
        ReadState::Whole => "whole".to_owned(),
        ReadState::Part { lines, of: Some(of) } => format!("part{} of {of}", spans(lines)),
        ReadState::Part { lines, of: None } => format!("part{}", spans(lines)),
        ReadState::Older { lines } => format!("older{}", spans(lines)),
        ReadState::Unsure => "unsure".to_owned(),
        ReadState::Forgotten => "forgotten".to_owned(),
        ReadState::OnlySubagent => "subagent".to_owned(),
        ReadState::OnlyAfterAnswer => "late".to_owned(),
        ReadState::OnlyNamesake { path } => format!("namesake {path}"),
        ReadState::NotRead { attempts } => format!("not read, tried {attempts}"),
    };
    let doubt = receipt.doubt.as_ref().map_or(String::new(), |doubt| format!(" ({doubt})"));
    standing + &doubt
}

fn judged(events: &[&str], now: Option<&str>) -> Receipt {
    let (reads, answered) = session(events);
    let now = now.map_or(Contents::Unknown, Contents::Text);
    let demanded = [Demanded { name: "spec", path: "/p/spec.md", now }];
    receipts(&demanded, &reads, answered).remove(0)
}

#[track_caller]
fn check(events: &[&str], expected: &str) {
    assert_eq!(told(&judged(events, Some(NOW))), expected, "{events:?}");
}

#[test]
fn shown_lines_add_up() {
    for (events, expected) in [
        (&["answer"][..], "not read, tried 0"),
        (&[], "not read, tried 0"),
        (&["all /p/spec.md", "answer"], "whole"),
        (&["all /p/spec.md"], "whole"),
        (&["1-5 /p/spec.md", "answer"], "part 1-5 of 10"),
        (&["1-5 /p/spec.md", "6-10 /p/spec.md", "answer"], "whole"),
        (&["6-99 /p/spec.md", "1-5 /p/spec.md", "answer"], "whole"),
        (&["1-4 /p/spec.md", "6-10 /p/spec.md", "answer"], "part 1-4 6-10 of 10"),
        (&["1- /p/spec.md"], "whole"),
        (&["2- /p/spec.md"], "part 2-10 of 10"),
        (&["1-9 /p/spec.md"], "part 1-9 of 10"),
        (&["last3 /p/spec.md"], "part 8-10 of 10"),
        (&["1-7 /p/spec.md", "last3 /p/spec.md"], "whole"),
        (&["0-10 /p/spec.md"], "whole"),
        (&["11-20 /p/spec.md"], "not read, tried 0"),
        (&["some /p/spec.md"], "part of 10"),
        (&["some /p/spec.md", "3-4 /p/spec.md"], "part 3-4 of 10"),
    ] {
        check(events, expected);
    }
}

#[test]
fn only_what_came_before_the_answer_counts() {
    for (events, expected) in [
        (&["answer", "all /p/spec.md"][..], "late"),
        (&["1-5 /p/spec.md", "answer", "6-10 /p/spec.md"], "part 1-5 of 10"),
        (&["all /p/other.md", "answer", "all /p/spec.md"], "late"),
        (&["answer", "run x spec.md"], "not read, tried 0"),
        (&["answer", "fail /p/spec.md"], "not read, tried 0"),
        (&["answer", "all /p/spec.md", "answer"], "whole"),
        (&["sub all /p/spec.md", "answer"], "subagent"),
        (&["sub all /p/spec.md", "1-2 /p/spec.md", "answer"], "part 1-2 of 10"),
        (&["sub run x spec.md", "answer"], "not read, tried 0"),
        (&["answer", "sub all /p/spec.md"], "late"),
    ] {
        check(events, expected);
    }
}

#[test]
fn only_the_file_itself_counts() {
    for (events, expected) in [
        (&["all /p/other.md"][..], "not read, tried 0"),
        (&["all /p/old/spec.md"], "namesake /p/old/spec.md"),
        (&["all /p/SPEC.md"], "namesake /p/SPEC.md"),
        (&["all /p/old/spec.md", "all /p/spec.md"], "whole"),
        (&["all /p/old/spec.md", "1-2 /p/spec.md"], "part 1-2 of 10"),
        (&["all /p/my-spec.md"], "not read, tried 0"),
        (&["all spec.md"], "unsure (spec.md)"),
        (&["all old/spec.md"], "namesake old/spec.md"),
        (&["fail /p/spec.md"], "not read, tried 1"),
        (&["fail /p/spec.md", "fail /p/spec.md", "answer"], "not read, tried 2"),
        (&["fail /p/spec.md", "all /p/spec.md"], "whole"),
        (&["fail /p/spec.md", "all /p/old/spec.md"], "namesake /p/old/spec.md"),
    ] {
        check(events, expected);
    }
}

#[test]
fn a_doubtful_command_is_neither_proof_nor_its_absence() {
    for (events, expected) in [
        (&["run python3 x.py spec.md", "answer"][..], "unsure (python3 x.py spec.md)"),
        (&["run python3 x.py plan.md", "answer"], "not read, tried 0"),
        (&["run cat *.md", "answer"], "unsure (cat *.md)"),
        (&["run cat *.txt", "answer"], "not read, tried 0"),
        (&["loop cat $f", "answer"], "unsure (cat $f)"),
        (&["loop cat $f", "all /p/spec.md"], "whole (cat $f)"),
        (&["1-2 /p/spec.md", "run jq . spec.md"], "part 1-2 of 10 (jq . spec.md)"),
        (&["run jq . spec.md", "answer", "all /p/spec.md"], "unsure (jq . spec.md)"),
        (&["run jq . spec.md", "all /p/old/spec.md"], "unsure (jq . spec.md)"),
        (&["run jq . spec.md", "fail /p/spec.md"], "unsure (jq . spec.md)"),
    ] {
        check(events, expected);
    }
}

#[test]
fn an_older_version_differs_from_this_one() {
    let whole = format!("all /p/spec.md = {NOW}");
    let longer = format!("all /p/spec.md = {NOW}11\n");
    let among = format!("all /p/spec.md ~ --\n{NOW}--\n");
    let padded = format!("all /p/spec.md = \n\n{NOW}\n");
    let windows = format!("all /p/spec.md = {}", NOW.replace('\n', "\r\n"));
    for (events, expected) in [
        (&[whole.as_str(), "answer"][..], "whole"),
        (&[whole.trim_end()], "whole"),
        (&[windows.as_str()], "whole"),
        (&[padded.as_str()], "whole"),
        (&[among.as_str()], "whole"),
        (&[longer.as_str()], "older 1-10"),
        (&["all /p/spec.md = 1\n2\n"], "older 1-10"),
        (&["all /p/spec.md ~ other text"], "older 1-10"),
        (&["all /p/spec.md = 1\n2\n", whole.as_str()], "whole"),
        (&[whole.as_str(), "all /p/spec.md = 1\n2\n"], "whole"),
        (&["2-3 /p/spec.md = 2\n3"], "part 2-3 of 10"),
        (&["2-3 /p/spec.md = 2\nx"], "older 2-3"),
        (&["2-3 /p/spec.md = 2\nx", "5-6 /p/spec.md = 5\n6"], "older 2-3"),
        (&["1-5 /p/spec.md = 1\n2\n3\n4\n5", "6-10 /p/spec.md = 6\n7\n8\n9\n10\n"], "whole"),
        (&["12-13 /p/spec.md = x\ny"], "older"),
        // A command that was never reached, or whose output went elsewhere, showed nothing.
        (&["all /p/spec.md = "], "not read, tried 1"),
        (&["all /p/spec.md ~ \n\n"], "not read, tried 1"),
        (&["some /p/spec.md = "], "not read, tried 1"),
        (&["2-3 /p/spec.md = ", "1-1 /p/spec.md = 1"], "part 1-1 of 10"),
        (&["some /p/spec.md = anything"], "part of 10"),
        (&["2-3 /p/spec.md = 2\nx", "answer", whole.as_str()], "older 2-3"),
    ] {
        check(events, expected);
    }
}

#[test]
fn a_file_that_is_empty_or_gone_can_have_been_read() {
    for (events, now, expected) in [
        (&["all /p/spec.md = "][..], Some(""), "whole"),
        (&["all /p/spec.md"], Some(""), "whole"),
        (&["all /p/spec.md = x"], Some(""), "older"),
        (&[], Some(""), "not read, tried 0"),
        (&["all /p/spec.md"], None, "whole"),
        (&["1-5 /p/spec.md = x"], None, "part 1-5"),
        (&["2- /p/spec.md = x"], None, "part"),
        (&["1-5 /p/spec.md", "6-9 /p/spec.md"], None, "part 1-9"),
    ] {
        assert_eq!(told(&judged(events, now)), expected, "{events:?}");
    }
}

#[test]
fn the_whole_text_is_kept_as_it_was_read() {
    let whole = format!("all /p/spec.md = {}", NOW.trim_end());
    for (events, expected) in [
        (&[whole.as_str()][..], Some(NOW)),
        (&["all /p/spec.md = older\n"], Some("older\n")),
        (&["all /p/spec.md = older\n", whole.as_str()], Some(NOW)),
        (&["all /p/spec.md"], None),
        (&["1-5 /p/spec.md = 1\n2\n3\n4\n5"], None),
        (&["answer", whole.as_str()], None),
    ] {
        assert_eq!(judged(events, Some(NOW)).shown_whole.as_deref(), expected, "{events:?}");
    }
}

#[test]
fn what_a_compaction_took_away_is_forgotten() {
    for (events, expected) in [
        (&["all /p/spec.md", "compaction", "answer"][..], "forgotten"),
        (&["all /p/spec.md", "compaction"], "forgotten"),
        (&["all /p/spec.md", "answer", "compaction"], "whole"),
        (&["all /p/spec.md", "compaction", "all /p/spec.md", "answer"], "whole"),
        (&["all /p/spec.md", "compaction", "1-5 /p/spec.md", "answer"], "forgotten"),
        (&["1-5 /p/spec.md", "compaction", "6-10 /p/spec.md", "answer"], "forgotten"),
        (&["1-5 /p/spec.md", "compaction", "6-9 /p/spec.md", "answer"], "part 6-9 of 10"),
        (&["1-5 /p/spec.md", "compaction", "answer"], "forgotten"),
        (&["1-5 /p/spec.md", "compaction", "run jq . spec.md"], "unsure (jq . spec.md)"),
        (&["run jq . spec.md", "compaction", "answer"], "not read, tried 0"),
        (&["fail /p/spec.md", "compaction", "answer"], "not read, tried 1"),
    ] {
        check(events, expected);
    }
}

#[test]
fn bytes_that_are_not_utf_8_are_proven_by_a_known_reading_alone() {
    let readings = ["na\u{fffd}ve plan\n", "na\u{ef}ve plan\n"].map(str::to_owned);
    for (events, expected) in [
        (&["all /p/spec.md = na\u{fffd}\u{fffd}ve plan"][..], "whole"),
        (&["all /p/spec.md = naïve plan"], "whole"),
        (&["all /p/spec.md = anything"], "unsure"),
        (&["all /p/spec.md ~ anything"], "unsure"),
        (&["all /p/spec.md"], "unsure"),
        (&["all /p/spec.md = "], "not read, tried 1"),
        (&["all /p/spec.md = anything", "all /p/spec.md = naïve plan"], "whole"),
        (&[], "not read, tried 0"),
    ] {
        let (reads, answered) = session(events);
        let now = Contents::Other(&readings);
        let demanded = [Demanded { name: "spec", path: "/p/spec.md", now }];
        let receipt = receipts(&demanded, &reads, answered).remove(0);
        assert_eq!(told(&receipt), expected, "{events:?}");
    }
}

#[test]
fn lines_that_the_client_cut_are_not_read() {
    let cut = |text: &str| Seen::Lines {
        path: "/p/spec.md".to_owned(),
        lines: Lines::Whole,
        text: ShownText::Cut(Arc::from(text)),
    };
    let lines = NOW.replace("7\n", "7… (cut)\n");
    for (text, expected) in [
        (NOW, "whole"),
        (&lines, "part 1-6 8-10 of 10"),
        ("something else", "part of 10"),
        ("", "not read, tried 1"),
    ] {
        let read = Read {
            step: 0,
            by: FileReader::Answerer,
            seen: cut(text),
            forgotten: None,
            call: None,
        };
        let now = Contents::Text(NOW);
        let demanded = [Demanded { name: "spec", path: "/p/spec.md", now }];
        assert_eq!(told(&receipts(&demanded, &[read], None)[0]), expected, "{text:?}");
    }
}

#[test]
fn a_picture_shows_no_text() {
    let seen = Seen::Lines { path: "/p/x".to_owned(), lines: Lines::Whole, text: ShownText::Image };
    let read = Read { step: 0, by: FileReader::Answerer, seen, forgotten: None, call: None };
    let bytes = ["\u{fffd}PNG".to_owned()];
    for (now, expected) in [
        (Contents::Text(NOW), "not read, tried 1"),
        (Contents::Other(&bytes), "whole"),
        (Contents::Unknown, "whole"),
    ] {
        let demanded = [Demanded { name: "x", path: "/p/x", now }];
        assert_eq!(
            told(&receipts(&demanded, std::slice::from_ref(&read), None)[0]),
            expected,
            "{now:?}"
        );
    }
}

#[test]
fn an_output_tells_whether_a_doubtful_command_showed_lines() {
    let long: Vec<_> = (1..=9).map(|n| format!("The {n}th rule of the house is kept.")).collect();
    let now = long.join("\n");
    let maybe = |lines: Lines, output: &str| Seen::Maybe {
        path: "/p/spec.md".to_owned(),
        lines,
        text: ShownText::Among(Arc::from(output)),
        command: "sed spec.md".to_owned(),
    };
    let first = Lines::Range { first: 1, last: 4 };
    let (top, framed) = (long[..4].join("\n"), format!("Output: {now}\nPID: 1"));
    for (lines, output, expected) in [
        (Lines::Whole, framed.as_str(), "whole"),
        (first, &framed, "part 1-4 of 9"),
        (first, &top, "part 1-4 of 9"),
        (Lines::Whole, &top, "part 1-4 of 9 (sed spec.md)"),
        (Lines::Whole, "", "unsure (sed spec.md)"),
        // One line may be there by chance.
        (Lines::Whole, &long[0], "unsure (sed spec.md)"),
        (Lines::Some, &framed, "part 2-9 of 9 (sed spec.md)"),
    ] {
        let seen = maybe(lines, output);
        let read = Read { step: 0, by: FileReader::Answerer, seen, forgotten: None, call: None };
        let demanded = [Demanded { name: "spec", path: "/p/spec.md", now: Contents::Text(&now) }];
        assert_eq!(told(&receipts(&demanded, &[read], None)[0]), expected, "{lines:?} {output}");
    }
}

#[test]
fn every_demanded_file_has_its_receipt() {
    let (reads, answered) = session(&["all /p/a.md", "1-2 /p/b.md", "answer", "all /p/c.md"]);
    let demanded = ["a", "b", "c", "d"].map(|name| (name, format!("/p/x/../{name}.md")));
    let demanded =
        demanded.each_ref().map(|(name, path)| Demanded { name, path, now: Contents::Text(NOW) });
    let told: Vec<_> = receipts(&demanded, &reads, answered)
        .iter()
        .map(|receipt| receipt.name.clone() + " " + &told(receipt))
        .collect();
    assert_eq!(told, ["a whole", "b part 1-2 of 10", "c late", "d not read, tried 0"]);
}

proptest! {
    // Another read never removes lines from those read.
    #[test]
    fn another_read_never_unreads(first in 1_usize..12, length in 0_usize..12, other in 1_usize..12) {
        let events = [format!("{first}-{} /p/spec.md", first + length), format!("{other}-{other} /p/spec.md")];
        let count = |lines: &[Span]| lines.iter().map(|span| span.last + 1 - span.first).sum::<usize>();
        let lines = |events: &[&str]| {
            let standing = judged(events, Some(NOW)).standing;
            if let ReadState::Part { lines, .. } = &standing {
                return count(lines);
            }
            let read = if standing == ReadState::Whole { 10 } else { 0 };
            assert!(read == 10 || standing == ReadState::NotRead { attempts: 0 });
            read
        };
        prop_assert!(lines(&[&events[0], &events[1]]) >= lines(&[&events[0]]));
        prop_assert!(lines(&[&events[0], &events[1]]) <= 10);
    }

    #[test]
    fn any_text_can_be_compared(now in any::<String>(), shown in any::<String>(), first in 0_usize..5, last in 0_usize..5) {
        for text in [ShownText::Exactly(Arc::from(shown.as_str())), ShownText::Among(Arc::from(shown.as_str()))] {
            for lines in [Lines::Whole, Lines::Range { first, last }, Lines::Last(last), Lines::Some] {
                let seen = Seen::Lines { path: "/a".to_owned(), lines, text: text.clone() };
                let read = Read { step: 0, by: FileReader::Answerer, seen, forgotten: None, call: None };
                receipts(&[Demanded { name: "a", path: "/a", now: Contents::Text(&now) }], &[read], None);
            }
        }
    }
}
