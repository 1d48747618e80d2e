-- What the screen of today says of what earlier rules held back: `held`, `passes`, or `offered`
-- once the user has seen that it passes; null where it was not asked yet.

ALTER TABLE quarantine ADD COLUMN screened TEXT;
