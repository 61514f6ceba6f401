-- Searches use an index of every three letters in a row, which SQLite keeps of one short text for each thing that is searched
-- (search_texts, in small letters without accents). Of 300,000 servers and 100,000 accounts: a word 0.1 to 0.7 ms instead of
-- 25 to 160; 69 bytes of index each. Triggers keep texts and index in the transaction of the change; views say what the texts are.
DROP TRIGGER workloads_search_insert;
DROP TRIGGER workloads_search_update;
DROP TRIGGER workloads_search_delete;
DROP TRIGGER addresses_search_insert;
DROP TRIGGER addresses_search_update;
DROP TRIGGER addresses_search_delete;
DROP TRIGGER accounts_search_insert;
DROP TRIGGER accounts_search_update;
DROP TRIGGER accounts_search_delete;
DROP VIEW workload_search_texts;
DROP VIEW account_search_texts;
DROP TABLE workload_search;
DROP TABLE account_search;

-- A kind has the documents from number << 40 on, so that a search of one kind does not read those of the others.
CREATE TABLE search_kinds (kind TEXT PRIMARY KEY, number INTEGER NOT NULL UNIQUE) STRICT, WITHOUT ROWID;
INSERT INTO search_kinds VALUES ('account', 1), ('node', 2), ('volume', 3), ('placement_group', 4), ('server', 5), ('gpu_instance', 6);

