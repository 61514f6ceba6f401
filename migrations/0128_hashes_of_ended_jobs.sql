-- Hashes of passwords are not kept once nothing reads them: not in jobs that have ended for good, nor in servers that are gone.
-- What a job answered had them as hashed_passwd or, encrypted for a node, as adminPassword: one password for each step.
UPDATE job_steps SET output = replace(output, coalesce((
  SELECT t.atom FROM json_tree(job_steps.output) t
  WHERE t.type = 'text' AND (t.atom GLOB '$6$*' OR t.key = 'adminPassword') LIMIT 1), ''), '***')
WHERE (instr(output, '"$6$') OR instr(output, '"adminPassword":"'))
  AND job_id IN (SELECT id FROM jobs WHERE state IN ('succeeded', 'failed') AND undo_node_id IS NULL);
UPDATE jobs SET input = json_set(input, (
  SELECT t.fullkey FROM json_tree(jobs.input) t WHERE t.type = 'text' AND t.key = 'passwordHash' LIMIT 1), NULL)
WHERE instr(input, '"passwordHash":"') AND state IN ('succeeded', 'failed') AND undo_node_id IS NULL;

UPDATE servers SET pending_seed = NULL, pending_password_hash = NULL
WHERE (pending_seed IS NOT NULL OR pending_password_hash IS NOT NULL) AND id IN (SELECT id FROM workloads WHERE released_at IS NOT NULL);
