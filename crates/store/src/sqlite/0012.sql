-- Why a lane has no answer: in words, and of what kind.
ALTER TABLE lanes ADD COLUMN why TEXT;
ALTER TABLE lanes ADD COLUMN failure TEXT;
