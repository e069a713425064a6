-- When a plan was completed, and with it the versions of its skills let go.
ALTER TABLE skill_history ADD COLUMN released_at TEXT;
