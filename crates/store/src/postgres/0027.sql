-- How often a lane may be begun in a generation, how often it was, how many attempts were given back by
-- workers that could not begin it, which do not count, and what those and attempts that failed said, as
-- JSON: a worker's process and its words.
ALTER TABLE fleet_lanes ADD COLUMN most_attempts BIGINT NOT NULL DEFAULT 3;
ALTER TABLE fleet_lanes ADD COLUMN begun BIGINT NOT NULL DEFAULT 0;
ALTER TABLE fleet_lanes ADD COLUMN returned BIGINT NOT NULL DEFAULT 0;
ALTER TABLE fleet_lanes ADD COLUMN complaints TEXT COLLATE "C" NOT NULL DEFAULT '{}';

-- Who really submitted a lane or runs a worker. Empty in a store that one role uses.
ALTER TABLE fleet_lanes ADD COLUMN member TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE fleet_workers ADD COLUMN member TEXT COLLATE "C" NOT NULL DEFAULT '';

-- How many lanes of a key hold a permit, in all projects: the limit is the account's and the team's. A
-- member learns the number, and nothing else of other projects.
CREATE FUNCTION team_open_lanes(wanted TEXT, since TEXT, moment TEXT) RETURNS BIGINT
    LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT count(*) FROM fleet_lanes WHERE permit = wanted AND state <> 'ended'
        AND (watched_at >= since OR coalesce(beat_at, '') >= since)
        AND coalesce(not_before, '') <= moment AND team_active() IS NOT NULL
$$;

-- Rows of the audit trail without a project are the owner's: no project of a member's may be called so.
ALTER TABLE team_projects ADD CONSTRAINT project_has_a_name CHECK (btrim(name) <> '') NOT VALID;
ALTER TABLE team_access ADD CONSTRAINT project_has_a_name CHECK (btrim(project) <> '') NOT VALID;

-- A function with its owner's rights must not find a table that a member made for the occasion.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION team_open_lanes(TEXT, TEXT, TEXT) SET search_path = %I, pg_temp',
        current_schema());
    REVOKE EXECUTE ON FUNCTION team_open_lanes(TEXT, TEXT, TEXT) FROM PUBLIC;
END $$;
