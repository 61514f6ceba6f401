-- The fingerprint of the key by which the control server signs in on the node, where a person has named it.
ALTER TABLE source_removals ADD COLUMN control_key TEXT;
