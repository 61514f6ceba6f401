-- Owners may be left who were not told yet that their servers will move; one turn after another tells them.
ALTER TABLE imports ADD COLUMN announces INTEGER NOT NULL DEFAULT 0;
UPDATE imports SET announces = 1 WHERE status = 'migrating';
CREATE INDEX imports_announcing ON imports (id) WHERE announces = 1;
