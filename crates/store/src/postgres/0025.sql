-- Who really wrote a row: the member of the team whose role the connection had. Empty in a store that one
-- role uses, and for the role that owns the store. `team.sql` says who may read and write which rows.
ALTER TABLE messages ADD COLUMN member TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN member TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE task_deeds ADD COLUMN member TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE task_steps ADD COLUMN member TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE pins ADD COLUMN member TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN member TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE journal ADD COLUMN member TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE lanes ADD COLUMN member TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE dispatches ADD COLUMN member TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE run_leases ADD COLUMN member TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE counters ADD COLUMN member TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE memories ADD COLUMN member TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE deliveries ADD COLUMN member TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE losses ADD COLUMN member TEXT COLLATE "C" NOT NULL DEFAULT '';

-- Facts about one user's machine: two members may have the same path.
ALTER TABLE installs ADD COLUMN member TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE installs DROP CONSTRAINT installs_pkey, ADD PRIMARY KEY (member, path);
ALTER TABLE setups ADD COLUMN member TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE setups DROP CONSTRAINT setups_folder_path_key, ADD UNIQUE (member, folder, path);
ALTER TABLE gates ADD COLUMN member TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE gates DROP CONSTRAINT gates_pkey, ADD PRIMARY KEY (member, client);

-- The step that is under way belongs to its transaction: in a table, one member could have switched off
-- what another one's changes write down.
DROP TABLE task_step_now;
CREATE VIEW task_step_now AS
    SELECT 1::BIGINT AS only_row,
        nullif(current_setting('convoke.task_step', true), '')::BIGINT AS step;
CREATE FUNCTION set_task_step() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('convoke.task_step', coalesce(NEW.step::TEXT, ''), true);
    RETURN NEW;
END $$;
CREATE TRIGGER set_task_step INSTEAD OF UPDATE ON task_step_now
    FOR EACH ROW EXECUTE FUNCTION set_task_step();

-- The team. One row of `team_group` names the role that all members belong to; without it there is no team.
CREATE TABLE team_group (
    role     TEXT COLLATE "C" NOT NULL,
    begun_at TEXT COLLATE "C" NOT NULL
);
CREATE TABLE team_members (
    name       TEXT COLLATE "C" PRIMARY KEY,
    invited_at TEXT COLLATE "C" NOT NULL,
    revoked_at TEXT COLLATE "C"
);
CREATE TABLE team_access (
    member     TEXT COLLATE "C" NOT NULL REFERENCES team_members (name),
    project    TEXT COLLATE "C" NOT NULL,
    granted_at TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (member, project)
);
-- Whose agent a name is.
CREATE TABLE team_agents (
    project  TEXT COLLATE "C" NOT NULL,
    agent    TEXT COLLATE "C" NOT NULL,
    member   TEXT COLLATE "C" NOT NULL REFERENCES team_members (name),
    bound_at TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (project, agent)
);
-- The folders in which a member has a project; `team_projects` has the owner's.
CREATE TABLE team_folders (
    member    TEXT COLLATE "C" NOT NULL REFERENCES team_members (name),
    path      TEXT COLLATE "C" NOT NULL,
    project   TEXT COLLATE "C" NOT NULL,
    folder_id TEXT COLLATE "C",
    PRIMARY KEY (member, path)
);
-- What was written, by whom: triggers add to it, and nothing changes or removes a row.
CREATE TABLE team_audit (
    id      BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at      TEXT COLLATE "C" NOT NULL,
    member  TEXT COLLATE "C" NOT NULL,
    project TEXT COLLATE "C" NOT NULL,
    action  TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    key     TEXT COLLATE "C" NOT NULL,
    agent   TEXT COLLATE "C" NOT NULL,
    sha256  TEXT COLLATE "C" NOT NULL
);
CREATE INDEX team_audit_by_project ON team_audit (project, id);

CREATE FUNCTION team_keep() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit trail only grows' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER team_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON team_audit
    FOR EACH STATEMENT EXECUTE FUNCTION team_keep();

