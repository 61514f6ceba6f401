// Small copies of the databases of billing systems: the tables and columns that the scripts use, with the services of
// two clients on the panel of before. Services 501, 502 and 503 have the servers 1, 2 and 3 there.
import { Database } from 'bun:sqlite'
import type { BillingSystem } from '../../../src/imports/report/scripts.ts'

/** The database of a billing system. */
export type ShopDb = {
  /** For PDO. */
  dsn: string
  user: string
  /** Everything in it, table by table. */
  contents(): Record<string, unknown[]>
  /** The first row. */
  get(sql: string, value: number): unknown
  run(sql: string): void
}
export type Seed = { pack: string; addresses: readonly string[]; emails: readonly [string, string] }
type Shop = {
  /** The number of Berth's product there, and of the one of before. */
  flags: string[]
  tables: string
  rows: (seed: Seed) => string[]
  /** The state of a service that belongs to Berth. */
  isSwitched: (db: ShopDb, service: number) => string | null
  /** The names in Berth behind the installation. */
  names: { 501: [string, string]; 502: [string, string] }
}
const INSTALLATION = 'k3v9x2ab'
const one = <R>(db: ShopDb, sql: string, service: number) => db.get(sql, service) as R | null

const whmcs: Shop = {
  flags: [],
  tables: `
    CREATE TABLE tblclients (id INTEGER PRIMARY KEY, email TEXT NOT NULL);
    CREATE TABLE tblservers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, username TEXT NOT NULL);
    CREATE TABLE tblproducts (id INTEGER PRIMARY KEY, name TEXT NOT NULL, servertype TEXT NOT NULL,
      configoption1 TEXT NOT NULL);
    CREATE TABLE tblhosting (id INTEGER PRIMARY KEY, userid INTEGER NOT NULL, packageid INTEGER NOT NULL,
      server INTEGER NOT NULL, domain TEXT NOT NULL, domainstatus TEXT NOT NULL, dedicatedip TEXT NOT NULL,
      amount NUMERIC NOT NULL);
    CREATE TABLE tblcustomfields (id INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT NOT NULL, relid INTEGER NOT NULL,
      fieldname TEXT NOT NULL, fieldtype TEXT NOT NULL, description TEXT NOT NULL, fieldoptions TEXT NOT NULL,
      regexpr TEXT NOT NULL, adminonly TEXT NOT NULL, required TEXT NOT NULL, showorder TEXT NOT NULL,
      showinvoice TEXT NOT NULL, sortorder INTEGER NOT NULL);
    CREATE TABLE tblcustomfieldsvalues (id INTEGER PRIMARY KEY AUTOINCREMENT, fieldid INTEGER NOT NULL,
      relid INTEGER NOT NULL, value TEXT NOT NULL);`,
  rows: ({ pack, addresses, emails }) => [
    `tblclients VALUES (71, '${emails[0]}'), (72, '${emails[1]}')`,
    `tblservers VALUES (1, 'Old', 'virtualizor', 'root'), (2, 'Berth', 'berth', '${INSTALLATION}@shop.example.com')`,
    `tblproducts VALUES (10, 'VPS S', 'virtualizor', 'kvm'), (20, 'VPS S', 'berth', '${pack}')`,
    `tblcustomfields VALUES (5, 'product', 10, 'vpsid|VPS ID', 'text', '', '', '', 'on', '', '', '', 0)`,
    ...[501, 502, 503].flatMap((id, i) => [
      `tblhosting VALUES (${id}, ${i === 2 ? 72 : 71}, 10, 1, 's${id}.example.com', 'Active', '${addresses[i]}', 9.5)`,
      `tblcustomfieldsvalues (fieldid, relid, value) VALUES (5, ${id}, '${i + 1}')`,
    ]),
    // One that ended long ago, with an id that was given again.
    `tblhosting VALUES (490, 72, 10, 1, 'gone.example.com', 'Terminated', '', 9.5)`,
    `tblcustomfieldsvalues (fieldid, relid, value) VALUES (5, 490, '1')`,
  ],
  isSwitched: (db, service) =>
    one<{ value: string }>(
      db,
      `SELECT v.value FROM tblhosting h JOIN tblcustomfields f ON f.relid = h.packageid AND f.fieldname = 'Berth server'
         AND f.type = 'product' JOIN tblcustomfieldsvalues v ON v.fieldid = f.id AND v.relid = h.id
       WHERE h.id = ? AND h.server = 2 AND h.packageid = 20 AND h.amount = 9.5`,
      service,
    )?.value ?? null,
  names: { 501: ['501', '71'], 502: ['502', '71'] },
}

