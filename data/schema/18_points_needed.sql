-- A row of a session that was not shown the point tells that it would have helped there.

ALTER TABLE point_sessions ADD COLUMN shown INTEGER NOT NULL DEFAULT 1;
