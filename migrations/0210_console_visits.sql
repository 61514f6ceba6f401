-- A visit to the console is one line of an activity: the ticket before it and its end are found, and left out, by these.
CREATE INDEX audit_console_by_actor ON audit (actor_id, id)
  WHERE operation IN ('consoles.create-ticket', 'consoles.closed') AND result = 'done';
CREATE INDEX audit_console_by_target ON audit (target, id)
  WHERE operation IN ('consoles.create-ticket', 'consoles.closed') AND result = 'done';
CREATE INDEX audit_console_ends ON audit (request_id) WHERE operation = 'consoles.closed';
