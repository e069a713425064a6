-- Every dispatch that was checked, in the order it was. Nothing here is ever changed.
CREATE TABLE dispatches (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    project      TEXT NOT NULL,
    branch       TEXT NOT NULL,
    feature      TEXT NOT NULL,
    command      TEXT NOT NULL,
    role         TEXT NOT NULL,
    iteration    INTEGER NOT NULL,
    mode         TEXT NOT NULL,
    prompt_chars INTEGER,
    artifacts    TEXT NOT NULL,
    confirmed    INTEGER,
    missing      TEXT NOT NULL,
    unproven     TEXT,
    created_at   TEXT NOT NULL
) STRICT;

CREATE INDEX dispatches_by_project ON dispatches (project, id);

-- What is remembered of a role on a feature, one row for each round it was dispatched in.
CREATE TABLE resume_states (
    project                  TEXT NOT NULL,
    branch                   TEXT NOT NULL,
    feature                  TEXT NOT NULL,
    role                     TEXT NOT NULL,
    iteration                INTEGER NOT NULL,
    mode                     TEXT NOT NULL,
    agent_id                 TEXT,
    prompt_chars             INTEGER NOT NULL,
    iteration1_prompt_length INTEGER NOT NULL,
    last_commit_sha          TEXT,
    seen                     TEXT,
    PRIMARY KEY (project, branch, feature, role, iteration)
) STRICT, WITHOUT ROWID;
