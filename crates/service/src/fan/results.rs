//! The result of one item, read from the journal.

use convoke_domain::fan::event::FanEvent;
use convoke_domain::fan::item::ListedItem;
use convoke_domain::fan::record::{FanRecord, ItemState};
use convoke_domain::fan::{FanSource, event};
use convoke_domain::run::RunId;
use convoke_engine::fan::answer_schema::value_of_answer;
use convoke_engine::fan::journal::read_event;
use convoke_store::Store;
use serde_json::Value;

use super::report::FanResultLine;
use crate::failure::{ErrorClass, Failure};
use crate::lane::SpentReport;

/// Returns the result of the item at a place; nothing before a lane for it has ended.
pub(super) fn result_line(
    store: &dyn Store,
    run: &RunId,
    record: &FanRecord,
    place: usize,
) -> Result<Option<FanResultLine>, Failure> {
    let Some((settings, item)) = record.settings().zip(record.items().get(place)) else {
        return Ok(None);
    };
    let event = match record.state(&item.key) {
        ItemState::Missing => return Ok(None),
        ItemState::Answered(event) | ItemState::Unfit(event, _) | ItemState::Failed(event) => event,
    };
    let found = read_event(store, run, event)
        .map_err(|error| Failure::new(ErrorClass::Prerequisite, error))?;
    let line = FanResultLine {
        index: place + 1,
        item: shown_item(settings.source, item),
        outcome: "answered",
        answer: None,
        why: None,
        lane: None,
        model: None,
        spent: None,
    };
    Ok(match found {
        Some(FanEvent::Answered(answer)) => Some(answered(line, *answer, settings)),
        Some(FanEvent::Failed(failure)) => Some(FanResultLine {
            outcome: failure.outcome.name(),
            why: Some(failure.why),
            lane: failure.lane,
            ..line
        }),
        Some(_) | None => None,
    })
}

fn answered(
    line: FanResultLine,
    answer: event::FanAnswer,
    settings: &event::FanSettings,
) -> FanResultLine {
    let is_fit = answer.misfit.is_none();
    // An answer that was checked is shown as its value.
    let value = settings.schema.as_ref().filter(|_| is_fit);
    let value = value.and_then(|_| value_of_answer(&answer.text).ok());
    FanResultLine {
        outcome: if is_fit { "answered" } else { "unfit" },
        answer: Some(value.unwrap_or(Value::String(answer.text))),
        why: answer.misfit,
        lane: answer.lane,
        model: answer.model,
        spent: answer.usage.map(SpentReport::from),
        ..line
    }
}

fn shown_item(source: FanSource, item: &ListedItem) -> Value {
    match source {
        FanSource::Lines | FanSource::Files => Value::String(item.text.clone()),
        FanSource::JsonLines => {
            serde_json::from_str(&item.text).unwrap_or_else(|_| Value::String(item.text.clone()))
        }
    }
}
