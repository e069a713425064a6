-- What is being worked on, and what is urgent, each without reading its plan.
CREATE INDEX begun_tasks ON tasks (project, branch, plan_file, updated_at)
    WHERE deleted_at IS NULL AND status = 'in_progress';
CREATE INDEX urgent_tasks ON tasks (project, branch, plan_file, sort_index)
    WHERE deleted_at IS NULL AND status IN ('pending', 'in_progress') AND priority = 'high';

-- What a step took to another branch with all of its tasks, so that undoing it brings that back:
-- messages (without an agent), those whom they are to, and agents (without a message).
CREATE TABLE talk_moves (
    step       INTEGER NOT NULL,
    project    TEXT NOT NULL,
    message_id INTEGER NOT NULL,
    agent      TEXT NOT NULL,
    branch     TEXT NOT NULL,
    PRIMARY KEY (step, message_id, agent)
) STRICT, WITHOUT ROWID;
CREATE TABLE session_moves (
    step       INTEGER NOT NULL,
    client     TEXT NOT NULL,
    session_id TEXT NOT NULL,
    branch     TEXT NOT NULL,
    PRIMARY KEY (step, client, session_id)
) STRICT, WITHOUT ROWID;