CREATE FUNCTION team_now() RETURNS TEXT LANGUAGE sql VOLATILE AS $$
    SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- The member whose connection this is, also after a revocation; empty for the owner.
CREATE FUNCTION team_me() RETURNS TEXT LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT coalesce((SELECT name FROM team_members WHERE name = session_user::TEXT), '')
$$;
-- The same, or NULL if the member was revoked. The owner is the empty name.
CREATE FUNCTION team_active() RETURNS TEXT LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT CASE WHEN EXISTS (SELECT 1 FROM team_members
        WHERE name = session_user::TEXT AND revoked_at IS NOT NULL) THEN NULL ELSE team_me() END
$$;
-- The projects of the member whose connection this is.
CREATE FUNCTION team_mine() RETURNS TEXT[] LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT coalesce(array_agg(project), '{}') FROM team_access JOIN team_members ON name = member
    WHERE member = session_user::TEXT AND revoked_at IS NULL
$$;
-- Whether a message is in a project of the member's, or to an agent in one.
CREATE FUNCTION team_sees_message(message BIGINT) RETURNS BOOLEAN
    LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT EXISTS (SELECT 1 FROM messages WHERE id = message AND project = ANY (team_mine()))
        OR EXISTS (SELECT 1 FROM recipients WHERE message_id = message AND project = ANY (team_mine()))
$$;

-- Puts the member's name into a row, also if the statement names another.
CREATE FUNCTION team_sign() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    me TEXT := team_me();
BEGIN
    IF me <> '' THEN
        IF TG_OP = 'INSERT' THEN
            NEW.member := me;
        ELSE
            NEW.member := OLD.member;
        END IF;
    END IF;
    RETURN NEW;
END $$;

-- Lets a member act only for agents of its own. The first member who uses a name of a project gets it.
CREATE FUNCTION team_author() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    me    TEXT := team_me();
    who   TEXT := to_jsonb(NEW) ->> TG_ARGV[0];
    owner TEXT;
BEGIN
    IF me = '' THEN
        RETURN NEW;
    END IF;
    IF TG_OP = 'UPDATE' THEN
        IF to_jsonb(OLD) ->> TG_ARGV[0] = who AND OLD.project = NEW.project THEN
            RETURN NEW;
        END IF;
        IF coalesce(to_jsonb(OLD) ->> 'member', me) <> me THEN
            RAISE EXCEPTION 'another member wrote this row of %', TG_TABLE_NAME
                USING ERRCODE = 'insufficient_privilege';
        END IF;
    END IF;
    -- The person at the keyboard is whose connection it is; a change without a step has no known author.
    IF who IN ('human', 'unknown') THEN
        RETURN NEW;
    END IF;
    IF NEW.project <> ALL (team_mine()) THEN
        RAISE EXCEPTION 'no project `%` is yours', NEW.project USING ERRCODE = 'insufficient_privilege';
    END IF;
    INSERT INTO team_agents (project, agent, member, bound_at)
        VALUES (NEW.project, who, me, team_now()) ON CONFLICT DO NOTHING;
    SELECT member INTO owner FROM team_agents WHERE project = NEW.project AND agent = who;
    IF owner <> me THEN
        RAISE EXCEPTION 'agent @% of project % belongs to %; choose another name (CONVOKE_AGENT, or `wake.agent`)',
            who, NEW.project, owner USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END $$;

-- A member may not make what was spent less.
CREATE FUNCTION team_lane() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
    amounts BIGINT[] := ARRAY[NEW.input, NEW.cached, NEW.output, NEW.reasoning, NEW.micro_dollars];
BEGIN
    IF team_me() = '' THEN
        RETURN NEW;
    END IF;
    IF 0 > ANY (array_remove(amounts, NULL)) THEN
        RAISE EXCEPTION 'a lane cannot spend less than nothing' USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF TG_OP = 'UPDATE' AND OLD.ended_at IS NOT NULL
        AND (to_jsonb(OLD) - 'project' - 'branch') <> (to_jsonb(NEW) - 'project' - 'branch') THEN
        RAISE EXCEPTION 'lane % has ended', OLD.id USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END $$;

