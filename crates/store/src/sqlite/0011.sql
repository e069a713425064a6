-- Who answers for an agent is known as who answers for a lane is. What was known before says less, so
-- an agent that is taken at this moment is let go.
ALTER TABLE agents ADD COLUMN pid_mark TEXT;
UPDATE agents SET status = 'idle' WHERE status = 'busy' AND pid IS NOT NULL;
UPDATE agents SET pid = NULL, answering_hop = NULL;
ALTER TABLE agents DROP COLUMN pid_started;
