-- Every answer in a loop of reviews, and every fix; `passed` is only a reviewer's.
CREATE TABLE review_rounds (
    project       TEXT NOT NULL,
    branch        TEXT NOT NULL,
    feature       TEXT NOT NULL,
    command       TEXT NOT NULL,
    iteration     INTEGER NOT NULL,
    role          TEXT NOT NULL,
    passed        INTEGER,
    text          TEXT NOT NULL,
    input_tokens  INTEGER,
    output_tokens INTEGER,
    micro_dollars INTEGER,
    created_at    TEXT NOT NULL,
    PRIMARY KEY (project, branch, feature, command, iteration, role)
) STRICT, WITHOUT ROWID;

-- Why a loop of reviews ended.
CREATE TABLE review_loops (
    project    TEXT NOT NULL,
    branch     TEXT NOT NULL,
    feature    TEXT NOT NULL,
    command    TEXT NOT NULL,
    stop       TEXT NOT NULL,
    stopped_at TEXT NOT NULL,
    PRIMARY KEY (project, branch, feature, command)
) STRICT, WITHOUT ROWID;
