-- Until when all that a project's sessions said has counted, by a memory that is gone, and
-- when that was found.

ALTER TABLE projects ADD COLUMN lost_until INTEGER;
ALTER TABLE projects ADD COLUMN begun_anew INTEGER;
