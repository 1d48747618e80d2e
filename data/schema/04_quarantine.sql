-- What is held back until the user has looked at it.

CREATE TABLE quarantine (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    project    INTEGER NOT NULL REFERENCES projects,
    key        TEXT NOT NULL,
    job        TEXT NOT NULL,               -- empty: it stood in the file
    what       TEXT NOT NULL,
    text       TEXT NOT NULL,
    reasons    TEXT NOT NULL,
    since      INTEGER NOT NULL,
    is_waiting INTEGER NOT NULL,
    UNIQUE (project, key)
);
