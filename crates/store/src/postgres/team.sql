-- Who may read and write what. It runs as the owner when a team begins and after each migration, begins from
-- nothing each time, and gives a table that it does not know to no member.
DO $team$
DECLARE
    members   TEXT := (SELECT role FROM team_group);
    here      TEXT := current_schema();
    one       RECORD;
    condition TEXT;
    is_mine   CONSTANT TEXT := 'project = ANY ((SELECT team_mine())::TEXT[])';
    is_me     CONSTANT TEXT := 'member = (SELECT team_active())';
    -- Rows without a project belong to a run, a step or a rule that has one, or to one member's machine.
    -- Sessions that began before the team did belong to those who have their project.
    others    CONSTANT JSONB := jsonb_build_object(
        'journal', 'EXISTS (SELECT 1 FROM runs WHERE runs.id = run_id)',
        'run_leases', is_me || ' OR EXISTS (SELECT 1 FROM runs WHERE runs.id = run_id)',
        'found_runs', 'EXISTS (SELECT 1 FROM runs WHERE runs.id = run)',
        'found_findings', 'EXISTS (SELECT 1 FROM runs WHERE runs.id = run)',
        'task_changes', 'EXISTS (SELECT 1 FROM task_steps WHERE task_steps.id = step)',
        'session_moves', 'EXISTS (SELECT 1 FROM task_steps WHERE task_steps.id = step)',
        'pin_moves', 'EXISTS (SELECT 1 FROM task_steps WHERE task_steps.id = step) '
            'AND EXISTS (SELECT 1 FROM pins WHERE pins.id = pin_id)',
        'pin_receipts', 'EXISTS (SELECT 1 FROM pins WHERE pins.id = pin_id)',
        'memories', is_me || ' OR (member = '''' AND EXISTS (SELECT 1 FROM sessions WHERE '
            'sessions.client = memories.client AND sessions.session_id = memories.session_id))',
        'deliveries', is_me || ' OR (member = '''' AND EXISTS (SELECT 1 FROM sessions WHERE '
            'sessions.client = deliveries.client AND sessions.session_id = deliveries.session_id))',
        'losses', is_me || ' OR (member = '''' AND EXISTS (SELECT 1 FROM sessions WHERE '
            'sessions.client = losses.client AND sessions.session_id = losses.session_id))',
        'counters', is_me || ' OR (member = '''' AND EXISTS (SELECT 1 FROM lanes '
            'WHERE lanes.session = counters.session))',
        'installs', is_me,
        'setups', is_me,
        'gates', is_me,
        'fleet_events', 'EXISTS (SELECT 1 FROM fleet_lanes WHERE fleet_lanes.id = lane)',
        'fleet_workers', is_me);
    -- What a member may see of rows that it may not change: who waits for a worker must know whether
    -- there is one, and a worker has no project.
    shown     CONSTANT JSONB := jsonb_build_object(
        'fleet_workers', '(SELECT team_active()) IS NOT NULL');
    -- What a new row must fulfil besides: a foreign key finds also what its writer does not see.
    refers    CONSTANT JSONB := jsonb_build_object(
        'messages', '(re IS NULL OR team_sees_message(re))',
        'recipients', 'team_sees_message(message_id)',
        'unread', 'team_sees_message(message_id)',
        'task_deeds', '(message_id IS NULL OR team_sees_message(message_id))');
    -- What was said and done stays: only where a row belongs may change.
    places    CONSTANT JSONB := jsonb_build_object(
        'messages', 'project, branch, from_agent, to_agent, re',
        'events', 'project, branch, actor',
        'task_deeds', 'project, branch, task_id, actor, superseded_at',
        -- A lane's prompt stays as well; one that is submitted again may have other limits.
        'fleet_lanes', 'project, request, generation, attempt, state, worker, outcome, report, not_before, '
            'started_at, beat_at, watched_at, ended_at, most_attempts, begun, returned, complaints');
    -- Tables whose rows nothing changes.
    grown     CONSTANT TEXT[] := ARRAY['journal', 'fleet_events'];
    -- Tables that lose no row.
    kept      CONSTANT TEXT[] := ARRAY['messages', 'events', 'task_deeds', 'journal', 'lanes', 'runs'];
    authored  CONSTANT JSONB := jsonb_build_object('messages', 'from_agent', 'events', 'actor',
        'task_deeds', 'actor', 'task_steps', 'actor', 'agents', 'name');
    audited   CONSTANT TEXT[] := ARRAY['messages', 'events', 'task_deeds', 'task_steps', 'task_changes',
        'pins', 'runs', 'journal', 'lanes', 'team_projects'];
