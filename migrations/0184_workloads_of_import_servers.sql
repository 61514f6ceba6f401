-- A server that has moved knows the server here.
UPDATE import_servers SET workload_id = (SELECT m.workload_id FROM import_moves m WHERE m.server_id = import_servers.id)
WHERE state = 'moved' AND workload_id IS NULL;
