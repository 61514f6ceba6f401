-- The kernel that the host ran when it was emptied: beside the one after its restart it shows what an update did.
ALTER TABLE drains ADD COLUMN kernel TEXT;
-- The node that a person has chosen for the next move of this server; null: placement chooses.
ALTER TABLE drain_servers ADD COLUMN chosen_node_id TEXT REFERENCES nodes (id);
