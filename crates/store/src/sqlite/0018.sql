-- What `convoke init` did in a project's folder, step by step, so that it can be taken back.
CREATE TABLE setups (
    id       INTEGER PRIMARY KEY,
    folder   TEXT NOT NULL,
    path     TEXT NOT NULL,
    change   TEXT NOT NULL,
    client   TEXT,
    original TEXT,
    written  TEXT,
    made_at  TEXT NOT NULL,
    UNIQUE (folder, path)
) STRICT;
