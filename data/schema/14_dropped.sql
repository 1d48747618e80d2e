-- What a reply asked for and was not accepted, with the reasons, as JSON.

ALTER TABLE jobs ADD COLUMN dropped TEXT;