-- Writes down who wrote a row.
CREATE FUNCTION team_note() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    found JSONB := CASE TG_OP WHEN 'DELETE' THEN to_jsonb(OLD) ELSE to_jsonb(NEW) END;
    place TEXT := found ->> 'project';
BEGIN
    IF TG_TABLE_NAME = 'journal' THEN
        SELECT project INTO place FROM runs WHERE id = found ->> 'run_id';
    ELSIF TG_TABLE_NAME = 'task_changes' THEN
        SELECT project INTO place FROM task_steps WHERE id = (found ->> 'step')::BIGINT;
    ELSIF TG_TABLE_NAME = 'team_projects' THEN
        place := found ->> 'name';
    END IF;
    INSERT INTO team_audit (at, member, project, action, subject, key, agent, sha256) VALUES (
        team_now(), team_me(), coalesce(place, ''), lower(TG_OP), TG_TABLE_NAME,
        coalesce(found ->> 'id', (found ->> 'run_id') || ':' || (found ->> 'seq'), found ->> 'name', ''),
        coalesce(found ->> 'from_agent', found ->> 'actor', ''),
        encode(sha256(convert_to(found::TEXT, 'UTF8')), 'hex'));
    RETURN NULL;
END $$;

-- The lanes since a time, for a day's budget that all projects share. A member sees those of its own
-- projects; of others only how much they used together, by client, and that lanes run.
CREATE FUNCTION team_lanes(since TEXT) RETURNS SETOF lanes LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
DECLARE
    own TEXT[] := team_mine();
    one lanes;
BEGIN
    IF team_me() = '' THEN
        RETURN QUERY SELECT * FROM lanes WHERE started_at >= since ORDER BY id;
        RETURN;
    END IF;
    RETURN QUERY SELECT * FROM lanes WHERE started_at >= since AND project = ANY (own) ORDER BY id;
    IF team_active() IS NULL THEN
        RETURN;
    END IF;
    FOR one.agent, one.started_at, one.outcome, one.ended_at, one.input, one.cached, one.output,
        one.reasoning, one.micro_dollars IN
        SELECT agent, min(started_at), 'answered', max(ended_at), sum(input), sum(cached), sum(output),
            sum(reasoning), sum(micro_dollars) FROM lanes
        WHERE started_at >= since AND project <> ALL (own) AND ended_at IS NOT NULL
        GROUP BY agent, input IS NULL, micro_dollars IS NULL
    LOOP
        one.id := 0; one.project := ''; one.branch := ''; one.writes := 0; one.owner_pid := 0;
        one.owner_mark := ''; one.prompt_chars := 0; one.prompt_hash := ''; one.member := '';
        RETURN NEXT one;
    END LOOP;
    one := NULL;
    FOR one.agent, one.started_at, one.owner_pid, one.owner_mark, one.prompt_chars IN
        SELECT agent, started_at, owner_pid, owner_mark, prompt_chars FROM lanes
        WHERE started_at >= since AND project <> ALL (own) AND ended_at IS NULL
    LOOP
        one.id := 0; one.project := ''; one.branch := ''; one.writes := 0; one.prompt_hash := '';
        one.member := '';
        RETURN NEXT one;
    END LOOP;
END $$;

-- Projects as the connection's user knows them: a member's are at the member's own folders.
ALTER TABLE projects RENAME TO team_projects;
CREATE VIEW projects WITH (security_barrier) AS
    SELECT coalesce(here.path, CASE WHEN (SELECT team_me()) = '' THEN all_of.path
            ELSE all_of.path || ' (on another machine)' END) AS path,
        all_of.name, all_of.roots, all_of.remote, all_of.last_used,
        CASE WHEN (SELECT team_me()) = '' THEN all_of.folder_id ELSE here.folder_id END AS folder_id,
        all_of.merged_into
    FROM team_projects AS all_of
    LEFT JOIN team_folders AS here ON here.project = all_of.name AND here.member = (SELECT team_me())
    WHERE (SELECT team_me()) = '' OR all_of.name = ANY ((SELECT team_mine())::TEXT[]);

