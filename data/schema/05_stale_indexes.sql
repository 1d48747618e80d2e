-- The projects whose hooks' index is to be written; all that have learned something before
-- there was such a list.

CREATE TABLE stale_indexes (project INTEGER PRIMARY KEY REFERENCES projects);
INSERT INTO stale_indexes SELECT DISTINCT project FROM memories;
