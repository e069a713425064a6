-- Lanes that workers on other machines run. The engine that hands them out knows a lane's id and
-- generation; prompt, events and report are here, and only the attempt that the row names may add to them.
CREATE TABLE fleet_lanes (
    id           TEXT COLLATE "C" PRIMARY KEY,
    project      TEXT COLLATE "C" NOT NULL,
    queue        TEXT COLLATE "C" NOT NULL,
    request      TEXT COLLATE "C" NOT NULL,
    prompt       TEXT COLLATE "C" NOT NULL,
    permit       TEXT COLLATE "C" NOT NULL,
    generation   BIGINT NOT NULL,
    attempt      BIGINT NOT NULL,
    state        TEXT COLLATE "C" NOT NULL,
    worker       TEXT COLLATE "C",
    outcome      TEXT COLLATE "C",
    report       TEXT COLLATE "C",
    submitted_at TEXT COLLATE "C" NOT NULL,
    not_before   TEXT COLLATE "C",
    started_at   TEXT COLLATE "C",
    beat_at      TEXT COLLATE "C",
    watched_at   TEXT COLLATE "C" NOT NULL,
    ended_at     TEXT COLLATE "C"
);
CREATE INDEX open_fleet_lanes ON fleet_lanes (permit) WHERE state <> 'ended';
CREATE INDEX ended_fleet_lanes ON fleet_lanes (ended_at) WHERE state = 'ended';

CREATE TABLE fleet_events (
    lane       TEXT COLLATE "C" NOT NULL,
    generation BIGINT NOT NULL,
    attempt    BIGINT NOT NULL,
    number     BIGINT NOT NULL,
    line       TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (lane, generation, attempt, number)
);

-- One row for each process, because two may have the same name.
CREATE TABLE fleet_workers (
    process    TEXT COLLATE "C" PRIMARY KEY,
    name       TEXT COLLATE "C" NOT NULL,
    machine    TEXT COLLATE "C" NOT NULL,
    pid        BIGINT NOT NULL,
    offers     TEXT COLLATE "C" NOT NULL,
    slots      BIGINT NOT NULL,
    version    TEXT COLLATE "C" NOT NULL,
    state      TEXT COLLATE "C" NOT NULL,
    started_at TEXT COLLATE "C" NOT NULL,
    beat_at    TEXT COLLATE "C" NOT NULL
);
