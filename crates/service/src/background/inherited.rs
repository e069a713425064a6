//! What a lane may give to runs that it starts: no more than is left of its own budget.

use std::time::{Duration, SystemTime};
use std::{fs, io};

use convoke_domain::lane::budget::{LaneBudget, WrittenBudget};
use convoke_domain::lane::ledger::{LaneEntry, Sum};
use convoke_domain::lane::reservation::left_beside;
use convoke_store::lane::LaneQuery;

use super::folder::{Folders, KEYS, budget_paid_by, unusable};
use crate::failure::{ErrorClass, Failure};
use crate::lane::{LOOKED_THROUGH, is_paid, may_spend, read_pulse};
use crate::session::Session;
use crate::workspace::{Workspace, refused};

/// Longer than the clock of any file system takes for a step.
const CLOCK_TICK: Duration = Duration::from_secs(3);

#[derive(Debug, thiserror::Error)]
#[error("nothing is left of the budget of the lane around it: {0}")]
struct NothingLeft(LaneBudget);

/// A run of the lane counted tokens, and the lane counts money, or the other way round.
#[derive(Debug, thiserror::Error)]
#[error(
    "the budget {given} of an earlier run cannot be compared with that of the lane around it: {total}"
)]
struct OtherUnit {
    given: String,
    total: LaneBudget,
}

impl Folders {
    /// Returns the budget of a run that a lane starts: that of the request, or what is left of the
    /// lane's own, if that is less. Budgets that the lane gave to earlier runs count as spent.
    pub(super) fn within_lane(
        &self,
        session: &Session,
        asked: WrittenBudget,
    ) -> Result<WrittenBudget, Failure> {
        let Some(around) = session.environment.surrounding_lane() else { return Ok(asked) };
        let inherited = around
            .inherit(Some(asked.budget()))
            .map_err(|error| Failure::new(ErrorClass::Refused, error))?;
        let (Some(total), Some(run)) = (around.budget, around.run) else { return Ok(asked) };
        let left = left_of_run(session, &run, total)?;
        let left = left.saturating_sub(self.given_away(&run, total)?);
        if left == 0 {
            return Err(Failure::new(ErrorClass::OverBudget, NothingLeft(total)));
        }
        let most = inherited.map_or(left, |inherited| inherited.most().min(left));
        if most >= asked.budget().most() {
            return Ok(asked);
        }
        let text = match total {
            LaneBudget::Tokens(_) => most.to_string(),
            LaneBudget::MicroDollars(_) => format!("${}.{:06}", most / 1_000_000, most % 1_000_000),
        };
        WrittenBudget::parse(&text).map_err(|error| Failure::new(ErrorClass::Bug, error))
    }

    /// Adds up the budgets of the runs that a lane's run pays for, in the unit of its own.
    fn given_away(&self, run: &str, total: LaneBudget) -> Result<u64, Failure> {
        let entries = match fs::read_dir(&self.root) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            entries => entries.map_err(unusable(&self.root))?,
        };
        let mut sum = 0_u64;
        for entry in entries {
            let folder = entry.map_err(unusable(&self.root))?.path();
            if let Some(budget) = budget_paid_by(&folder, run)? {
                let amount = amount(budget.budget(), total).ok_or_else(|| {
                    let error = OtherUnit { given: budget.text().to_owned(), total };
                    Failure::new(ErrorClass::Refused, error)
                        .hint("let the user start the run outside of the lane")
                })?;
                sum = sum.saturating_add(amount);
            }
        }
        Ok(sum)
    }
}

/// Returns what a run's lanes have not used of its budget. The lane that asks runs itself: what its client
/// has reported so far counts, or else what lanes like it needed.
fn left_of_run(session: &Session, run: &str, total: LaneBudget) -> Result<u64, Failure> {
    let Workspace { store, scope } = Workspace::open(session, None)?;
    let lanes = |query| store.lanes(query).map_err(refused);
    let of_run = lanes(LaneQuery { run: Some(run), ..LaneQuery::default() })?;
    let sum = Sum::of_all(of_run.iter().filter(|lane| is_paid(lane)));
    let reported = |lane: &LaneEntry| read_pulse(session, lane.id)?.spent_of(total);
    let running = of_run.iter().filter(|lane| may_spend(lane));
    let running: Vec<_> = running.map(|lane| (lane, reported(lane))).collect();
    let earlier = if running.iter().all(|(_, reported)| reported.is_some()) {
        Vec::new()
    } else {
        let project = Some(scope.project.as_str());
        lanes(LaneQuery { project, last: Some(LOOKED_THROUGH), ..LaneQuery::default() })?
    };
    Ok(left_beside(total, sum, &running, &earlier))
}

