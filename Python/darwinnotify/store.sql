CREATE TABLE store(identity INTEGER NOT NULL, post TEXT NOT NULL) STRICT;

CREATE TABLE names(
  id INTEGER PRIMARY KEY CHECK(id BETWEEN 1 AND 8388607),
  name TEXT NOT NULL UNIQUE,
  keep INTEGER NOT NULL) STRICT;

CREATE TABLE records(
  id INTEGER PRIMARY KEY,
  kind INTEGER NOT NULL,
  time INTEGER NOT NULL,
  nth INTEGER NOT NULL,
  newest INTEGER NOT NULL,
  pid INTEGER, process INTEGER, program TEXT, machine TEXT,
  codec TEXT, type TEXT, version INTEGER, value BLOB) STRICT;

CREATE TABLE cursors(
  id INTEGER PRIMARY KEY,
  name INTEGER NOT NULL,
  cursor TEXT NOT NULL,
  number INTEGER NOT NULL,
  UNIQUE(name, cursor)) STRICT;

CREATE VIEW messages AS
  SELECT records.id AS id, name, records.id & 0xffffffffff AS number, time / 1e9 AS time,
    program AS sender, pid, machine, type, codec, version,
    CASE codec WHEN 'json' THEN CAST(value AS TEXT) ELSE value END AS value,
    (SELECT CASE WHEN post LIKE '%.' THEN post || name ELSE post END FROM store) AS post
  FROM names JOIN records ON records.id > names.id << 40 AND records.id < names.id + 1 << 40
  WHERE kind = 1;

CREATE VIEW pass(name, value, kind, keep, type, codec, version, sender, pid, machine) AS
  SELECT '', x'', '', 0, '', '', 0, '', 0, '' WHERE 0;

CREATE TRIGGER passing INSTEAD OF INSERT ON pass BEGIN
  SELECT RAISE(ABORT, 'a name is a text of 1 to 255 bytes')
    WHERE typeof(NEW.name) <> 'text'
      OR length(CAST(NEW.name AS BLOB)) NOT BETWEEN 1 AND 255
      OR instr(CAST(NEW.name AS BLOB), x'00');
  SELECT RAISE(ABORT, 'kind is message, ping or clear')
    WHERE NEW.kind NOT IN ('message', 'ping', 'clear');
  SELECT RAISE(ABORT, 'a ping or a clear has no value')
    WHERE NEW.kind IN ('ping', 'clear') AND NEW.value IS NOT NULL;
  SELECT RAISE(ABORT, 'a message has a value of at most 1 MiB')
    WHERE coalesce(NEW.kind, 'message') = 'message'
      AND coalesce(length(CAST(NEW.value AS BLOB)), 1048577) > 1048576;
  SELECT RAISE(ABORT, 'keep is an integer above 0, version one of 32 bits')
    WHERE typeof(NEW.keep) NOT IN ('null', 'integer') OR NEW.keep < 1
      OR typeof(NEW.version) NOT IN ('null', 'integer')
      OR NEW.version NOT BETWEEN 0 AND 4294967295
      OR typeof(NEW.pid) NOT IN ('null', 'integer');
  SELECT RAISE(ABORT, 'type, codec, sender and machine are texts of at most 255 bytes')
    WHERE typeof(NEW.type) NOT IN ('null', 'text')
      OR typeof(NEW.codec) NOT IN ('null', 'text')
      OR typeof(NEW.sender) NOT IN ('null', 'text')
      OR typeof(NEW.machine) NOT IN ('null', 'text')
      OR max(length(coalesce(NEW.type, '')), length(coalesce(NEW.codec, '')),
        length(coalesce(NEW.sender, '')), length(coalesce(NEW.machine, ''))) > 255;
  INSERT INTO names(name, keep)
    SELECT NEW.name, 1 WHERE NOT EXISTS(SELECT 1 FROM names WHERE name = NEW.name);
  UPDATE names SET keep = NEW.keep WHERE name = NEW.name AND keep < NEW.keep;
  INSERT INTO records
    SELECT
      coalesce(last.id, names.id << 40) + 1,
      CASE NEW.kind WHEN 'ping' THEN 2 WHEN 'clear' THEN 3 ELSE 1 END,
      max(CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) * 1000000,
        coalesce(last.time + 1, 0)),
      coalesce(last.nth, 0) + (NEW.value IS NOT NULL),
      CASE NEW.kind WHEN 'ping' THEN coalesce(last.newest, 0) WHEN 'clear' THEN 0
        ELSE (coalesce(last.id, 0) & 0xffffffffff) + 1 END,
      NEW.pid, NULL, NEW.sender, NEW.machine,
      CASE WHEN NEW.value IS NOT NULL THEN coalesce(NEW.codec, 'json') END,
      NEW.type, NEW.version, CAST(NEW.value AS BLOB)
    FROM names LEFT JOIN records AS last ON last.id =
      (SELECT max(id) FROM records WHERE id > names.id << 40 AND id < names.id + 1 << 40)
    WHERE name = NEW.name;
  DELETE FROM records
    WHERE NEW.kind = 'clear'
      AND id > last_insert_rowid() >> 40 << 40 AND id < last_insert_rowid();
  DELETE FROM records
    WHERE (SELECT (last_insert_rowid() & 0xffffffffff) % max(1, min(1024, keep / 16)) = 0
        FROM names WHERE id = last_insert_rowid() >> 40)
      AND id > last_insert_rowid() >> 40 << 40
      AND id <= last_insert_rowid()
        - (SELECT keep FROM names WHERE id = last_insert_rowid() >> 40)
      AND (kind = 2 OR nth <= (SELECT nth FROM records WHERE id = last_insert_rowid())
        - (SELECT keep FROM names WHERE id = last_insert_rowid() >> 40));
END
