-- Lanes that workers on other machines run. The engine that hands them out knows a lane's id and
-- generation; prompt, events and report are here, and only the attempt that the row names may add to them.
CREATE TABLE fleet_lanes (
    id           TEXT PRIMARY KEY,
    project      TEXT NOT NULL,
    queue        TEXT NOT NULL,
    request      TEXT NOT NULL,
    prompt       TEXT NOT NULL,
    permit       TEXT NOT NULL,
    generation   INTEGER NOT NULL,
    attempt      INTEGER NOT NULL,
    state        TEXT NOT NULL,
    worker       TEXT,
    outcome      TEXT,
    report       TEXT,
    submitted_at TEXT NOT NULL,
    not_before   TEXT,
    started_at   TEXT,
    beat_at      TEXT,
    watched_at   TEXT NOT NULL,
    ended_at     TEXT
) STRICT;
CREATE INDEX open_fleet_lanes ON fleet_lanes (permit) WHERE state <> 'ended';
CREATE INDEX ended_fleet_lanes ON fleet_lanes (ended_at) WHERE state = 'ended';

CREATE TABLE fleet_events (
    lane       TEXT NOT NULL,
    generation INTEGER NOT NULL,
    attempt    INTEGER NOT NULL,
    number     INTEGER NOT NULL,
    line       TEXT NOT NULL,
    PRIMARY KEY (lane, generation, attempt, number)
) STRICT;

-- One row for each process, because two may have the same name.
CREATE TABLE fleet_workers (
    process    TEXT PRIMARY KEY,
    name       TEXT NOT NULL,
    machine    TEXT NOT NULL,
    pid        INTEGER NOT NULL,
    offers     TEXT NOT NULL,
    slots      INTEGER NOT NULL,
    version    TEXT NOT NULL,
    state      TEXT NOT NULL,
    started_at TEXT NOT NULL,
    beat_at    TEXT NOT NULL
) STRICT;
