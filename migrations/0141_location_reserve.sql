-- The memory that orders leave free in a location: `reserve` of its largest nodes, percent, or GiB. 0: none.
ALTER TABLE locations ADD COLUMN reserve INTEGER NOT NULL DEFAULT 0;
ALTER TABLE locations ADD COLUMN reserve_unit TEXT NOT NULL DEFAULT 'nodes';
