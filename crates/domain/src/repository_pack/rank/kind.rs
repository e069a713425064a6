//! Kinds of files that matter less than others with the same words.

/// Words of a path that tell that its file was made by a program, or is data for a test.
const DATA: &[&str] =
    &["snapshots", "__snapshots__", "fixtures", "testdata", "cassettes", "recordings", "vendor"];

/// Endings of data and pictures as text.
const DATA_ENDINGS: &[&str] = &["snap", "svg", "csv", "tsv", "jsonl", "po", "pot", "map"];

/// Returns what the score of a file is multiplied with.
pub(super) fn kind_weight(path: &str) -> f64 {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    if DATA_ENDINGS.contains(&ending) || path.split('/').any(|part| DATA.contains(&part)) {
        return 0.5;
    }
    1.0
}
