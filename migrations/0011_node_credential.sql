-- A node's credential can be revoked, and given anew to the same machine by an enrolment made for that node.
ALTER TABLE nodes ADD COLUMN credential_revoked_at INTEGER;
-- A hash of the machine's identity and host name; null where the machine has none.
ALTER TABLE nodes ADD COLUMN machine_id TEXT;
ALTER TABLE enrollments ADD COLUMN renews_node_id TEXT REFERENCES nodes (id);
