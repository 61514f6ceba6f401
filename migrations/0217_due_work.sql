-- Work that begins by itself reads what is due, however many servers, accounts and jobs there are.

-- A guest that is off is not due before it starts. Such rows would stay the first of those that are due.
DROP TRIGGER workloads_guest_off;
CREATE TRIGGER workloads_guest_off AFTER UPDATE OF power ON workloads
  WHEN NEW.power IN ('stopped', 'crashed', 'absent') AND OLD.power IS NOT NEW.power
BEGIN
  UPDATE servers SET pending_seed = 'next_start' WHERE id = NEW.id AND pending_seed = 'next_stop';
  UPDATE server_guests SET agent_answers = 0, next_look_at = 9000000000000000 WHERE server_id = NEW.id;
END;
UPDATE server_guests SET next_look_at = 9000000000000000
  WHERE server_id IN (SELECT id FROM workloads WHERE power IN ('stopped', 'crashed', 'absent') OR terminated_at IS NOT NULL);

CREATE INDEX accounts_to_tell ON accounts (id) WHERE email_pending = 1 AND welcomed_at IS NULL;

-- How many jobs failed or succeeded since a time.
CREATE INDEX jobs_ended ON jobs (state, finished_at) WHERE finished_at IS NOT NULL;
