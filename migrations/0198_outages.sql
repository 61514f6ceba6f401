-- Absences of nodes that lasted longer than the delay before staff are told.
CREATE TABLE node_outages (
  id TEXT PRIMARY KEY NOT NULL,
  node_id TEXT NOT NULL REFERENCES nodes (id),
  -- Where the node was then.
  location_id TEXT NOT NULL REFERENCES locations (id),
  -- Nodes of a location that went away together have one notice, and so has a node that goes away again soon.
  incident_id TEXT NOT NULL,
  -- The node was heard of last then.
  since INTEGER NOT NULL,
  noted_at INTEGER NOT NULL,
  -- Null: no mail was sent of it, because the node had one a moment ago.
  mailed_at INTEGER,
  -- JSON: the names of those who got the notice or the mail.
  told TEXT NOT NULL,
  ended_at INTEGER,
  ended_as TEXT CHECK (ended_as IN ('back', 'lost', 'removed')),
  -- When its end was mailed.
  end_mailed_at INTEGER
) STRICT;
CREATE UNIQUE INDEX node_outages_open ON node_outages (node_id) WHERE ended_at IS NULL;
CREATE INDEX node_outages_of_node ON node_outages (node_id, noted_at);
CREATE INDEX node_outages_of_incident ON node_outages (incident_id);
CREATE INDEX node_outages_age ON node_outages (noted_at);
CREATE INDEX node_outages_to_mail ON node_outages (incident_id)
  WHERE ended_as = 'back' AND mailed_at IS NOT NULL AND end_mailed_at IS NULL;

-- The nodes that are away: a few of thousands, looked for every few seconds.
CREATE INDEX nodes_away ON nodes (id, name, location_id, seen_at)
  WHERE connected_at IS NULL AND removed_at IS NULL AND lost_at IS NULL AND credential_revoked_at IS NULL
    AND inventory_at IS NOT NULL;

-- Storage of which staff were told that it is nearly full. Pools of several nodes that are one storage count once.
CREATE TABLE storage_warnings (
  -- The id of the storage, or of the pool where no other node reaches it.
  storage TEXT PRIMARY KEY NOT NULL,
  pool_id TEXT NOT NULL,
  warned_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