/// The budgets that the lanes of a run give away while one of them runs.
pub(crate) struct GivenAway {
    folders: Folders,
    run: String,
    total: LaneBudget,
    /// What was read, and the state of the keys then.
    known: Option<(SystemTime, u64)>,
    /// The last amount that could be read. A damaged record ends no lane that was paid for; it refuses the
    /// next run.
    last: u64,
}

impl GivenAway {
    /// Watches what the lanes of a run give away of its budget.
    pub(crate) fn by(session: &Session, run: &str, total: LaneBudget) -> Option<Self> {
        let folders = Folders::of(session).ok()?;
        Some(Self { folders, run: run.to_owned(), total, known: None, last: 0 })
    }

    /// Returns how much that is by now. A client says thousands of things in a lane, so Convoke reads the
    /// requests again only after a run took its key, or one lost it.
    pub(crate) fn amount(&mut self) -> u64 {
        let keys = self.folders.root.join(KEYS);
        // Without keys no run was ever started.
        let Ok(changed) = fs::metadata(keys).and_then(|keys| keys.modified()) else { return 0 };
        if let Some((known, amount)) = self.known
            && known == changed
        {
            return amount;
        }
        let Ok(amount) = self.folders.given_away(&self.run, self.total) else { return self.last };
        self.last = amount;
        // Two changes in a tick of the clock look like one.
        let is_settled = changed.elapsed().is_ok_and(|passed| passed > CLOCK_TICK);
        self.known = is_settled.then_some((changed, amount));
        amount
    }
}

