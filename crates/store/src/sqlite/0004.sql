-- When a plan was completed, and with it the versions of its skills let go.
ALTER TABLE skill_history ADD COLUMN released_at TEXT;

-- Losses are a session's; what was done about them is each hook entry's own.
CREATE TABLE losses (
    client     TEXT NOT NULL,
    session_id TEXT NOT NULL,
    last       INTEGER NOT NULL,
    noticed_at TEXT,
    doubted    INTEGER NOT NULL,
    PRIMARY KEY (client, session_id)
) STRICT, WITHOUT ROWID;

INSERT INTO losses (client, session_id, last, doubted)
    SELECT client, session_id, max(lost), 0 FROM memories GROUP BY client, session_id;
ALTER TABLE memories RENAME COLUMN lost TO heard;
ALTER TABLE memories ADD COLUMN arrived INTEGER NOT NULL DEFAULT 0;

-- The message that a text hands over, how long the client's record was when it was made, and when
-- the text was found there.
ALTER TABLE deliveries ADD COLUMN message_id INTEGER;
ALTER TABLE deliveries ADD COLUMN record_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE deliveries ADD COLUMN arrived_at TEXT;

-- When a client last called a hook in a project.
CREATE TABLE firings (
    client   TEXT NOT NULL,
    project  TEXT NOT NULL,
    fired_at TEXT NOT NULL,
    PRIMARY KEY (client, project)
) STRICT, WITHOUT ROWID;
