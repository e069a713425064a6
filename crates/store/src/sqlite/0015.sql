-- The messages to an agent whose text it was not given yet, each once, without its own. Triggers
-- keep them, so that every way of writing a message does.
CREATE TABLE unread (
    project    TEXT NOT NULL,
    branch     TEXT NOT NULL,
    agent      TEXT NOT NULL,
    message_id INTEGER NOT NULL REFERENCES messages (id),
    hop        INTEGER NOT NULL,
    PRIMARY KEY (project, branch, agent, message_id)
) STRICT, WITHOUT ROWID;

INSERT INTO unread (project, branch, agent, message_id, hop)
    SELECT DISTINCT recipients.project, recipients.branch, recipients.agent, messages.id, hop
    FROM recipients JOIN messages ON messages.id = message_id
    LEFT JOIN agents ON agents.project = recipients.project
        AND agents.branch = recipients.branch AND agents.name = recipients.agent
    WHERE message_id > coalesce(last_seen_message_id, 0)
        AND (messages.project, messages.branch, from_agent)
            IS NOT (recipients.project, recipients.branch, recipients.agent);

-- How many those are: counting half a million of them would keep a hook waiting.
CREATE TABLE unread_counts (
    project  TEXT NOT NULL,
    branch   TEXT NOT NULL,
    agent    TEXT NOT NULL,
    messages INTEGER NOT NULL,
    PRIMARY KEY (project, branch, agent)
) STRICT, WITHOUT ROWID;

INSERT INTO unread_counts (project, branch, agent, messages)
    SELECT project, branch, agent, count(*) FROM unread GROUP BY project, branch, agent;

CREATE TRIGGER unread_grows AFTER INSERT ON unread BEGIN
    INSERT INTO unread_counts (project, branch, agent, messages)
        VALUES (new.project, new.branch, new.agent, 1)
        ON CONFLICT DO UPDATE SET messages = messages + 1;
END;

CREATE TRIGGER unread_shrinks AFTER DELETE ON unread BEGIN
    UPDATE unread_counts SET messages = messages - 1
        WHERE project = old.project AND branch = old.branch AND agent = old.agent;
END;

CREATE TRIGGER message_arrives AFTER INSERT ON recipients BEGIN
    INSERT OR IGNORE INTO unread (project, branch, agent, message_id, hop)
        SELECT new.project, new.branch, new.agent, id, hop FROM messages
        WHERE id = new.message_id
            AND (project, branch, from_agent) IS NOT (new.project, new.branch, new.agent);
END;

-- What is unread stays so for an agent that gets another name, branch or project.
CREATE TRIGGER message_moves AFTER UPDATE OF project, branch, agent ON recipients BEGIN
    INSERT OR IGNORE INTO unread (project, branch, agent, message_id, hop)
        SELECT new.project, new.branch, new.agent, message_id, hop FROM unread
        WHERE project = old.project AND branch = old.branch AND agent = old.agent
            AND message_id = old.message_id;
    DELETE FROM unread
        WHERE project = old.project AND branch = old.branch AND agent = old.agent
            AND message_id = old.message_id
            AND (project, branch, agent) IS NOT (new.project, new.branch, new.agent);
END;

-- A hook hands over several messages, and reads them for the agent once all parts of it are out.
ALTER TABLE deliveries ADD COLUMN messages TEXT NOT NULL DEFAULT '';
UPDATE deliveries SET messages = coalesce(message_id, '');
ALTER TABLE deliveries DROP COLUMN message_id;
ALTER TABLE deliveries ADD COLUMN newest_known INTEGER;

-- The last event that a hook entry heard of, to tell one that two hooks report from two events.
ALTER TABLE memories ADD COLUMN event INTEGER;
ALTER TABLE memories ADD COLUMN event_at TEXT;

-- How many tasks a plan has; '' is no plan.
CREATE TABLE plan_counts (
    project TEXT NOT NULL,
    branch  TEXT NOT NULL,
    plan    TEXT NOT NULL,
    open    INTEGER NOT NULL,
    closed  INTEGER NOT NULL,
    PRIMARY KEY (project, branch, plan)
) STRICT, WITHOUT ROWID;

INSERT INTO plan_counts (project, branch, plan, open, closed)
    SELECT project, branch, coalesce(plan_file, ''),
        sum(status IN ('pending', 'in_progress')), sum(status NOT IN ('pending', 'in_progress'))
    FROM tasks WHERE deleted_at IS NULL GROUP BY 1, 2, 3;

CREATE TRIGGER task_comes AFTER INSERT ON tasks WHEN new.deleted_at IS NULL BEGIN
    INSERT INTO plan_counts (project, branch, plan, open, closed)
        VALUES (new.project, new.branch, coalesce(new.plan_file, ''),
            new.status IN ('pending', 'in_progress'), new.status NOT IN ('pending', 'in_progress'))
        ON CONFLICT DO UPDATE SET open = open + excluded.open, closed = closed + excluded.closed;
END;

CREATE TRIGGER task_goes AFTER DELETE ON tasks WHEN old.deleted_at IS NULL BEGIN
    UPDATE plan_counts SET open = open - (old.status IN ('pending', 'in_progress')),
            closed = closed - (old.status NOT IN ('pending', 'in_progress'))
        WHERE project = old.project AND branch = old.branch AND plan = coalesce(old.plan_file, '');
END;

CREATE TRIGGER task_changes AFTER UPDATE OF project, branch, plan_file, status, deleted_at ON tasks
BEGIN
    UPDATE plan_counts SET open = open - (old.status IN ('pending', 'in_progress')),
            closed = closed - (old.status NOT IN ('pending', 'in_progress'))
        WHERE project = old.project AND branch = old.branch AND plan = coalesce(old.plan_file, '')
            AND old.deleted_at IS NULL;
    INSERT INTO plan_counts (project, branch, plan, open, closed)
        SELECT new.project, new.branch, coalesce(new.plan_file, ''),
            new.status IN ('pending', 'in_progress'), new.status NOT IN ('pending', 'in_progress')
        WHERE new.deleted_at IS NULL
        ON CONFLICT DO UPDATE SET open = open + excluded.open, closed = closed + excluded.closed;
END;

-- Siblings of one plan in their order, all of them and the open ones, so that the surroundings of a
-- task are found without reading its plan. Each begins with the columns of the one it replaces.
DROP INDEX tasks_by_plan;
DROP INDEX open_tasks_by_plan;
DROP INDEX open_tasks_by_agent;
CREATE INDEX tasks_by_place ON tasks (project, branch, plan_file, parent_id, sort_index)
    WHERE deleted_at IS NULL;
CREATE INDEX open_tasks_by_place ON tasks (project, branch, plan_file, parent_id, sort_index)
    WHERE deleted_at IS NULL AND status IN ('pending', 'in_progress');
CREATE INDEX open_tasks_of_agent ON tasks
    (project, branch, assigned_agent, plan_file, parent_id, sort_index)
    WHERE deleted_at IS NULL AND status IN ('pending', 'in_progress');
-- The order in which open tasks are to be done.
CREATE INDEX open_tasks_by_turn ON tasks
    (project, branch, plan_file, parent_id,
     CASE priority WHEN 'high' THEN 0 WHEN 'normal' THEN 1 ELSE 2 END, sort_index)
    WHERE deleted_at IS NULL AND status IN ('pending', 'in_progress');
