-- How sure the last reflection on each transcript was: a reason to look again.

ALTER TABLE cursors ADD COLUMN confidence REAL;
