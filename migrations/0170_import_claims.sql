-- Imports: the requests that were sent to the other panel, and what servers claim here besides their addresses.
-- JSON: how many since the import was begun, how many of them failed, and the longest answer.
ALTER TABLE imports ADD COLUMN sent TEXT NOT NULL DEFAULT '{"requests":0,"refused":0,"longestMs":0}';
-- The server brings its id in the billing system along, where the import brings such ids.
ALTER TABLE import_servers ADD COLUMN has_billing_id INTEGER NOT NULL DEFAULT 1;
-- Why it could not be made here in words, such as that another server has its id in the billing system.
ALTER TABLE import_servers ADD COLUMN claim_conflict TEXT;
CREATE INDEX import_owners_billing ON import_owners (import_id, billing_id);
