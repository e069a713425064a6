-- Up to which place a client's record was read since the text was found there, so that a hook at every
-- prompt reads only what the client has written since.
ALTER TABLE deliveries ADD COLUMN read_until INTEGER;
