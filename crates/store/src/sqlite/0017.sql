-- Over how many hook entries the answer to the last loss is spread, and for whom it was made: a
-- project, a branch and an agent, a line each. Zero and nothing where that is not known.
ALTER TABLE losses ADD COLUMN entries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE deliveries ADD COLUMN entries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE deliveries ADD COLUMN whose TEXT NOT NULL DEFAULT '';

-- The rules of a branch that a step took to another one, so that undoing it brings them back. Without
-- a branch, the step added the rule.
CREATE TABLE pin_moves (
    step   INTEGER NOT NULL REFERENCES task_steps (id),
    pin_id INTEGER NOT NULL REFERENCES pins (id),
    branch TEXT,
    PRIMARY KEY (step, pin_id)
) STRICT, WITHOUT ROWID;
