-- Where an IPv6 prefix begins, as 32 digits: prefixes that overlap with another one are found by an index, however many a pool has.
ALTER TABLE addresses ADD COLUMN range_start TEXT;
CREATE TABLE spelled (id TEXT PRIMARY KEY, digits TEXT NOT NULL) STRICT;
-- Each part of an address around '::' with a colon behind every hextet, and the missing zeros between the parts.
INSERT INTO spelled
WITH RECURSIVE parts AS (
  SELECT id,
    CASE WHEN instr(address, '::') = 0 THEN address || ':'
      WHEN address GLOB '::*' THEN '' ELSE substr(address, 1, instr(address, '::') - 1) || ':' END AS head,
    CASE WHEN instr(address, '::') = 0 OR address GLOB '*::' THEN '' ELSE substr(address, instr(address, '::') + 2) || ':' END AS tail
  FROM addresses WHERE version = 6
), hextets AS (
  SELECT id, head || substr('0:0:0:0:0:0:0:0:', 1, 2 * (8
    - (length(head) - length(replace(head, ':', ''))) - (length(tail) - length(replace(tail, ':', ''))))) || tail AS rest FROM parts
), digits AS (
  SELECT id, rest, '' AS text FROM hextets
  UNION ALL
  SELECT id, substr(rest, instr(rest, ':') + 1), text || substr('0000' || substr(rest, 1, instr(rest, ':') - 1), -4)
  FROM digits WHERE rest <> ''
)
SELECT id, text FROM digits WHERE rest = '';
UPDATE addresses SET range_start = (SELECT digits FROM spelled s WHERE s.id = addresses.id) WHERE version = 6;
DROP TABLE spelled;
CREATE INDEX addresses_ranges ON addresses (pool_id, range_start) WHERE range_start IS NOT NULL;

-- A prefix that was cut early is no exception any more once its pool has been cut beyond it.
DROP INDEX addresses_cut_early;
CREATE INDEX addresses_cut_early ON addresses (pool_id, range_start, prefix_length) WHERE cut_early = 1;
