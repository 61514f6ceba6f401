-- Searches read one short text for each workload and account, in small letters without accents: 60 000 servers take
-- 10 ms, by their columns with classes of letters 490 ms. Triggers keep the texts, so that no code that changes a row can forget it.

-- Latin letters with accents, and the letter that stands for each (src/kernel/search/text.ts has the same).
CREATE TABLE search_places (place INTEGER PRIMARY KEY) STRICT;
INSERT INTO search_places WITH RECURSIVE n(place) AS (VALUES (1) UNION ALL SELECT place + 1 FROM n WHERE place < 2000) SELECT place FROM n;
CREATE TABLE search_letters (letter TEXT PRIMARY KEY, plain TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO search_letters SELECT substr(letters, place, 1), plain FROM (SELECT column1 AS letters, column2 AS plain FROM (VALUES
  ('ÀÁÂÃÄÅàáâãäåĀāĂăĄąǍǎǞǟǠǡǺǻȀȁȂȃḀḁẠạẢảẤấẦầẨẩẪẫẬậẮắẰằẲẳẴẵẶặ', 'a'),
  ('ÇçĆćĈĉĊċČčḈḉ', 'c'),
  ('ĎďĐđḊḋḌḍḎḏḐḑḒḓ', 'd'),
  ('ÈÉÊËèéêëĒēĔĕĖėĘęĚěȄȅȆȇḔḕḖḗḘḙḚḛḜḝẸẹẺẻẼẽẾếỀềỂểỄễỆệ', 'e'),
  ('ĜĝĞğĠġĢģǦǧǴǵḠḡ', 'g'),
  ('ĤĥħȞȟĦḢḣḤḥḦḧḨḩḪḫẖ', 'h'),
  ('ÌÍÎÏìíîïĨĩĪīĬĭĮįİıǏǐȈȉȊȋḬḭḮḯỈỉỊị', 'i'),
  ('Ĵĵǰ', 'j'),
  ('ĶķǨǩḰḱḲḳḴḵ', 'k'),
  ('ĹĺĻļĽľŁłḶḷḸḹḺḻḼḽ', 'l'),
  ('ÑñŃńŅņŇňǸǹṄṅṆṇṈṉṊṋ', 'n'),
  ('ÒÓÔÕÖØòóôõöøŌōŎŏŐőƠơǑǒǪǫǬǭȌȍȎȏṌṍṎṏṐṑṒṓỌọỎỏỐốỒồỔổỖỗỘộỚớỜờỞởỠỡỢợ', 'o'),
  ('ŔŕŖŗŘřȐȑȒȓṘṙṚṛṜṝṞṟ', 'r'),
  ('ŚśŜŝŞşŠšȘșſṠṡṢṣṤṥṦṧṨṩ', 's'),
  ('ŢţŤťȚțṪṫṬṭṮṯṰṱẗ', 't'),
  ('ÙÚÛÜùúûüŨũŪūŬŭŮůŰűŲųƯưǓǔǕǖǗǘǙǚǛǜȔȕȖȗṲṳṴṵṶṷṸṹṺṻỤụỦủỨứỪừỬửỮữỰự', 'u'),
  ('ŴŵẀẁẂẃẄẅẆẇẈẉẘ', 'w'),
  ('ÝýÿŶŷŸẎẏẙỲỳỴỵỶỷỸỹ', 'y'),
  ('ḂḃḄḅḆḇ', 'b'),
  ('Ḟḟ', 'f'),
  ('ḾḿṀṁṂṃ', 'm'),
  ('ṔṕṖṗ', 'p'),
  ('ṼṽṾṿ', 'v'),
  ('ẊẋẌẍ', 'x'),
  ('ŹźŻżŽžẐẑẒẓẔẕ', 'z')))
  JOIN search_places ON place <= length(letters);

-- Groups of values with a carriage return between them: hostname and name; MAC address; addresses.
CREATE TABLE workload_search (
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  owner_id TEXT NOT NULL,
  listed INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
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
INSERT INTO workload_search SELECT * FROM workload_search_texts;

CREATE TRIGGER workloads_search_insert AFTER INSERT ON workloads
BEGIN INSERT INTO workload_search SELECT * FROM workload_search_texts WHERE id = NEW.id; END;
CREATE TRIGGER workloads_search_update AFTER UPDATE OF id, kind, owner_id, hostname, name, mac, terminated_at ON workloads
  WHEN OLD.id <> NEW.id OR OLD.kind <> NEW.kind OR OLD.owner_id <> NEW.owner_id OR OLD.hostname <> NEW.hostname
    OR OLD.name <> NEW.name OR OLD.mac <> NEW.mac OR (OLD.terminated_at IS NULL) <> (NEW.terminated_at IS NULL)
BEGIN
  DELETE FROM workload_search WHERE kind = OLD.kind AND id = OLD.id;
  INSERT INTO workload_search SELECT * FROM workload_search_texts WHERE id = NEW.id;
END;
CREATE TRIGGER workloads_search_delete AFTER DELETE ON workloads
BEGIN DELETE FROM workload_search WHERE kind = OLD.kind AND id = OLD.id; END;

CREATE TRIGGER addresses_search_update AFTER UPDATE OF address, workload_id ON addresses
  WHEN OLD.workload_id IS NOT NEW.workload_id OR (OLD.address <> NEW.address AND NEW.workload_id IS NOT NULL)
BEGIN
  UPDATE workload_search SET text = (SELECT v.text FROM workload_search_texts v WHERE v.id = workload_search.id)
    WHERE (kind, id) IN (SELECT w.kind, w.id FROM workloads w WHERE w.id IN (OLD.workload_id, NEW.workload_id));
END;
CREATE TRIGGER addresses_search_insert AFTER INSERT ON addresses WHEN NEW.workload_id IS NOT NULL
BEGIN
  UPDATE workload_search SET text = (SELECT v.text FROM workload_search_texts v WHERE v.id = workload_search.id)
    WHERE (kind, id) IN (SELECT w.kind, w.id FROM workloads w WHERE w.id = NEW.workload_id);
END;
CREATE TRIGGER addresses_search_delete AFTER DELETE ON addresses WHEN OLD.workload_id IS NOT NULL
BEGIN
  UPDATE workload_search SET text = (SELECT v.text FROM workload_search_texts v WHERE v.id = workload_search.id)
    WHERE (kind, id) IN (SELECT w.kind, w.id FROM workloads w WHERE w.id = OLD.workload_id);
END;

-- Groups: name; e-mail; organization and external id.
CREATE TABLE account_search (id TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE VIEW account_search_texts AS
SELECT id,
  CASE WHEN words GLOB '*[^' || char(10, 13) || ' -~]*'
    THEN (SELECT lower(group_concat(coalesce(l.plain, substr(words, p.place, 1)), '' ORDER BY p.place))
      FROM search_places p LEFT JOIN search_letters l ON l.letter = substr(words, p.place, 1)
      WHERE p.place <= length(words))
    ELSE lower(words) END AS text
FROM (SELECT id, name || char(13) || email || char(13) || coalesce(organization, '') || char(10) || coalesce(external_id, '') AS words FROM accounts);
INSERT INTO account_search SELECT * FROM account_search_texts;
CREATE TRIGGER accounts_search_insert AFTER INSERT ON accounts
BEGIN INSERT INTO account_search SELECT * FROM account_search_texts WHERE id = NEW.id; END;
CREATE TRIGGER accounts_search_update AFTER UPDATE OF id, name, email, organization, external_id ON accounts
  WHEN OLD.id <> NEW.id OR OLD.name <> NEW.name OR OLD.email <> NEW.email OR OLD.organization IS NOT NEW.organization
    OR OLD.external_id IS NOT NEW.external_id
BEGIN
  DELETE FROM account_search WHERE id = OLD.id;
  INSERT INTO account_search SELECT * FROM account_search_texts WHERE id = NEW.id;
END;
CREATE TRIGGER accounts_search_delete AFTER DELETE ON accounts
BEGIN DELETE FROM account_search WHERE id = OLD.id; END;