-- Groups of values with a carriage return between them.
CREATE TABLE search_texts (
  doc INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  owner_id TEXT,
  -- It is neither terminated nor removed.
  listed INTEGER NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX search_texts_id ON search_texts (kind, id);
CREATE INDEX search_texts_start ON search_texts (kind, substr(text, 1, 24));
CREATE VIRTUAL TABLE search_index USING fts5 (
  text, content='search_texts', content_rowid='doc', tokenize='trigram', detail=none, columnsize=0
);
CREATE TRIGGER search_texts_insert AFTER INSERT ON search_texts
BEGIN INSERT INTO search_index (rowid, text) VALUES (NEW.doc, NEW.text); END;
CREATE TRIGGER search_texts_delete AFTER DELETE ON search_texts
BEGIN INSERT INTO search_index (search_index, rowid, text) VALUES ('delete', OLD.doc, OLD.text); END;
CREATE TRIGGER search_texts_update AFTER UPDATE OF doc, text ON search_texts WHEN OLD.doc <> NEW.doc OR OLD.text <> NEW.text
BEGIN
  INSERT INTO search_index (search_index, rowid, text) VALUES ('delete', OLD.doc, OLD.text);
  INSERT INTO search_index (rowid, text) VALUES (NEW.doc, NEW.text);
END;

-- Workloads: hostname and name; MAC address; addresses.
CREATE VIEW workload_search_texts AS
SELECT kind, id, owner_id, listed,
  CASE WHEN names GLOB '*[^' || char(10, 13) || ' -~]*'
    THEN (SELECT lower(group_concat(coalesce(l.plain, substr(names, p.place, 1)), '' ORDER BY p.place))
      FROM search_places p LEFT JOIN search_letters l ON l.letter = substr(names, p.place, 1)
      WHERE p.place <= length(names))
    ELSE lower(names) END
  || char(13) || mac || char(13)
  || coalesce((SELECT group_concat(a.address, char(10) ORDER BY a.address) FROM addresses a WHERE a.workload_id = w.id), '') AS text
FROM (SELECT kind, id, owner_id, terminated_at IS NULL AS listed, hostname || char(10) || name AS names, lower(mac) AS mac FROM workloads) w;
-- Accounts: name; e-mail address; organization and external id.
-- Nodes: name; location.
-- Volumes and placement groups: name.
CREATE VIEW account_search_texts AS
SELECT 'account' AS kind, id, owner_id, listed,
  CASE WHEN words GLOB '*[^' || char(10, 13) || ' -~]*'
    THEN (SELECT lower(group_concat(coalesce(l.plain, substr(words, p.place, 1)), '' ORDER BY p.place))
      FROM search_places p LEFT JOIN search_letters l ON l.letter = substr(words, p.place, 1)
      WHERE p.place <= length(words))
    ELSE lower(words) END AS text
FROM (SELECT id AS id, NULL AS owner_id, 1 AS listed, name || char(13) || email || char(13) || coalesce(organization, '') || char(10) || coalesce(external_id, '') AS words FROM accounts);
CREATE VIEW node_search_texts AS
SELECT 'node' AS kind, id, owner_id, listed,
  CASE WHEN words GLOB '*[^' || char(10, 13) || ' -~]*'
    THEN (SELECT lower(group_concat(coalesce(l.plain, substr(words, p.place, 1)), '' ORDER BY p.place))
      FROM search_places p LEFT JOIN search_letters l ON l.letter = substr(words, p.place, 1)
      WHERE p.place <= length(words))
    ELSE lower(words) END AS text
FROM (SELECT n.id AS id, NULL AS owner_id, n.removed_at IS NULL AS listed, n.name || char(13) || l.name AS words FROM nodes n JOIN locations l ON l.id = n.location_id);
CREATE VIEW volume_search_texts AS
SELECT 'volume' AS kind, id, owner_id, listed,
  CASE WHEN words GLOB '*[^' || char(10, 13) || ' -~]*'
    THEN (SELECT lower(group_concat(coalesce(l.plain, substr(words, p.place, 1)), '' ORDER BY p.place))
      FROM search_places p LEFT JOIN search_letters l ON l.letter = substr(words, p.place, 1)
      WHERE p.place <= length(words))
    ELSE lower(words) END AS text
FROM (SELECT id AS id, owner_id AS owner_id, 1 AS listed, name AS words FROM volumes);
CREATE VIEW placement_group_search_texts AS
SELECT 'placement_group' AS kind, id, owner_id, listed,
  CASE WHEN words GLOB '*[^' || char(10, 13) || ' -~]*'
    THEN (SELECT lower(group_concat(coalesce(l.plain, substr(words, p.place, 1)), '' ORDER BY p.place))
      FROM search_places p LEFT JOIN search_letters l ON l.letter = substr(words, p.place, 1)
      WHERE p.place <= length(words))
    ELSE lower(words) END AS text
FROM (SELECT id AS id, owner_id AS owner_id, 1 AS listed, name AS words FROM placement_groups);
-- Every text that there has to be.
CREATE VIEW all_search_texts AS
SELECT kind, id, owner_id, listed, text FROM workload_search_texts
UNION ALL SELECT kind, id, owner_id, listed, text FROM account_search_texts
UNION ALL SELECT kind, id, owner_id, listed, text FROM node_search_texts
UNION ALL SELECT kind, id, owner_id, listed, text FROM volume_search_texts
UNION ALL SELECT kind, id, owner_id, listed, text FROM placement_group_search_texts;

CREATE TRIGGER workloads_search_kind BEFORE INSERT ON workloads WHEN NOT EXISTS (SELECT 1 FROM search_kinds WHERE kind = NEW.kind)
BEGIN INSERT INTO search_kinds SELECT NEW.kind, max(number) + 1 FROM search_kinds; END;
CREATE TRIGGER workloads_search_insert AFTER INSERT ON workloads
BEGIN
  INSERT INTO search_texts (doc, kind, id, owner_id, listed, text)
    SELECT coalesce((SELECT max(t.doc) FROM search_texts t WHERE t.doc BETWEEN k.number << 40 AND ((k.number + 1) << 40) - 1), k.number << 40) + 1, v.kind, v.id, v.owner_id, v.listed, v.text
    FROM workload_search_texts v JOIN search_kinds k ON k.kind = v.kind WHERE v.id = NEW.id;
END;
CREATE TRIGGER workloads_search_update AFTER UPDATE OF owner_id, hostname, name, mac, terminated_at ON workloads
  WHEN NOT (OLD.id <> NEW.id OR OLD.kind <> NEW.kind) AND (OLD.owner_id IS NOT NEW.owner_id OR OLD.hostname <> NEW.hostname COLLATE BINARY OR OLD.name <> NEW.name COLLATE BINARY OR OLD.mac <> NEW.mac COLLATE BINARY OR (OLD.terminated_at IS NULL) <> (NEW.terminated_at IS NULL))
BEGIN
  UPDATE search_texts SET (owner_id, listed, text) =
    (SELECT v.owner_id, v.listed, v.text FROM workload_search_texts v WHERE v.id = search_texts.id)
    WHERE kind = NEW.kind AND id = NEW.id;
END;
CREATE TRIGGER workloads_search_move AFTER UPDATE OF id, kind ON workloads WHEN OLD.id <> NEW.id OR OLD.kind <> NEW.kind
BEGIN
  INSERT OR IGNORE INTO search_kinds SELECT NEW.kind, max(number) + 1 FROM search_kinds;
  DELETE FROM search_texts WHERE kind = OLD.kind AND id = OLD.id;
  INSERT INTO search_texts (doc, kind, id, owner_id, listed, text)
    SELECT coalesce((SELECT max(t.doc) FROM search_texts t WHERE t.doc BETWEEN k.number << 40 AND ((k.number + 1) << 40) - 1), k.number << 40) + 1, v.kind, v.id, v.owner_id, v.listed, v.text
    FROM workload_search_texts v JOIN search_kinds k ON k.kind = v.kind WHERE v.id = NEW.id;
END;
CREATE TRIGGER workloads_search_delete AFTER DELETE ON workloads
BEGIN DELETE FROM search_texts WHERE kind = OLD.kind AND id = OLD.id; END;
CREATE TRIGGER accounts_search_insert AFTER INSERT ON accounts
BEGIN
  INSERT INTO search_texts (doc, kind, id, owner_id, listed, text)
    SELECT coalesce((SELECT max(t.doc) FROM search_texts t WHERE t.doc BETWEEN k.number << 40 AND ((k.number + 1) << 40) - 1), k.number << 40) + 1, v.kind, v.id, v.owner_id, v.listed, v.text
    FROM account_search_texts v JOIN search_kinds k ON k.kind = v.kind WHERE v.id = NEW.id;
END;
CREATE TRIGGER accounts_search_update AFTER UPDATE OF name, email, organization, external_id ON accounts
  WHEN NOT (OLD.id <> NEW.id) AND (OLD.name <> NEW.name COLLATE BINARY OR OLD.email <> NEW.email COLLATE BINARY OR OLD.organization IS NOT NEW.organization OR OLD.external_id IS NOT NEW.external_id)
BEGIN
  UPDATE search_texts SET (owner_id, listed, text) =
    (SELECT v.owner_id, v.listed, v.text FROM account_search_texts v WHERE v.id = search_texts.id)
    WHERE kind = 'account' AND id = NEW.id;
END;
CREATE TRIGGER accounts_search_move AFTER UPDATE OF id ON accounts WHEN OLD.id <> NEW.id
BEGIN
  DELETE FROM search_texts WHERE kind = 'account' AND id = OLD.id;
  INSERT INTO search_texts (doc, kind, id, owner_id, listed, text)
    SELECT coalesce((SELECT max(t.doc) FROM search_texts t WHERE t.doc BETWEEN k.number << 40 AND ((k.number + 1) << 40) - 1), k.number << 40) + 1, v.kind, v.id, v.owner_id, v.listed, v.text
    FROM account_search_texts v JOIN search_kinds k ON k.kind = v.kind WHERE v.id = NEW.id;
END;
CREATE TRIGGER accounts_search_delete AFTER DELETE ON accounts
BEGIN DELETE FROM search_texts WHERE kind = 'account' AND id = OLD.id; END;
CREATE TRIGGER nodes_search_insert AFTER INSERT ON nodes
BEGIN
  INSERT INTO search_texts (doc, kind, id, owner_id, listed, text)
    SELECT coalesce((SELECT max(t.doc) FROM search_texts t WHERE t.doc BETWEEN k.number << 40 AND ((k.number + 1) << 40) - 1), k.number << 40) + 1, v.kind, v.id, v.owner_id, v.listed, v.text
    FROM node_search_texts v JOIN search_kinds k ON k.kind = v.kind WHERE v.id = NEW.id;
END;
CREATE TRIGGER nodes_search_update AFTER UPDATE OF name, location_id, removed_at ON nodes
  WHEN NOT (OLD.id <> NEW.id) AND (OLD.name <> NEW.name COLLATE BINARY OR OLD.location_id <> NEW.location_id COLLATE BINARY OR (OLD.removed_at IS NULL) <> (NEW.removed_at IS NULL))
BEGIN
  UPDATE search_texts SET (owner_id, listed, text) =
    (SELECT v.owner_id, v.listed, v.text FROM node_search_texts v WHERE v.id = search_texts.id)
    WHERE kind = 'node' AND id = NEW.id;
END;
CREATE TRIGGER nodes_search_move AFTER UPDATE OF id ON nodes WHEN OLD.id <> NEW.id
BEGIN
  DELETE FROM search_texts WHERE kind = 'node' AND id = OLD.id;
  INSERT INTO search_texts (doc, kind, id, owner_id, listed, text)
    SELECT coalesce((SELECT max(t.doc) FROM search_texts t WHERE t.doc BETWEEN k.number << 40 AND ((k.number + 1) << 40) - 1), k.number << 40) + 1, v.kind, v.id, v.owner_id, v.listed, v.text
    FROM node_search_texts v JOIN search_kinds k ON k.kind = v.kind WHERE v.id = NEW.id;
END;
CREATE TRIGGER nodes_search_delete AFTER DELETE ON nodes
BEGIN DELETE FROM search_texts WHERE kind = 'node' AND id = OLD.id; END;
CREATE TRIGGER volumes_search_insert AFTER INSERT ON volumes
BEGIN
  INSERT INTO search_texts (doc, kind, id, owner_id, listed, text)
    SELECT coalesce((SELECT max(t.doc) FROM search_texts t WHERE t.doc BETWEEN k.number << 40 AND ((k.number + 1) << 40) - 1), k.number << 40) + 1, v.kind, v.id, v.owner_id, v.listed, v.text
    FROM volume_search_texts v JOIN search_kinds k ON k.kind = v.kind WHERE v.id = NEW.id;
END;
CREATE TRIGGER volumes_search_update AFTER UPDATE OF owner_id, name ON volumes
  WHEN NOT (OLD.id <> NEW.id) AND (OLD.owner_id IS NOT NEW.owner_id OR OLD.name <> NEW.name COLLATE BINARY)
BEGIN
  UPDATE search_texts SET (owner_id, listed, text) =
    (SELECT v.owner_id, v.listed, v.text FROM volume_search_texts v WHERE v.id = search_texts.id)
    WHERE kind = 'volume' AND id = NEW.id;
END;
CREATE TRIGGER volumes_search_move AFTER UPDATE OF id ON volumes WHEN OLD.id <> NEW.id
BEGIN
  DELETE FROM search_texts WHERE kind = 'volume' AND id = OLD.id;
  INSERT INTO search_texts (doc, kind, id, owner_id, listed, text)
    SELECT coalesce((SELECT max(t.doc) FROM search_texts t WHERE t.doc BETWEEN k.number << 40 AND ((k.number + 1) << 40) - 1), k.number << 40) + 1, v.kind, v.id, v.owner_id, v.listed, v.text
    FROM volume_search_texts v JOIN search_kinds k ON k.kind = v.kind WHERE v.id = NEW.id;
END;
CREATE TRIGGER volumes_search_delete AFTER DELETE ON volumes
BEGIN DELETE FROM search_texts WHERE kind = 'volume' AND id = OLD.id; END;
CREATE TRIGGER placement_groups_search_insert AFTER INSERT ON placement_groups
BEGIN
  INSERT INTO search_texts (doc, kind, id, owner_id, listed, text)
    SELECT coalesce((SELECT max(t.doc) FROM search_texts t WHERE t.doc BETWEEN k.number << 40 AND ((k.number + 1) << 40) - 1), k.number << 40) + 1, v.kind, v.id, v.owner_id, v.listed, v.text
    FROM placement_group_search_texts v JOIN search_kinds k ON k.kind = v.kind WHERE v.id = NEW.id;
END;
CREATE TRIGGER placement_groups_search_update AFTER UPDATE OF owner_id, name ON placement_groups
  WHEN NOT (OLD.id <> NEW.id) AND (OLD.owner_id IS NOT NEW.owner_id OR OLD.name <> NEW.name COLLATE BINARY)
BEGIN
  UPDATE search_texts SET (owner_id, listed, text) =
    (SELECT v.owner_id, v.listed, v.text FROM placement_group_search_texts v WHERE v.id = search_texts.id)
    WHERE kind = 'placement_group' AND id = NEW.id;
END;
CREATE TRIGGER placement_groups_search_move AFTER UPDATE OF id ON placement_groups WHEN OLD.id <> NEW.id
BEGIN
  DELETE FROM search_texts WHERE kind = 'placement_group' AND id = OLD.id;
  INSERT INTO search_texts (doc, kind, id, owner_id, listed, text)
    SELECT coalesce((SELECT max(t.doc) FROM search_texts t WHERE t.doc BETWEEN k.number << 40 AND ((k.number + 1) << 40) - 1), k.number << 40) + 1, v.kind, v.id, v.owner_id, v.listed, v.text
    FROM placement_group_search_texts v JOIN search_kinds k ON k.kind = v.kind WHERE v.id = NEW.id;
END;
CREATE TRIGGER placement_groups_search_delete AFTER DELETE ON placement_groups
BEGIN DELETE FROM search_texts WHERE kind = 'placement_group' AND id = OLD.id; END;
CREATE TRIGGER addresses_search_insert AFTER INSERT ON addresses WHEN NEW.workload_id IS NOT NULL
BEGIN
  UPDATE search_texts SET (owner_id, listed, text) =
    (SELECT v.owner_id, v.listed, v.text FROM workload_search_texts v WHERE v.id = search_texts.id)
    WHERE (kind, id) IN (SELECT w.kind, w.id FROM workloads w WHERE w.id = NEW.workload_id);
END;
CREATE TRIGGER addresses_search_update AFTER UPDATE OF address, workload_id ON addresses
  WHEN OLD.workload_id IS NOT NEW.workload_id OR (OLD.address <> NEW.address AND NEW.workload_id IS NOT NULL)
BEGIN
  UPDATE search_texts SET (owner_id, listed, text) =
    (SELECT v.owner_id, v.listed, v.text FROM workload_search_texts v WHERE v.id = search_texts.id)
    WHERE (kind, id) IN (SELECT w.kind, w.id FROM workloads w WHERE w.id IN (OLD.workload_id, NEW.workload_id));
END;
CREATE TRIGGER addresses_search_delete AFTER DELETE ON addresses WHEN OLD.workload_id IS NOT NULL
BEGIN
  UPDATE search_texts SET (owner_id, listed, text) =
    (SELECT v.owner_id, v.listed, v.text FROM workload_search_texts v WHERE v.id = search_texts.id)
    WHERE (kind, id) IN (SELECT w.kind, w.id FROM workloads w WHERE w.id = OLD.workload_id);
END;
CREATE TRIGGER locations_search_update AFTER UPDATE OF id, name ON locations WHEN OLD.id <> NEW.id OR OLD.name <> NEW.name COLLATE BINARY
BEGIN
  UPDATE search_texts SET (owner_id, listed, text) =
    (SELECT v.owner_id, v.listed, v.text FROM node_search_texts v WHERE v.id = search_texts.id)
    WHERE kind = 'node' AND id IN (SELECT n.id FROM nodes n WHERE n.location_id = NEW.id);
END;

INSERT OR IGNORE INTO search_kinds SELECT kind, 6 + row_number() OVER (ORDER BY kind) FROM
  (SELECT DISTINCT kind FROM workloads WHERE kind NOT IN (SELECT kind FROM search_kinds));
INSERT INTO search_texts (doc, kind, id, owner_id, listed, text)
  SELECT (k.number << 40) + row_number() OVER (PARTITION BY v.kind ORDER BY v.id), v.kind, v.id, v.owner_id, v.listed, v.text
  FROM all_search_texts v JOIN search_kinds k ON k.kind = v.kind;
