-- A run, and how far its journal goes.
CREATE TABLE runs (
    id         TEXT PRIMARY KEY,
    project    TEXT NOT NULL,
    branch     TEXT NOT NULL,
    feature    TEXT NOT NULL,
    state      TEXT NOT NULL,
    started_at TEXT NOT NULL,
    ended_at   TEXT,
    last_seq   INTEGER NOT NULL,
    last_chain TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX runs_by_project ON runs (project, id);

-- What happened in a run. Nothing here is ever changed.
CREATE TABLE journal (
    run_id TEXT NOT NULL REFERENCES runs (id),
    seq    INTEGER NOT NULL,
    at_ms  INTEGER NOT NULL,
    kind   TEXT NOT NULL,
    body   TEXT NOT NULL,
    chain  TEXT NOT NULL,
    UNIQUE (run_id, seq)
) STRICT;
