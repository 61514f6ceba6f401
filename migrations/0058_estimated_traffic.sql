-- How much of the measured time nobody counted in: its traffic is spread evenly over it.
ALTER TABLE traffic_meters ADD COLUMN estimated_seconds INTEGER NOT NULL DEFAULT 0;
ALTER TABLE traffic_days ADD COLUMN estimated_seconds INTEGER NOT NULL DEFAULT 0;
