-- How the session of an evaluation ended; null in older rows.

ALTER TABLE evaluations ADD COLUMN ended TEXT;
