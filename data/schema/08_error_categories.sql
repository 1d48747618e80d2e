-- The category of an error was the tool's name, which stands in `errors`; the next time it
-- strikes it gets its own.

UPDATE memories SET category = NULL WHERE kind = 'error';
