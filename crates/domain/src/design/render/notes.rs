//! Notes of a design as lines.

use crate::design::event::Settings;
use crate::design::matter::{MatterId, MatterVerdict};
use crate::design::notice::{DesignNote, ReasonDisplay};
use crate::design::outcome;
use crate::design::progress::{Breadcrumbs, Step};
use crate::design::quote;
use crate::design::settled::NotAsked;
use crate::design::voting_block::Poll;

use super::warnings::after_votes;

/// Renders a note.
pub(super) fn note(note: &DesignNote, settings: &Settings, crumbs: &Breadcrumbs) -> String {
    match note {
        DesignNote::SetUp(note) => note.line(),
        DesignNote::Refused(line) => line.clone(),
        DesignNote::AfterVotes { who, words } => after_votes(who, words),
        DesignNote::Rehearsal => "**ℹ This is a rehearsal: every answer was recorded.**".to_owned(),
        DesignNote::AsksAgain { why } => format!("**ℹ Resumed: {why}. Asking again.**"),
        DesignNote::Agreed { titles } => agreed(titles),
        DesignNote::NotAsked(poll, not_asked) => missing_votes(*poll, not_asked),
        DesignNote::PlanCitations { places } => {
            format!("**ℹ The plan cites what is not there: {places}.**")
        }
        DesignNote::MoreQuestions(count) => {
            let (here, next) = (crumbs.place(Step::Questions), Step::DiscussionOne.number());
            format!("ℹ {here} — {count} more in step {next}")
        }
        DesignNote::AnsweredByCode(round, decision) => {
            let (place, title) = (crumbs.place(round.step()), quote::line(&decision.title));
            format!("ℹ {place} — {title}: {} (by the code)", quote::line(&decision.resolution))
        }
        DesignNote::Deferred(round) => round.deferral().to_owned(),
        DesignNote::LeftOut { noun, asides } => {
            format!("**ℹ The chair's {noun}: left out {}.**", asides.join(", "))
        }
        DesignNote::ChangedPlan(changes) => format!("**ℹ The chair's plan: {changes}.**"),
        DesignNote::WorkerFailed { why, folder } => worker_failed(why, folder, settings, crumbs),
        DesignNote::DiagramRejected => {
            "**⚠ Architecture diagram unavailable (rejected by sanitizer).**".to_owned()
        }
        DesignNote::DiagramMissing => {
            "**⚠ Architecture diagram unavailable (Step 3b generation failed in subagent).**"
                .to_owned()
        }
        DesignNote::NothingRejected => "## Plan Review — All Suggestions Implemented".to_owned(),
        DesignNote::AllRejected => outcome::ALL_REJECTED.to_owned(),
        DesignNote::NotExported { folder } => {
            let place = crumbs.place(Step::Cleanup);
            format!(
                "**⚠ {place} — design manifest export failed. Parent /implement will rerun \
                 /design. Preserving {folder} for inspection.**"
            )
        }
        DesignNote::NotExportedAgain { why, seconds } => {
            let text = format!("design manifest export failed: {}", quote::line(why));
            crumbs.warning(Step::Decisions, &text, *seconds)
        }
        DesignNote::Withheld { findings, accepted } => withheld(findings, *accepted),
        DesignNote::Undecided(matters) => undecided(matters),
        DesignNote::Ruled { ruling, reason } => {
            let because = match reason {
                ReasonDisplay::Shown => format!(": {}", quote::line(&ruling.because)),
                ReasonDisplay::Withheld => String::new(),
            };
            format!("**ℹ A person {} {}{because}**", ruling.choice.past(), ruling.matter)
        }
        DesignNote::RulingChanged { before, after } => {
            format!("**ℹ {}**", before.changed_to(after))
        }
    }
}

fn agreed(titles: &[String]) -> String {
    let titles: Vec<_> = titles.iter().map(|title| format!("\"{}\"", quote::line(title))).collect();
    format!("**ℹ All sketches agree, so no agent debates: {}.**", titles.join(", "))
}

fn missing_votes(poll: Poll, not_asked: &NotAsked) -> String {
    let NotAsked { seats, saved_tokens } = not_asked;
    let noun = match poll {
        Poll::Judges => "judge",
        Poll::Voters => "voter",
    };
    let plural = if seats.len() == 1 { "" } else { "s" };
    let saved =
        saved_tokens.map_or("unknown".to_owned(), |tokens| format!("about {tokens} tokens"));
    format!(
        "**ℹ Not asked: {noun}{plural} {}. No vote of theirs could change a result; saved: {saved}.**",
        seats.join(", ")
    )
}

fn worker_failed(why: &str, folder: &str, settings: &Settings, crumbs: &Breadcrumbs) -> String {
    let place = crumbs.place(Step::Sketches);
    let then = if settings.nested {
        "No design manifest will be exported. Parent /implement will see MANIFEST_FAILED at Step 1 \
         and re-invoke /design."
            .to_owned()
    } else {
        format!("Preserving {folder} for inspection.")
    };
    format!("**⚠ {place} — heavy worker subagent failed: {why}. {then}**")
}

fn withheld(findings: &[MatterId], accepted: usize) -> String {
    let count = findings.len();
    let noun = if count == 1 { "finding" } else { "findings" };
    let ids: Vec<_> = findings.iter().map(ToString::to_string).collect();
    format!(
        "**ℹ Withheld from published files: {count} {noun} out of scope that may be about security \
         ({}; {accepted} accepted).**",
        ids.join(", ")
    )
}

fn undecided(matters: &[(MatterId, MatterVerdict)]) -> String {
    let listed: Vec<_> = matters.iter().map(|(id, panel)| format!("{id} ({panel})")).collect();
    format!(
        "**ℹ Undecided: {}. `convoke decide` lists them and records your decisions.**",
        listed.join(", ")
    )
}
