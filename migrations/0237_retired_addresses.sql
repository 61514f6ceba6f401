-- An address that is never given out again, and why. Who has it keeps it; from when it is free on, it is reserved. The
-- triggers see to that whatever code frees it: these words alone say that it is reserved for this.
ALTER TABLE addresses ADD COLUMN retired_for TEXT;
CREATE TRIGGER addresses_retired AFTER UPDATE OF retired_for ON addresses
WHEN NEW.retired_for IS NOT OLD.retired_for AND NEW.workload_id IS NULL AND NEW.holder_id IS NULL
  AND (NEW.reserved_for IS NULL OR NEW.reserved_for = 'Never given out again: ' || OLD.retired_for)
BEGIN
  UPDATE addresses SET reserved_for = 'Never given out again: ' || NEW.retired_for WHERE id = NEW.id;
END;
CREATE TRIGGER addresses_retired_freed AFTER UPDATE OF workload_id, holder_id, reserved_for ON addresses
WHEN NEW.retired_for IS NOT NULL AND NEW.workload_id IS NULL AND NEW.holder_id IS NULL AND NEW.reserved_for IS NULL
BEGIN
  UPDATE addresses SET reserved_for = 'Never given out again: ' || retired_for
  WHERE id = NEW.id AND workload_id IS NULL AND holder_id IS NULL AND reserved_for IS NULL;
END;
