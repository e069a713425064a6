//! The names of a design's own files. The answers of seats are beside them, named after their
//! seats.

use crate::manifest::ManifestArtifact;

/// A file that a design renders from its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DesignFile {
    /// The decisions of the scope interview.
    ScopeInterview,
    /// The synthesis of the sketches.
    Synthesis,
    /// The contested decisions.
    Decisions,
    /// The judges' ballot.
    JudgesBallot,
    /// The result of each contested decision.
    Resolutions,
    /// The plan as it is now, after every revision.
    Plan,
    /// The places that the plan cites, each with its verdict.
    CitedPlaces,
    /// The voters' ballot.
    Ballot,
    /// Which reviewers raised each finding.
    Proposers,
    /// The votes and the scoreboard.
    Tally,
    /// Findings that were voted in.
    Accepted,
    /// Findings that were voted down.
    Rejected,
    /// Observations outside of the planned change.
    OutOfScope,
    /// Accepted observations, for the calling workflow to file.
    FiledOutOfScope,
    /// Findings withheld from published files.
    Withheld,
    /// The decisions of the design interview.
    DesignInterview,
    /// The drawing of the plan, in Mermaid.
    Diagram,
    /// Which agent answered for which seat.
    Independence,
    /// The state of the working tree, if a person must check it.
    SuspectTree,
}

impl DesignFile {
    /// Words that are shorter than the names of files that people ask for.
    pub const SHORT: [(&'static str, Self); 8] = [
        ("plan", Self::Plan),
        ("citations", Self::CitedPlaces),
        ("tally", Self::Tally),
        ("diagram", Self::Diagram),
        ("synthesis", Self::Synthesis),
        ("decisions", Self::Decisions),
        ("resolutions", Self::Resolutions),
        ("independence", Self::Independence),
    ];

    /// Returns the file's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ScopeInterview => "discussion-round1.md",
            Self::Synthesis => "approach-synthesis.txt",
            Self::Decisions => ManifestArtifact::Decisions.file(),
            Self::JudgesBallot => "dialectic-ballot.txt",
            Self::Resolutions => "dialectic-resolutions.md",
            Self::Plan => ManifestArtifact::Plan.file(),
            Self::CitedPlaces => "cited-places.md",
            Self::Ballot => "ballot.txt",
            Self::Proposers => "proposer-map.tsv",
            Self::Tally => ManifestArtifact::Tally.file(),
            Self::Accepted => ManifestArtifact::Accepted.file(),
            Self::Rejected => ManifestArtifact::Rejected.file(),
            Self::OutOfScope => ManifestArtifact::OutOfScope.file(),
            Self::FiledOutOfScope => "oos-accepted-design.md",
            Self::Withheld => "held-back.md",
            Self::DesignInterview => "discussion-round2.md",
            Self::Diagram => ManifestArtifact::Diagram.file(),
            Self::Independence => "independence.md",
            Self::SuspectTree => "dirty-tree-detected.env",
        }
    }

    /// Returns the file name for a short word; any other word is returned unchanged.
    pub fn long_name(word: &str) -> &str {
        let found = Self::SHORT.iter().find(|(short, _)| *short == word);
        found.map_or(word, |(_, file)| file.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // P-175, P-185: other programs read files with these names.
    #[test]
    fn interviews_are_filed_under_their_round() {
        let names = [DesignFile::ScopeInterview, DesignFile::DesignInterview].map(DesignFile::name);
        assert_eq!(names, ["discussion-round1.md", "discussion-round2.md"]);
    }

    #[test]
    fn a_short_word_names_a_file() {
        assert_eq!(DesignFile::long_name("plan"), "plan.txt");
        assert_eq!(DesignFile::long_name("plans"), "plans");
        for (short, file) in DesignFile::SHORT {
            assert_eq!(DesignFile::long_name(short), file.name());
        }
    }
}
