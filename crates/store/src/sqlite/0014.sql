-- What a task says beyond its title, how urgent it is, and the ids of the tasks that come before it,
-- with blanks between them.
ALTER TABLE tasks ADD COLUMN body TEXT;
ALTER TABLE tasks ADD COLUMN priority TEXT NOT NULL DEFAULT 'normal'
    CHECK (priority IN ('high', 'normal', 'low'));
ALTER TABLE tasks ADD COLUMN after_ids TEXT NOT NULL DEFAULT '';

-- One row for each step that a person or an agent took on tasks. A step is undone as a whole, unless it
-- is final.
CREATE TABLE task_steps (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    project   TEXT NOT NULL,
    branch    TEXT NOT NULL,
    actor     TEXT NOT NULL,
    undoes    INTEGER,
    undone_by INTEGER,
    is_final  INTEGER NOT NULL DEFAULT 0,
    at        TEXT NOT NULL
) STRICT;

CREATE INDEX task_steps_by_scope ON task_steps (project, branch, id);

-- What a step did to each task: the row before, as JSON, and after. Only the name of a renamed agent
-- is ever changed here.
CREATE TABLE task_changes (
    id     INTEGER PRIMARY KEY AUTOINCREMENT,
    step   INTEGER NOT NULL REFERENCES task_steps (id),
    task   TEXT NOT NULL,
    before TEXT,
    after  TEXT NOT NULL
) STRICT;

CREATE INDEX task_changes_by_step ON task_changes (step, id);
CREATE INDEX task_changes_by_task ON task_changes (task, id);

-- The step of the transaction that is under way; 0 while nothing is to be written down. Outside of a
-- transaction it is NULL, and a change without a step becomes one of its own.
CREATE TABLE task_step_now (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    step     INTEGER
) STRICT;
INSERT INTO task_step_now VALUES (1, NULL);

CREATE TRIGGER task_added AFTER INSERT ON tasks
WHEN (SELECT step FROM task_step_now) IS NOT 0
BEGIN
    INSERT INTO task_steps (project, branch, actor, at)
        SELECT NEW.project, NEW.branch, 'unknown', NEW.updated_at
        WHERE (SELECT step FROM task_step_now) IS NULL;
    INSERT INTO task_changes (step, task, after) VALUES (
        coalesce((SELECT step FROM task_step_now), (SELECT max(id) FROM task_steps)), NEW.id,
        json_object(
            'id', NEW.id, 'branch', NEW.branch, 'parent_id', NEW.parent_id,
            'plan_file', NEW.plan_file, 'content', NEW.content, 'body', NEW.body,
            'sort_index', NEW.sort_index, 'assigned_agent', NEW.assigned_agent, 'status', NEW.status,
            'skill', NEW.skill, 'skill_version', NEW.skill_version, 'notes', NEW.notes,
            'priority', NEW.priority, 'after_ids', NEW.after_ids, 'completed_at', NEW.completed_at,
            'deleted_at', NEW.deleted_at));
END;

CREATE TRIGGER task_changed AFTER UPDATE OF
    id, branch, parent_id, plan_file, content, body, sort_index, assigned_agent,
    status, skill, skill_version, notes, priority, after_ids, deleted_at ON tasks
WHEN (SELECT step FROM task_step_now) IS NOT 0
BEGIN
    INSERT INTO task_steps (project, branch, actor, at)
        SELECT NEW.project, NEW.branch, 'unknown', NEW.updated_at
        WHERE (SELECT step FROM task_step_now) IS NULL;
    INSERT INTO task_changes (step, task, before, after) VALUES (
        coalesce((SELECT step FROM task_step_now), (SELECT max(id) FROM task_steps)), NEW.id,
        json_object(
            'id', OLD.id, 'branch', OLD.branch, 'parent_id', OLD.parent_id,
            'plan_file', OLD.plan_file, 'content', OLD.content, 'body', OLD.body,
            'sort_index', OLD.sort_index, 'assigned_agent', OLD.assigned_agent, 'status', OLD.status,
            'skill', OLD.skill, 'skill_version', OLD.skill_version, 'notes', OLD.notes,
            'priority', OLD.priority, 'after_ids', OLD.after_ids, 'completed_at', OLD.completed_at,
            'deleted_at', OLD.deleted_at),
        json_object(
            'id', NEW.id, 'branch', NEW.branch, 'parent_id', NEW.parent_id,
            'plan_file', NEW.plan_file, 'content', NEW.content, 'body', NEW.body,
            'sort_index', NEW.sort_index, 'assigned_agent', NEW.assigned_agent, 'status', NEW.status,
            'skill', NEW.skill, 'skill_version', NEW.skill_version, 'notes', NEW.notes,
            'priority', NEW.priority, 'after_ids', NEW.after_ids, 'completed_at', NEW.completed_at,
            'deleted_at', NEW.deleted_at));
END;

-- What a run's project was called when the run began, if the project was merged into another since:
-- the chain of a journal begins with that name.
ALTER TABLE runs ADD COLUMN begun_in TEXT;

-- The message that a message answers.
ALTER TABLE messages ADD COLUMN re INTEGER REFERENCES messages (id);
CREATE INDEX messages_by_re ON messages (re) WHERE re IS NOT NULL;

-- The repository of a project's folder: its first commits with blanks between them, and its remote
-- without user, password and ending. When a command last worked there.
ALTER TABLE projects ADD COLUMN roots TEXT;
ALTER TABLE projects ADD COLUMN remote TEXT;
ALTER TABLE projects ADD COLUMN last_used TEXT;
