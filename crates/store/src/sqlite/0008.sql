-- Every lane: one row when it begins, filled in when it ends. No prompt is in it, and no key.
-- A row without `ended_at` runs, or its process is gone; one with it and without an outcome was lost.
CREATE TABLE lanes (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    project       TEXT NOT NULL,
    branch        TEXT NOT NULL,
    run           TEXT,
    role          TEXT,
    phase         TEXT,
    agent         TEXT NOT NULL,
    asked_model   TEXT,
    writes        INTEGER NOT NULL,
    resumed_from  TEXT,
    owner_pid     INTEGER NOT NULL,
    owner_mark    TEXT NOT NULL,
    kept_in       TEXT,
    prompt_chars  INTEGER NOT NULL,
    prompt_hash   TEXT NOT NULL,
    started_at    TEXT NOT NULL,
    outcome       TEXT,
    end           TEXT,
    session       TEXT,
    model         TEXT,
    took_ms       INTEGER,
    bytes         INTEGER,
    input         INTEGER,
    cached        INTEGER,
    output        INTEGER,
    reasoning     INTEGER,
    micro_dollars INTEGER,
    ended_at      TEXT
) STRICT;

CREATE INDEX lanes_by_start ON lanes (started_at);
CREATE INDEX lanes_running ON lanes (id) WHERE ended_at IS NULL;
CREATE INDEX lanes_by_run ON lanes (run) WHERE run IS NOT NULL;

-- What a client last said of a session, as it counts it itself.
CREATE TABLE counters (
    agent         TEXT NOT NULL,
    session       TEXT NOT NULL,
    input         INTEGER NOT NULL,
    cached        INTEGER NOT NULL,
    output        INTEGER NOT NULL,
    reasoning     INTEGER NOT NULL,
    micro_dollars INTEGER,
    PRIMARY KEY (agent, session)
) STRICT, WITHOUT ROWID;
