//! Remarks about a prompt, in words: reports hold them as codes such as `artifact_missing:plan.md`.

/// Returns a remark as a person reads it. A code without words of its own is shown as it is.
pub fn remark_words(remark: &str) -> String {
    let (code, about) = remark.split_once(':').unwrap_or((remark, ""));
    match code {
        "artifact_missing" => format!("`{about}` does not exist; the agent is told to read it"),
        "artifact_unreadable" => format!("cannot read {about}"),
        "required_no_match" => format!("no file matches `{about}`, which the role must read"),
        "outside_project" => format!("`{about}` leads out of the project and is left out"),
        "prd_not_a_file" => "the PRD that the feature names is not a file".to_owned(),
        "prd_dangling" => "the PRD that the feature names does not exist".to_owned(),
        "prd_outside_project" => "the PRD that the feature names is not in this project".to_owned(),
        "task_number_twice" => {
            format!("the task list has number {about} twice; the first one is meant")
        }
        "partial_refs" => "the task names no section of the plan, or none of the design".to_owned(),
        "review_history_not_written" => "the review history could not be written".to_owned(),
        _ => remark.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_reads_no_code() {
        for (remark, shown) in [
            (
                "artifact_missing:openapi.yaml",
                "`openapi.yaml` does not exist; the agent is told to read it",
            ),
            ("required_no_match:src/*.py", "no file matches `src/*.py`, which the role must read"),
            ("artifact_unreadable:plan.md: is a directory", "cannot read plan.md: is a directory"),
            ("prd_dangling", "the PRD that the feature names does not exist"),
            ("something else: entirely", "something else: entirely"),
        ] {
            assert_eq!(remark_words(remark), shown);
        }
    }
}
