-- What came of the last try whether a client's sessions can be resumed, for one version of it.
CREATE TABLE gates (
    client   TEXT PRIMARY KEY,
    version  TEXT,
    reason   TEXT,
    tried_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
