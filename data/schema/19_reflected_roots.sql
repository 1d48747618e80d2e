-- The root session that a job reflected on, where its question asked which key points would have
-- helped: what was not named then did not come up.

ALTER TABLE jobs ADD COLUMN reflected TEXT;