const blesta: Shop = {
  flags: [],
  tables: `
    CREATE TABLE modules (id INTEGER PRIMARY KEY, class TEXT NOT NULL);
    CREATE TABLE module_rows (id INTEGER PRIMARY KEY, module_id INTEGER NOT NULL);
    CREATE TABLE module_row_meta (module_row_id INTEGER, key TEXT, value TEXT, PRIMARY KEY (module_row_id, key));
    CREATE TABLE packages (id INTEGER PRIMARY KEY, module_id INTEGER NOT NULL);
    CREATE TABLE package_meta (package_id INTEGER, key TEXT, value TEXT, PRIMARY KEY (package_id, key));
    CREATE TABLE pricings (id INTEGER PRIMARY KEY, term INTEGER, period TEXT, price NUMERIC, currency TEXT);
    CREATE TABLE package_pricing (id INTEGER PRIMARY KEY, package_id INTEGER, pricing_id INTEGER);
    CREATE TABLE contacts (client_id INTEGER, contact_type TEXT, email TEXT);
    CREATE TABLE services (id INTEGER PRIMARY KEY, pricing_id INTEGER, client_id INTEGER, module_row_id INTEGER,
      override_price NUMERIC, status TEXT);
    CREATE TABLE service_fields (service_id INTEGER, key TEXT, value TEXT, serialized INTEGER, encrypted INTEGER,
      PRIMARY KEY (service_id, key));`,
  rows: ({ pack, addresses, emails }) => [
    "modules VALUES (1, 'virtualizor'), (2, 'berth')",
    'module_rows VALUES (11, 1), (12, 2)',
    `module_row_meta VALUES (12, 'installation', '${INSTALLATION}@shop.example.com')`,
    'packages VALUES (10, 1), (20, 2)',
    `package_meta VALUES (20, 'package', '${pack}')`,
    // Monthly and yearly at the same amounts, and another currency.
    "pricings VALUES (1, 1, 'month', 9.5, 'EUR'), (2, 1, 'month', 9.5, 'EUR'), (3, 1, 'year', 99, 'EUR')",
    "pricings VALUES (4, 1, 'month', 9.5, 'USD')",
    'package_pricing VALUES (100, 10, 1), (200, 20, 2), (201, 20, 3), (202, 20, 4)',
    `contacts VALUES (71, 'primary', '${emails[0]}'), (72, 'primary', '${emails[1]}'), (71, 'billing', 'b@x.example')`,
    ...[501, 502, 503].flatMap((id, i) => [
      `services VALUES (${id}, 100, ${i === 2 ? 72 : 71}, 11, NULL, 'active')`,
      `service_fields VALUES (${id}, 'vpsid', '${i + 1}', 0, 0), (${id}, 'ip', '${addresses[i]}', 0, 0)`,
    ]),
  ],
  isSwitched: (db, service) =>
    one<{ value: string }>(
      db,
      `SELECT f.value FROM services s JOIN service_fields f ON f.service_id = s.id AND f.key = 'berth_server'
       WHERE s.id = ? AND s.module_row_id = 12 AND s.pricing_id = 200`,
      service,
    )?.value ?? null,
  names: { 501: ['501', '71'], 502: ['502', '71'] },
}

const fossbilling: Shop = {
  flags: [],
  tables: `
    CREATE TABLE client (id INTEGER PRIMARY KEY, email TEXT);
    CREATE TABLE setting (param TEXT UNIQUE, value TEXT);
    CREATE TABLE service_hosting_server (id INTEGER PRIMARY KEY, name TEXT, manager TEXT, username TEXT);
    CREATE TABLE service_hosting_hp (id INTEGER PRIMARY KEY, name TEXT, config TEXT);
    CREATE TABLE service_hosting (id INTEGER PRIMARY KEY, client_id INTEGER, service_hosting_server_id INTEGER,
      service_hosting_hp_id INTEGER, sld TEXT, tld TEXT, ip TEXT, username TEXT);
    CREATE TABLE client_order (id INTEGER PRIMARY KEY, client_id INTEGER, service_id INTEGER, service_type TEXT,
      status TEXT);`,
  rows: ({ pack, addresses, emails }) => [
    `client VALUES (71, '${emails[0]}'), (72, '${emails[1]}')`,
    `setting VALUES ('berth_installation', '${INSTALLATION}@shop.example.com')`,
    "service_hosting_server VALUES (1, 'Old', 'Custom', 'root'), (2, 'Berth', 'Berth', '')",
    `service_hosting_hp VALUES (10, 'S', '{}'), (20, 'S', '{"berth_package":"${pack}","berth_location":"grp_1"}')`,
    ...[501, 502, 503].flatMap((id, i) => [
      `service_hosting
         VALUES (${id - 500}, ${i === 2 ? 72 : 71}, 1, 10, 's${id}', '.example.com', '${addresses[i]}', 'u')`,
      `client_order VALUES (${id}, ${i === 2 ? 72 : 71}, ${id - 500}, 'hosting', 'active')`,
    ]),
    // A domain that has the same number.
    "client_order VALUES (601, 71, 1, 'domain', 'active')",
  ],
  isSwitched: (db, service) =>
    one<{ ip: string }>(
      db,
      `SELECT h.ip FROM service_hosting h JOIN client_order o ON o.service_id = h.id AND o.service_type = 'hosting'
       WHERE o.id = ? AND h.service_hosting_server_id = 2 AND h.service_hosting_hp_id = 20`,
      service,
    )?.ip ?? null,
  names: { 501: ['501', '71'], 502: ['502', '71'] },
}

