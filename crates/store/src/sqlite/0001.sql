-- Times are ISO-8601 in UTC with milliseconds, so that their text order is their order.

-- A project is a folder on disk; its name is what mentions and every other table call it by.
CREATE TABLE projects (
    path TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;

CREATE TABLE tasks (
    project        TEXT NOT NULL,
    branch         TEXT NOT NULL,
    id             TEXT NOT NULL,
    parent_id      TEXT,
    plan_file      TEXT,
    content        TEXT NOT NULL CHECK (trim(content) <> ''),
    sort_index     INTEGER NOT NULL,
    assigned_agent TEXT,
    status         TEXT NOT NULL CHECK (status IN ('pending', 'in_progress', 'completed', 'skipped')),
    skill          TEXT,
    skill_version  TEXT,
    notes          TEXT,
    created_at     TEXT NOT NULL,
    updated_at     TEXT NOT NULL,
    completed_at   TEXT,
    deleted_at     TEXT,
    PRIMARY KEY (project, branch, id)
) STRICT;

CREATE INDEX tasks_by_parent ON tasks (project, branch, parent_id, sort_index)
    WHERE deleted_at IS NULL;
CREATE INDEX tasks_by_plan ON tasks (project, branch, plan_file)
    WHERE deleted_at IS NULL;
CREATE INDEX tasks_by_change ON tasks (project, branch, updated_at, plan_file)
    WHERE deleted_at IS NULL;
CREATE INDEX open_tasks_by_plan ON tasks (project, branch, plan_file)
    WHERE deleted_at IS NULL AND status IN ('pending', 'in_progress');
CREATE INDEX open_tasks_by_agent ON tasks (project, branch, assigned_agent, plan_file)
    WHERE deleted_at IS NULL AND status IN ('pending', 'in_progress');

CREATE TABLE agents (
    project              TEXT NOT NULL,
    branch               TEXT NOT NULL,
    name                 TEXT NOT NULL,
    client               TEXT NOT NULL,
    status               TEXT NOT NULL,
    session_id           TEXT,
    pid                  INTEGER,
    compacted_at         TEXT,
    last_seen_message_id INTEGER,
    archived_at          TEXT,
    PRIMARY KEY (project, branch, name)
) STRICT;

CREATE TABLE messages (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    project    TEXT NOT NULL,
    branch     TEXT NOT NULL,
    from_agent TEXT NOT NULL,
    to_agent   TEXT,
    kind       TEXT NOT NULL,
    content    TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;

CREATE INDEX messages_by_scope ON messages (project, branch, id);

-- One row for each agent that a message is to or mentions, in that agent's own scope.
CREATE TABLE recipients (
    project    TEXT NOT NULL,
    branch     TEXT NOT NULL,
    agent      TEXT NOT NULL,
    message_id INTEGER NOT NULL REFERENCES messages (id),
    position   INTEGER NOT NULL,
    mentioned  INTEGER NOT NULL,
    PRIMARY KEY (project, branch, agent, message_id, mentioned)
) STRICT, WITHOUT ROWID;

CREATE INDEX recipients_by_message ON recipients (message_id, position);

CREATE TABLE events (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    project     TEXT NOT NULL,
    branch      TEXT NOT NULL,
    actor       TEXT NOT NULL,
    verb_phrase TEXT NOT NULL,
    created_at  TEXT NOT NULL
) STRICT;

CREATE INDEX events_by_scope ON events (project, branch, id);

CREATE TABLE skill_history (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    project     TEXT NOT NULL,
    branch      TEXT NOT NULL,
    agent       TEXT NOT NULL,
    plan_file   TEXT,
    task_id     TEXT,
    skill       TEXT NOT NULL,
    version     TEXT,
    sha256      TEXT,
    mode        TEXT NOT NULL,
    injected_at TEXT NOT NULL
) STRICT;

CREATE INDEX skill_history_by_plan ON skill_history (project, branch, agent, plan_file, id);

CREATE TABLE skill_pins (
    project TEXT NOT NULL,
    branch  TEXT NOT NULL,
    skill   TEXT NOT NULL,
    version TEXT NOT NULL,
    PRIMARY KEY (project, branch, skill)
) STRICT, WITHOUT ROWID;
