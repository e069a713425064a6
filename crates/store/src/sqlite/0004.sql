-- When a plan was completed, and with it the versions of its skills let go.
ALTER TABLE skill_history ADD COLUMN released_at TEXT;

-- What the client's own record of a session says about the answers.
ALTER TABLE memories ADD COLUMN arrived INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memories ADD COLUMN doubted INTEGER NOT NULL DEFAULT 0;
ALTER TABLE deliveries ADD COLUMN arrived_at TEXT;

-- When a client last called a hook in a project.
CREATE TABLE firings (
    client   TEXT NOT NULL,
    project  TEXT NOT NULL,
    fired_at TEXT NOT NULL,
    PRIMARY KEY (client, project)
) STRICT, WITHOUT ROWID;
