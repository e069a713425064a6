-- What was recorded about a task: who was sent to it, and what verdict came back. Nothing here is
-- ever removed; a verdict that no longer counts, because the task was begun anew, says since when.
CREATE TABLE task_deeds (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    project       TEXT NOT NULL,
    branch        TEXT NOT NULL,
    task_id       TEXT NOT NULL,
    kind          TEXT NOT NULL CHECK (kind IN ('work', 'dispatched', 'pass', 'fail', 'no_verdict')),
    role          TEXT NOT NULL,
    actor         TEXT NOT NULL,
    reason        TEXT,
    message_id    INTEGER REFERENCES messages (id),
    run           TEXT,
    superseded_at TEXT,
    created_at    TEXT NOT NULL
) STRICT;

CREATE INDEX task_deeds_by_task ON task_deeds (project, branch, task_id, id);
CREATE INDEX task_deeds_by_message ON task_deeds (message_id) WHERE message_id IS NOT NULL;

-- The skill that the user chose for an agent, or for all of a branch: then `agent` is empty.
-- An injection without any skill has an empty `skill` in `skill_history`.
CREATE TABLE skill_uses (
    project TEXT NOT NULL,
    branch  TEXT NOT NULL,
    agent   TEXT NOT NULL,
    skill   TEXT NOT NULL,
    PRIMARY KEY (project, branch, agent)
) STRICT, WITHOUT ROWID;

-- The user's rules. Without a branch one holds on all of them; with a task, while that is open; with
-- a plan, it says that the plan is cancelled.
CREATE TABLE pins (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    project     TEXT NOT NULL,
    branch      TEXT,
    task_branch TEXT,
    task_id     TEXT,
    plan_file   TEXT,
    text        TEXT NOT NULL,
    until       TEXT,
    created_at  TEXT NOT NULL,
    removed_at  TEXT
) STRICT;

CREATE INDEX pins_by_project ON pins (project, id) WHERE removed_at IS NULL;
CREATE INDEX cancelled_plans ON pins (project, branch, plan_file)
    WHERE removed_at IS NULL AND plan_file IS NOT NULL;

-- When a rule was last put into which session, or into which lane.
CREATE TABLE pin_receipts (
    pin_id     INTEGER NOT NULL REFERENCES pins (id),
    client     TEXT NOT NULL,
    session_id TEXT NOT NULL,
    at         TEXT NOT NULL,
    PRIMARY KEY (pin_id, client, session_id)
) STRICT, WITHOUT ROWID;
