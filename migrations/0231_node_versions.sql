-- The version of the agent on each node, so that nobody parses the facts of all nodes for it.
CREATE INDEX nodes_versions ON nodes (facts ->> '$.agentVersion', id) WHERE removed_at IS NULL;