const fn amount(given: LaneBudget, total: LaneBudget) -> Option<u64> {
    match (given, total) {
        (LaneBudget::Tokens(most), LaneBudget::Tokens(_))
        | (LaneBudget::MicroDollars(most), LaneBudget::MicroDollars(_)) => Some(most),
        (LaneBudget::Tokens(_), LaneBudget::MicroDollars(_))
        | (LaneBudget::MicroDollars(_), LaneBudget::Tokens(_)) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use convoke_domain::lane::budget::BudgetMeter;
    use convoke_domain::lane::counted::{CounterScope, UsageExtent, UsageScope};
    use convoke_domain::lane::event::{LaneEvent, Usage};
    use convoke_domain::lane::ledger::{LaneStart, Purpose};
    use convoke_engine::owner::myself;
    use serde_json::json;
    use tempfile::TempDir;

    use super::super::{LaneWork, NewRun, RunWork};
    use super::*;
    use crate::environment::Environment;
    use crate::lane::meter::LaneMeter;

    /// A process in a lane of the run `outer`, whose budget is 1000 tokens.
    fn in_lane(folder: &TempDir) -> Session {
        let project = folder.path().join("project");
        fs::create_dir(&project).unwrap();
        let variables = [
            ("CONVOKE_STORE".into(), folder.path().join("store.db").into()),
            ("HOME".into(), folder.path().join("home").into()),
            ("CONVOKE_LANE".into(), "4711 1 tokens=1000 outer".into()),
        ];
        Session::new(project, Environment::new(variables, None, PathBuf::new()))
    }

    fn begin_lane(session: &Session) -> i64 {
        let Workspace { store, scope } = Workspace::open(session, None).unwrap();
        let lane = LaneStart {
            agent: "claude".to_owned(),
            purpose: Purpose { run: Some("outer".to_owned()), ..Purpose::default() },
            asked_model: None,
            writes: false,
            resumed_from: None,
            owner: myself(),
            kept_in: None,
            prompt_chars: 1,
            prompt_hash: String::new(),
            at: session.now(),
        };
        store.begin_lane(&scope, &lane).unwrap()
    }

    fn report(session: &Session, id: i64, tokens: u64) {
        let folder = session.environment.lane_pulses().unwrap();
        fs::create_dir_all(&folder).unwrap();
        let pulse = json!({"tokens": tokens, "tools": 1, "at_ms": 1});
        fs::write(folder.join(format!("{id}.json")), pulse.to_string()).unwrap();
    }

    fn give(session: &Session, key: &str, budget: &str) {
        let folders = Folders::of(session).unwrap();
        let _lock = folders.lock_starts().unwrap();
        let work = RunWork::Lane(LaneWork { prompt: "x".to_owned(), agent: None, role: None });
        let mut new = NewRun::of(session, key, &work, None);
        new.set_budget(Some(&WrittenBudget::parse(budget).unwrap()));
        folders.claim(&new).unwrap();
    }

    fn left(session: &Session) -> Result<String, String> {
        let asked = WrittenBudget::parse("1M").unwrap();
        let budget = Folders::of(session).unwrap().within_lane(session, asked);
        budget.map(|budget| budget.text().to_owned()).map_err(|failure| failure.error.to_string())
    }

    // The lane that gives a budget away is not over, so no ledger has its usage yet.
    #[test]
    fn a_running_lane_gives_away_no_more_than_it_has_left() {
        let folder = TempDir::new().unwrap();
        let session = in_lane(&folder);
        assert_eq!(left(&session).unwrap(), "1000");
        let id = begin_lane(&session);
        assert_eq!(left(&session).unwrap(), "500", "its usage is unknown");
        report(&session, id, 900);
        assert_eq!(left(&session).unwrap(), "100");
        give(&session, "first", "60");
        assert_eq!(left(&session).unwrap(), "40");
        report(&session, id, 990);
        assert!(left(&session).unwrap_err().starts_with("nothing is left of the budget"));
    }

    #[test]
    fn a_lane_that_gives_its_budget_away_is_stopped_at_the_rest() {
        let folder = TempDir::new().unwrap();
        let session = in_lane(&folder);
        let budget = LaneBudget::Tokens(1000);
        let meter = BudgetMeter {
            budget,
            already: Sum::default(),
            given_away: 0,
            counts: UsageScope { tokens: CounterScope::Session, money: CounterScope::Session },
            extent: UsageExtent::Whole,
            before: Some(Usage::default()),
            spent: Usage::default(),
            stopped: false,
        };
        let mut meter = LaneMeter::new(meter, GivenAway::by(&session, "outer", budget));
        let used = LaneEvent::Usage(Usage { input: 500, ..Usage::default() });
        let says = LaneEvent::Text("on".to_owned());
        assert_eq!([&used, &says].map(|event| meter.stops_at(event)), [false; 2]);
        give(&session, "first", "300");
        assert!(!meter.stops_at(&says));
        give(&session, "second", "200");
        assert!(meter.stops_at(&says));
        let words = "used 500 of 1000 tokens, and gave 500 to runs that it started";
        assert_eq!(meter.reached().unwrap().to_string(), words);
    }

    // What a lane gave away cannot be known as long as one record of it cannot be read.
    #[test]
    fn a_budget_that_cannot_be_read_is_not_counted_as_nothing() {
        let root = tempfile::tempdir().unwrap();
        let put = |run: &str, request: &str| {
            fs::create_dir_all(root.path().join(run)).unwrap();
            fs::write(root.path().join(run).join("request.json"), request).unwrap();
        };
        let folders = Folders::at(root.path().to_owned(), String::new());
        let total = LaneBudget::parse("2k").unwrap();
        let given = || folders.given_away("outer", total);
        fs::create_dir(root.path().join(".keys")).unwrap();
        fs::create_dir(root.path().join("without-a-request")).unwrap();
        put("one", r#"{"budget":"1k","paid_by":"outer"}"#);
        put("other", r#"{"budget":"a lot","paid_by":"another run"}"#);
        put("free", r#"{"budget":null,"paid_by":"outer"}"#);
        assert_eq!(given().unwrap(), 1000);
        for (request, said) in [
            (r#"{"budget":"a lot","paid_by":"outer"}"#, "cannot read the budget `a lot` in `"),
            (r#"{"budget":"$1","paid_by":"outer"}"#, "cannot be compared"),
            (r#"{"budget":1000,"paid_by":"outer"}"#, "cannot read `"),
            ("", "cannot read `"),
        ] {
            put("two", request);
            let failure = given().unwrap_err();
            assert!(failure.error.to_string().contains(said), "{request}: {failure:?}");
            assert!(!failure.hints.is_empty(), "{failure:?}");
        }
        put("two", r#"{"budget":"500","paid_by":"outer"}"#);
        assert_eq!(given().unwrap(), 1500);
    }
}
