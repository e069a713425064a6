-- What a round's receipts and verdict are based on: the receipts as JSON, the verdict, why the session
-- was resumed or not, and how long a whole prompt would have been. Unknown for earlier rounds.
ALTER TABLE dispatches ADD COLUMN receipts TEXT COLLATE "C";
ALTER TABLE dispatches ADD COLUMN verdict TEXT COLLATE "C";
ALTER TABLE dispatches ADD COLUMN reason TEXT COLLATE "C";
ALTER TABLE dispatches ADD COLUMN fresh_chars BIGINT;
ALTER TABLE resume_states ADD COLUMN reason TEXT COLLATE "C";
ALTER TABLE resume_states ADD COLUMN fresh_chars BIGINT;
