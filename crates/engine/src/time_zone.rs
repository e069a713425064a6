//! Time zones, from the tables of the system.

use jiff::tz::TimeZone;

/// Returns the zone in which the programs of this machine write times.
pub fn own_zone() -> TimeZone {
    TimeZone::system()
}

/// Finds a zone by its name, such as `Europe/Berlin`.
pub fn zone_named(name: &str) -> Option<TimeZone> {
    TimeZone::get(name).ok()
}
