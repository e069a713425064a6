-- What a copy of a server's store has beside the tables of a store: how old it is, and what waits for
-- the server. The triggers make a record in the transaction of the change that it is about, so that a
-- process that is killed leaves both or neither.

CREATE TABLE replica (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    -- Grows with every record and every refresh: a refresh that began before either is not kept.
    version  INTEGER NOT NULL,
    -- Whether rows of the server are being put in, which make no records.
    pulling  INTEGER NOT NULL,
    -- When the server last did not answer.
    away_at  TEXT
) STRICT;

INSERT INTO replica VALUES (1, 0, 0, NULL);

CREATE TABLE replica_branches (
    project      TEXT NOT NULL,
    branch       TEXT NOT NULL,
    refreshed_at TEXT NOT NULL,
    -- By what the tasks are known to be the same: the last step, and the agents' names.
    tasks        TEXT NOT NULL,
    PRIMARY KEY (project, branch)
) STRICT;

-- The sessions of this machine.
CREATE TABLE replica_sessions (
    client     TEXT NOT NULL,
    session_id TEXT NOT NULL,
    project    TEXT NOT NULL,
    seen_at    TEXT NOT NULL,
    PRIMARY KEY (client, session_id)
) STRICT;

-- What the server must learn: which row of which kind. The row itself is where it always is.
CREATE TABLE outbox (
    kind    TEXT NOT NULL,
    key     TEXT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (kind, key)
) STRICT;

-- A record is replaced by a later one about the same row.
CREATE TABLE outbox_entry (kind TEXT NOT NULL, key TEXT NOT NULL) STRICT;
CREATE TRIGGER record_waits AFTER INSERT ON outbox_entry BEGIN
    UPDATE replica SET version = version + 1;
    INSERT INTO outbox (kind, key, version)
        VALUES (new.kind, new.key, (SELECT version FROM replica))
        ON CONFLICT (kind, key) DO UPDATE SET version = excluded.version;
    DELETE FROM outbox_entry;
END;

CREATE TRIGGER read_waits AFTER DELETE ON unread
WHEN (SELECT pulling FROM replica) = 0 BEGIN
    INSERT INTO outbox_entry
        VALUES ('read', json_array(old.project, old.branch, old.agent, old.message_id));
END;

CREATE TRIGGER agent_waits AFTER INSERT ON agents
WHEN (SELECT pulling FROM replica) = 0 BEGIN
    INSERT INTO outbox_entry VALUES ('agent', json_array(new.project, new.branch, new.name));
END;

CREATE TRIGGER compaction_waits AFTER UPDATE OF compacted_at ON agents
WHEN (SELECT pulling FROM replica) = 0 AND old.compacted_at IS NOT new.compacted_at BEGIN
    INSERT INTO outbox_entry VALUES ('compacted', json_array(new.project, new.branch, new.name));
END;

CREATE TRIGGER announcement_waits AFTER UPDATE OF last_seen_message_id ON agents
WHEN (SELECT pulling FROM replica) = 0
    AND old.last_seen_message_id IS NOT new.last_seen_message_id BEGIN
    INSERT INTO outbox_entry VALUES ('seen', json_array(new.project, new.branch, new.name));
END;

CREATE TRIGGER binding_waits AFTER INSERT ON sessions
WHEN (SELECT pulling FROM replica) = 0 BEGIN
    INSERT INTO outbox_entry VALUES ('session', json_array(new.client, new.session_id));
END;

CREATE TRIGGER loss_waits AFTER INSERT ON losses
WHEN (SELECT pulling FROM replica) = 0 BEGIN
    INSERT INTO outbox_entry VALUES ('session', json_array(new.client, new.session_id));
END;

CREATE TRIGGER later_loss_waits AFTER UPDATE ON losses
WHEN (SELECT pulling FROM replica) = 0 BEGIN
    INSERT INTO outbox_entry VALUES ('session', json_array(new.client, new.session_id));
END;

CREATE TRIGGER memory_waits AFTER INSERT ON memories
WHEN (SELECT pulling FROM replica) = 0 BEGIN
    INSERT INTO outbox_entry VALUES ('session', json_array(new.client, new.session_id));
END;

CREATE TRIGGER later_memory_waits AFTER UPDATE OF heard, delivered, arrived, event ON memories
WHEN (SELECT pulling FROM replica) = 0 BEGIN
    INSERT INTO outbox_entry VALUES ('session', json_array(new.client, new.session_id));
END;

CREATE TRIGGER delivery_waits AFTER INSERT ON deliveries
WHEN (SELECT pulling FROM replica) = 0 BEGIN
    INSERT INTO outbox_entry VALUES ('session', json_array(new.client, new.session_id));
END;

CREATE TRIGGER later_delivery_waits AFTER UPDATE ON deliveries
WHEN (SELECT pulling FROM replica) = 0 BEGIN
    INSERT INTO outbox_entry VALUES ('session', json_array(new.client, new.session_id));
END;

CREATE TRIGGER receipt_waits AFTER INSERT ON pin_receipts
WHEN (SELECT pulling FROM replica) = 0 BEGIN
    INSERT INTO outbox_entry VALUES ('receipt', json_array(new.pin_id, new.client, new.session_id));
END;

CREATE TRIGGER later_receipt_waits AFTER UPDATE ON pin_receipts
WHEN (SELECT pulling FROM replica) = 0 BEGIN
    INSERT INTO outbox_entry VALUES ('receipt', json_array(new.pin_id, new.client, new.session_id));
END;

CREATE TRIGGER firing_waits AFTER INSERT ON firings
WHEN (SELECT pulling FROM replica) = 0 BEGIN
    INSERT INTO outbox_entry VALUES ('firing', json_array(new.client, new.project));
END;

CREATE TRIGGER later_firing_waits AFTER UPDATE ON firings
WHEN (SELECT pulling FROM replica) = 0 BEGIN
    INSERT INTO outbox_entry VALUES ('firing', json_array(new.client, new.project));
END;

CREATE TRIGGER injection_waits AFTER INSERT ON skill_history
WHEN (SELECT pulling FROM replica) = 0 BEGIN
    INSERT INTO outbox_entry VALUES ('injection', json_array(new.id));
END;
