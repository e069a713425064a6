-- Which process works on a run, for the machines that share a store. A run may be held before it begins.
CREATE TABLE run_leases (
    run_id     TEXT COLLATE "C" PRIMARY KEY,
    owner_pid  BIGINT NOT NULL,
    owner_mark TEXT COLLATE "C" NOT NULL,
    machine    TEXT COLLATE "C" NOT NULL,
    until      TEXT COLLATE "C" NOT NULL
);

-- The words of a text, for searches. The server's parser would keep paths, addresses and names with
-- hyphens together, so that a search for a word in them would fail: what is neither letter nor digit
-- separates words. A list of words can have one MiB, so it holds those of the beginning.
CREATE FUNCTION words_of(content TEXT) RETURNS tsvector
    LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT to_tsvector('simple', regexp_replace(left(content, 100000),
        '[\u0001-/:-@\[-`{-\u00a9\u00ab-\u00b1\u00b4\u00b6-\u00b8\u00bb\u00bf\u2000-\u206f\u3000-\u303f]+',
        ' ', 'g'))
$$;
CREATE INDEX message_words ON messages USING gin (words_of(content));
