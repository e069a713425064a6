-- Who really wrote a row of a team's store on a server; empty here, where one user writes.
ALTER TABLE messages ADD COLUMN member TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN member TEXT NOT NULL DEFAULT '';
ALTER TABLE task_deeds ADD COLUMN member TEXT NOT NULL DEFAULT '';
ALTER TABLE task_steps ADD COLUMN member TEXT NOT NULL DEFAULT '';
ALTER TABLE pins ADD COLUMN member TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN member TEXT NOT NULL DEFAULT '';
ALTER TABLE journal ADD COLUMN member TEXT NOT NULL DEFAULT '';
ALTER TABLE lanes ADD COLUMN member TEXT NOT NULL DEFAULT '';
ALTER TABLE dispatches ADD COLUMN member TEXT NOT NULL DEFAULT '';
ALTER TABLE run_leases ADD COLUMN member TEXT NOT NULL DEFAULT '';
ALTER TABLE counters ADD COLUMN member TEXT NOT NULL DEFAULT '';
ALTER TABLE memories ADD COLUMN member TEXT NOT NULL DEFAULT '';
ALTER TABLE deliveries ADD COLUMN member TEXT NOT NULL DEFAULT '';
ALTER TABLE losses ADD COLUMN member TEXT NOT NULL DEFAULT '';

-- Facts about one user's machine: two members may have the same path, also in a copy of a team's store.
CREATE TABLE installs_of_members (
    path         TEXT NOT NULL,
    client       TEXT NOT NULL,
    original     TEXT,
    installed    TEXT NOT NULL,
    installed_at TEXT NOT NULL,
    member       TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (member, path)
) STRICT, WITHOUT ROWID;
INSERT INTO installs_of_members (path, client, original, installed, installed_at)
    SELECT path, client, original, installed, installed_at FROM installs;
DROP TABLE installs;
ALTER TABLE installs_of_members RENAME TO installs;

CREATE TABLE setups_of_members (
    id       INTEGER PRIMARY KEY,
    folder   TEXT NOT NULL,
    path     TEXT NOT NULL,
    change   TEXT NOT NULL,
    client   TEXT,
    original TEXT,
    written  TEXT,
    made_at  TEXT NOT NULL,
    member   TEXT NOT NULL DEFAULT '',
    UNIQUE (member, folder, path)
) STRICT;
INSERT INTO setups_of_members (id, folder, path, change, client, original, written, made_at)
    SELECT id, folder, path, change, client, original, written, made_at FROM setups;
DROP TABLE setups;
ALTER TABLE setups_of_members RENAME TO setups;

CREATE TABLE gates_of_members (
    client   TEXT NOT NULL,
    version  TEXT,
    reason   TEXT,
    tried_at TEXT NOT NULL,
    member   TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (member, client)
) STRICT, WITHOUT ROWID;
INSERT INTO gates_of_members (client, version, reason, tried_at)
    SELECT client, version, reason, tried_at FROM gates;
DROP TABLE gates;
ALTER TABLE gates_of_members RENAME TO gates;
