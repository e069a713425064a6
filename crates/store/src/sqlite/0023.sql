-- Which process works on a run, for the machines that share a store. A run may be held before it begins.
CREATE TABLE run_leases (
    run_id     TEXT PRIMARY KEY,
    owner_pid  INTEGER NOT NULL,
    owner_mark TEXT NOT NULL,
    machine    TEXT NOT NULL,
    until      TEXT NOT NULL
) STRICT;
