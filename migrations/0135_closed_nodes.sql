-- Since when a node is closed for new servers, in ms, and why in the words of staff.
ALTER TABLE nodes ADD COLUMN closed_at INTEGER;
ALTER TABLE nodes ADD COLUMN closed_reason TEXT;
