-- What is kept beside a self-correction, as JSON.

ALTER TABLE reflections ADD COLUMN correction TEXT;
