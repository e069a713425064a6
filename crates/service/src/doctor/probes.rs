//! What earlier probes found.

use convoke_engine::lane::health::HealthCache;
use jiff::Timestamp;

use super::DoctorCheck;
use crate::session::Session;

pub(super) fn remembered(session: &Session) -> Vec<DoctorCheck> {
    let path = session.environment.health_cache();
    let known = path.map(|path| HealthCache::read(&path)).unwrap_or_default();
    let age = |at: Timestamp| match session.now().duration_since(at).as_mins() {
        ..1 => "less than a minute".to_owned(),
        1 => "1 minute".to_owned(),
        minutes => format!("{minutes} minutes"),
    };
    let Some(oldest) = known.oldest().map(age) else {
        let found = "no agent was probed yet; run `convoke agents --probe`";
        return vec![DoctorCheck::ok("health", found)];
    };
    let sick = known.sick();
    vec![if sick.is_empty() {
        DoctorCheck::ok(
            "health",
            format!("every probed agent answered; the oldest probe is {oldest} old"),
        )
    } else {
        let found = format!("no answer to the last probe, up to {oldest} ago: {}", sick.join(", "));
        DoctorCheck::warn("health", found, "`convoke agents --probe` says why")
    }]
}