BEGIN
    EXECUTE format('REVOKE CREATE ON SCHEMA %I FROM PUBLIC', here);
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', here, members);
    EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA %I FROM PUBLIC, %I', here, members);
    EXECUTE format('REVOKE ALL ON ALL SEQUENCES IN SCHEMA %I FROM PUBLIC, %I', here, members);
    FOR one IN SELECT tablename, policyname FROM pg_policies
        WHERE schemaname = here AND policyname LIKE 'team!_%' ESCAPE '!' LOOP
        EXECUTE format('DROP POLICY %I ON %I', one.policyname, one.tablename);
    END LOOP;
    FOR one IN SELECT event_object_table AS tablename, trigger_name FROM information_schema.triggers
        WHERE trigger_schema = here AND trigger_name IN
            ('team_a_author', 'team_b_lane', 'team_c_sign', 'team_note')
        GROUP BY 1, 2 LOOP
        EXECUTE format('DROP TRIGGER %I ON %I', one.trigger_name, one.tablename);
    END LOOP;
    FOR one IN SELECT tablename::TEXT AS name,
            EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = here
                AND table_name = tablename AND column_name = 'project') AS has_project,
            EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = here
                AND table_name = tablename AND column_name = 'member') AS has_member
        FROM pg_tables WHERE schemaname = here LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', one.name);
        CONTINUE WHEN one.name LIKE 'team!_%' ESCAPE '!' OR one.name = 'convoke_schema';
        condition := coalesce(others ->> one.name, CASE WHEN one.has_project THEN is_mine END);
        CONTINUE WHEN condition IS NULL;
        EXECUTE format('CREATE POLICY team_read ON %I FOR SELECT TO %I USING (%s)', one.name, members,
            CASE one.name WHEN 'messages' THEN condition || ' OR EXISTS (SELECT 1 FROM recipients '
                'WHERE recipients.message_id = messages.id)'
                ELSE coalesce(shown ->> one.name, condition) END);
        EXECUTE format('GRANT SELECT ON %I TO %I', one.name, members);
        EXECUTE format('CREATE POLICY team_add ON %I FOR INSERT TO %I WITH CHECK (%s)', one.name,
            members, concat_ws(' AND ', '(' || condition || ')', refers ->> one.name));
        EXECUTE format('GRANT INSERT ON %I TO %I', one.name, members);
        IF one.name <> ALL (grown) THEN
            EXECUTE format('CREATE POLICY team_change ON %I FOR UPDATE TO %I USING (%s) WITH CHECK (%s)',
                one.name, members, condition,
                concat_ws(' AND ', '(' || condition || ')', refers ->> one.name));
            EXECUTE format('GRANT UPDATE %s ON %I TO %I', coalesce('(' || (places ->> one.name) || ')', ''),
                one.name, members);
        END IF;
        IF one.name <> 'journal' THEN
            -- Without a policy a statement that removes rows finds none.
            EXECUTE format('GRANT DELETE ON %I TO %I', one.name, members);
        END IF;
        IF one.name <> ALL (kept) THEN
            EXECUTE format('CREATE POLICY team_remove ON %I FOR DELETE TO %I USING (%s)', one.name,
                members, condition);
        END IF;
        IF authored ? one.name THEN
            EXECUTE format('CREATE TRIGGER team_a_author BEFORE INSERT OR UPDATE ON %I '
                'FOR EACH ROW EXECUTE FUNCTION team_author(%L)', one.name, authored ->> one.name);
        END IF;
        IF one.name = 'lanes' THEN
            CREATE TRIGGER team_b_lane BEFORE INSERT OR UPDATE ON lanes
                FOR EACH ROW EXECUTE FUNCTION team_lane();
        END IF;
        IF one.has_member THEN
            EXECUTE format('CREATE TRIGGER team_c_sign BEFORE INSERT OR UPDATE ON %I '
                'FOR EACH ROW EXECUTE FUNCTION team_sign()', one.name);
        END IF;
    END LOOP;
    FOREACH condition IN ARRAY audited LOOP
        EXECUTE format('CREATE TRIGGER team_note AFTER INSERT OR UPDATE OR DELETE ON %I '
            'FOR EACH ROW EXECUTE FUNCTION team_note()', condition);
    END LOOP;
    -- Not each sign of life: a lane that runs gets two in a second.
    CREATE TRIGGER team_note AFTER INSERT OR DELETE OR UPDATE OF generation, attempt, state, outcome, report
        ON fleet_lanes FOR EACH ROW EXECUTE FUNCTION team_note();

    -- The team itself: a member sees those with whom it shares a project.
    EXECUTE format('GRANT SELECT ON convoke_schema, team_group, team_members, team_access, team_agents, '
        'team_folders, team_audit TO %I', members);
    EXECUTE format('CREATE POLICY team_read ON convoke_schema FOR SELECT TO %I USING (true)', members);
    EXECUTE format('CREATE POLICY team_read ON team_group FOR SELECT TO %I USING (true)', members);
    EXECUTE format('CREATE POLICY team_read ON team_access FOR SELECT TO %I USING (%s)', members, is_mine);
    EXECUTE format('CREATE POLICY team_read ON team_members FOR SELECT TO %I USING '
        '(EXISTS (SELECT 1 FROM team_access WHERE team_access.member = name))', members);
    EXECUTE format('CREATE POLICY team_read ON team_agents FOR SELECT TO %I USING (%s)', members, is_mine);
    EXECUTE format('CREATE POLICY team_read ON team_folders FOR SELECT TO %I USING (%s)', members, is_me);
    EXECUTE format('CREATE POLICY team_read ON team_audit FOR SELECT TO %I USING '
        '(project <> '''' AND %s)', members, is_mine);
    EXECUTE format('GRANT SELECT, UPDATE ON task_step_now TO %I', members);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON projects TO %I', members);
    EXECUTE format('GRANT EXECUTE ON FUNCTION team_now(), team_me(), team_active(), team_mine(), '
        'team_sees_message(BIGINT), team_lanes(TEXT), team_name_taken(TEXT), '
        'team_open_lanes(TEXT, TEXT, TEXT) TO %I', members);
END $team$;