CREATE FUNCTION team_project() RETURNS TRIGGER LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    me TEXT := team_me();
BEGIN
    IF me = '' THEN
        IF TG_OP = 'INSERT' THEN
            INSERT INTO team_projects (path, name, roots, remote, last_used, folder_id, merged_into)
                VALUES (NEW.path, NEW.name, NEW.roots, NEW.remote, NEW.last_used, NEW.folder_id,
                    NEW.merged_into);
        ELSIF TG_OP = 'UPDATE' THEN
            UPDATE team_projects SET path = NEW.path, name = NEW.name, roots = NEW.roots,
                remote = NEW.remote, last_used = NEW.last_used, folder_id = NEW.folder_id,
                merged_into = NEW.merged_into WHERE name = OLD.name;
        ELSE
            DELETE FROM team_projects WHERE name = OLD.name;
        END IF;
        RETURN coalesce(NEW, OLD);
    END IF;
    IF team_active() IS NULL THEN
        RAISE EXCEPTION 'member % was revoked', me USING ERRCODE = 'insufficient_privilege';
    END IF;
    -- A folder of a member's own becomes a project that only this member and the owner see.
    IF TG_OP = 'INSERT' THEN
        INSERT INTO team_projects (path, name) VALUES (NEW.path || ' (of ' || me || ')', NEW.name);
        INSERT INTO team_access (member, project, granted_at) VALUES (me, NEW.name, team_now());
        INSERT INTO team_folders (member, path, project, folder_id)
            VALUES (me, NEW.path, NEW.name, NEW.folder_id);
        RETURN NEW;
    END IF;
    IF OLD.name <> ALL (team_mine()) THEN
        RETURN NULL;
    END IF;
    -- A member forgets a project by forgetting its folder; one of the member's own goes with it.
    IF TG_OP = 'DELETE' THEN
        DELETE FROM team_folders WHERE member = me AND path = OLD.path;
        IF NOT EXISTS (SELECT 1 FROM team_access WHERE project = OLD.name AND member <> me) THEN
            DELETE FROM team_projects WHERE name = OLD.name AND path LIKE '% (of ' || me || ')';
            IF FOUND THEN
                DELETE FROM team_access WHERE project = OLD.name AND member = me;
                DELETE FROM team_folders WHERE project = OLD.name AND member = me;
            END IF;
        END IF;
        RETURN OLD;
    END IF;
    IF NEW.name <> OLD.name THEN
        RAISE EXCEPTION 'only the owner renames a project' USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF (NEW.path, NEW.folder_id) IS DISTINCT FROM (OLD.path, OLD.folder_id) THEN
        DELETE FROM team_folders WHERE member = me AND path = OLD.path;
        IF NEW.path NOT LIKE '% (on another machine)' THEN
            INSERT INTO team_folders (member, path, project, folder_id)
                VALUES (me, NEW.path, OLD.name, NEW.folder_id)
                ON CONFLICT (member, path) DO UPDATE
                SET project = excluded.project, folder_id = excluded.folder_id;
        END IF;
    END IF;
    UPDATE team_projects SET last_used = NEW.last_used, roots = coalesce(NEW.roots, roots),
        remote = coalesce(NEW.remote, remote) WHERE name = OLD.name;
    RETURN NEW;
END $$;
CREATE TRIGGER team_project INSTEAD OF INSERT OR UPDATE OR DELETE ON projects
    FOR EACH ROW EXECUTE FUNCTION team_project();

-- Whether a name of a project is taken, also by one that the member does not see.
CREATE FUNCTION team_name_taken(wanted TEXT) RETURNS BOOLEAN
    LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT EXISTS (SELECT 1 FROM team_projects WHERE name = wanted)
$$;

-- A function with its owner's rights must not find a table that a member made for the occasion.
DO $$
DECLARE
    one REGPROCEDURE;
BEGIN
    FOR one IN SELECT oid::REGPROCEDURE FROM pg_proc
        WHERE pronamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
            AND proname LIKE 'team!_%' ESCAPE '!'
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', one, current_schema());
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', one);
    END LOOP;
END $$;
