-- What travels to other machines and came from them.
--
-- `origin` is whose a memory is that others learned. `sharing` has one row where memories are
-- shared: the name of this memory among them. `read_logs` has the position up to which each log
-- was read, also one that is no longer used: nothing of it counts again. What waits to be sent
-- stands in `outbox`.

ALTER TABLE memories ADD COLUMN origin TEXT;
CREATE TABLE sharing (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    origin TEXT NOT NULL
);
CREATE TABLE read_logs (log TEXT PRIMARY KEY, position INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE outbox (id INTEGER PRIMARY KEY AUTOINCREMENT, record TEXT NOT NULL);
CREATE INDEX errors_by_type ON errors (error_type);
