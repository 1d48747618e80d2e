-- The sessions that each fix was found in. Fixes from before have none: they were found by
-- other rules, and are never told.

CREATE TABLE fix_sessions (
    fix     INTEGER NOT NULL REFERENCES fixes ON DELETE CASCADE,
    session TEXT NOT NULL,
    PRIMARY KEY (fix, session)
) WITHOUT ROWID;
INSERT OR IGNORE INTO stale_indexes SELECT DISTINCT project FROM memories;