const paymenter: Shop = {
  flags: ['--old-field', 'server_id'],
  tables: `
    CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT);
    CREATE TABLE extensions (id INTEGER PRIMARY KEY, name TEXT, type TEXT, extension TEXT);
    CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT, server_id INTEGER);
    CREATE TABLE plans (id INTEGER PRIMARY KEY, priceable_id INTEGER, priceable_type TEXT, type TEXT,
      billing_period INTEGER, billing_unit TEXT);
    CREATE TABLE settings (id INTEGER PRIMARY KEY, key TEXT, value TEXT, settingable_type TEXT, settingable_id INTEGER,
      UNIQUE (key, settingable_id, settingable_type));
    CREATE TABLE services (id INTEGER PRIMARY KEY, user_id INTEGER, product_id INTEGER, plan_id INTEGER, price NUMERIC,
      status TEXT);
    CREATE TABLE properties (id INTEGER PRIMARY KEY, custom_property_id INTEGER, model_id INTEGER, model_type TEXT,
      key TEXT, name TEXT, value TEXT);`,
  rows: ({ pack, emails }) => [
    `users VALUES (71, '${emails[0]}'), (72, '${emails[1]}')`,
    "extensions VALUES (1, 'Old', 'server', 'Virtualizor'), (2, 'Berth', 'server', 'Berth')",
    "extensions VALUES (3, 'Pay', 'gateway', 'Pay')",
    "products VALUES (10, 'S', 1), (20, 'S', 2)",
    `plans VALUES (100, 10, 'App\\Models\\Product', 'recurring', 1, 'month'),
       (200, 20, 'App\\Models\\Product', 'recurring', 1, 'month'),
       (201, 20, 'App\\Models\\Product', 'recurring', 1, 'year')`,
    `settings (key, value, settingable_type, settingable_id) VALUES
       ('package', '${pack}', 'App\\Models\\Product', 20),
       ('installation', '${INSTALLATION}@shop.example.com', 'berth', 0)`,
    ...[501, 502, 503].flatMap((id, i) => [
      `services VALUES (${id}, ${i === 2 ? 72 : 71}, 10, 100, 9.5, 'active')`,
      `properties (model_id, model_type, key, name, value)
         VALUES (${id}, 'App\\Models\\Service', 'server_id', 'Server', '${i + 1}')`,
    ]),
  ],
  isSwitched: (db, service) =>
    one<{ value: string }>(
      db,
      `SELECT p.value FROM services s JOIN properties p ON p.model_id = s.id AND p.key = 'berth_server'
         AND p.model_type = 'App\\Models\\Service'
       WHERE s.id = ? AND s.product_id = 20 AND s.plan_id = 200 AND s.price = 9.5`,
      service,
    )?.value ?? null,
  names: { 501: ['501', '71'], 502: ['502', '71'] },
}

export const shops: Readonly<Record<BillingSystem, Shop>> = { whmcs, blesta, fossbilling, paymenter }

/** A database of SQLite in a file. */
export function inSqlite(system: BillingSystem, path: string, seed: Seed): ShopDb {
  const db = new Database(path, { create: true })
  for (const statement of shops[system].tables.split(';').filter((each) => each.trim())) db.run(statement)
  for (const row of shops[system].rows(seed)) db.run(`INSERT INTO ${row}`)
  return {
    ...{ dsn: `sqlite:${path}`, user: '' },
    contents() {
      const tables = db
        .query<{ name: string }, []>(
          "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY 1",
        )
        .all()
      return Object.fromEntries(
        tables.map(({ name }) => [name, db.query(`SELECT * FROM ${name} ORDER BY rowid`).all()]),
      )
    },
    get: (sql, value) => db.query(sql).get(value),
    run: (sql) => void db.run(sql),
  }
}
