-- Settings files that hooks were written into, with what they were before.
CREATE TABLE installs (
    path         TEXT PRIMARY KEY,
    client       TEXT NOT NULL,
    original     TEXT,
    installed    TEXT NOT NULL,
    installed_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
