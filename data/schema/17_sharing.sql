-- What travels to other machines and came from them.
--
-- `origin` is whose a memory is that others learned. `sharing` has one row where memories are
-- shared: the name of this memory among them, the log that it was last exchanged with, and the
-- position up to which that was read. What waits to be sent stands in `outbox`.

ALTER TABLE memories ADD COLUMN origin TEXT;
CREATE TABLE sharing (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    origin TEXT NOT NULL, log TEXT NOT NULL, position INTEGER NOT NULL
);
CREATE TABLE outbox (id INTEGER PRIMARY KEY AUTOINCREMENT, record TEXT NOT NULL);
CREATE INDEX errors_by_type ON errors (error_type);
