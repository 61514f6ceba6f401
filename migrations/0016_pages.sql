-- An announcement may be for the servers of one node, and may end when that node is connected again.
ALTER TABLE announcements ADD COLUMN node_id TEXT;
ALTER TABLE announcements ADD COLUMN until_connected INTEGER NOT NULL DEFAULT 0;
