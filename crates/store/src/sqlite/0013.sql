-- The files that a dispatch's record shows to have been read whole, so that a resumed round knows
-- what its session has seen.
ALTER TABLE dispatches ADD COLUMN proven TEXT NOT NULL DEFAULT '';
