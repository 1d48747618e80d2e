-- What paid a call: 0 the budgets of the day, 1 what was agreed for `playbook bootstrap`.

ALTER TABLE calls ADD COLUMN purse INTEGER NOT NULL DEFAULT 0;
