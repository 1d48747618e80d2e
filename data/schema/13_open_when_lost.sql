-- The sessions of a project that were open when its memory was found to be gone, as JSON.

ALTER TABLE projects ADD COLUMN open_then TEXT;
