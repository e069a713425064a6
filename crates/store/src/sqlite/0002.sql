-- Which agent a client's session belongs to.
CREATE TABLE sessions (
    client     TEXT NOT NULL,
    session_id TEXT NOT NULL,
    project    TEXT NOT NULL,
    branch     TEXT NOT NULL,
    agent      TEXT NOT NULL,
    PRIMARY KEY (client, session_id)
) STRICT, WITHOUT ROWID;

-- How often a session lost its memory and was given it back. Every hook entry of a client counts
-- for itself, because all entries hear of every event.
CREATE TABLE memories (
    client     TEXT NOT NULL,
    session_id TEXT NOT NULL,
    entry      INTEGER NOT NULL,
    lost       INTEGER NOT NULL,
    delivered  INTEGER NOT NULL,
    PRIMARY KEY (client, session_id, entry)
) STRICT, WITHOUT ROWID;

-- The text that answers one loss, the same for all entries, and what became of it.
CREATE TABLE deliveries (
    client       TEXT NOT NULL,
    session_id   TEXT NOT NULL,
    loss         INTEGER NOT NULL,
    text         TEXT NOT NULL,
    made_at      TEXT NOT NULL,
    delivered_at TEXT,
    PRIMARY KEY (client, session_id, loss)
) STRICT, WITHOUT ROWID;
