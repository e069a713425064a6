-- How often a lane may be begun in a generation, how often it was, how many attempts were given back by
-- workers that could not begin it, which do not count, and what those and attempts that failed said, as
-- JSON: a worker's process and its words.
ALTER TABLE fleet_lanes ADD COLUMN most_attempts INTEGER NOT NULL DEFAULT 3;
ALTER TABLE fleet_lanes ADD COLUMN begun INTEGER NOT NULL DEFAULT 0;
ALTER TABLE fleet_lanes ADD COLUMN returned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE fleet_lanes ADD COLUMN complaints TEXT NOT NULL DEFAULT '{}';

-- Who really submitted a lane or runs a worker in a team's store on a server; empty here.
ALTER TABLE fleet_lanes ADD COLUMN member TEXT NOT NULL DEFAULT '';
ALTER TABLE fleet_workers ADD COLUMN member TEXT NOT NULL DEFAULT '';
