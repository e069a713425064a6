-- Which process is answering a loss at a hook entry, so that no second one does while it lives.
ALTER TABLE memories ADD COLUMN claimed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memories ADD COLUMN claim_pid INTEGER;
ALTER TABLE memories ADD COLUMN claim_mark TEXT;
ALTER TABLE memories ADD COLUMN claim_at TEXT;

-- The last loss that was assumed, because a session was heard of for the first time at a prompt.
ALTER TABLE losses ADD COLUMN assumed INTEGER NOT NULL DEFAULT 0;

-- What is being delivered to an agent now, in other sessions.
CREATE INDEX deliveries_to ON deliveries (whose, made_at);
