// A MariaDB server of its own, with the tables of billing systems as those make them: their types, what must not be
// empty, what is unique, and their reserved words. Strict, as a fresh server is.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BillingSystem } from '../../../src/imports/report/scripts.ts'
import { inSqlite, type Seed, type ShopDb } from './shops.ts'

const programs = ['mariadbd', 'mariadb', 'mariadb-install-db', 'php']
const find = (program: string) => Bun.which(program, { PATH: `${process.env['PATH']}:/usr/sbin` })

/** The reason why it cannot run here. */
export function missingOfMariadb(): string | undefined {
  const absent = programs.filter((program) => !find(program))
  if (absent.length) return `${absent.join(', ')} not installed`
  const { stdout } = Bun.spawnSync(['php', '-r', 'echo implode(" ", PDO::getAvailableDrivers());'])
  return stdout.toString().includes('mysql') ? undefined : 'php-mysql not installed'
}

const ID = 'int(10) unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY'
const BIG_ID = 'bigint(20) unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY'
const TEXT = 'text NOT NULL'
const NUMBER = 'int(10) NOT NULL DEFAULT 0'
const UNSIGNED = 'int(10) unsigned NOT NULL'
const NOTED = "created_at timestamp NOT NULL DEFAULT '0000-00-00', updated_at timestamp NOT NULL DEFAULT '0000-00-00'"
const NULLABLE_TIMES = 'created_at timestamp NULL, updated_at timestamp NULL'
const RENEWED = 'datetime DEFAULT NULL'

/** Their columns, in SQL, and values for those that the small copies do not have and that must have one. */
type Table = { columns: string; also?: Readonly<Record<string, string>> }
const tables: Readonly<Record<BillingSystem, Readonly<Record<string, Table>>>> = {
  whmcs: {
    tblclients: {
      columns: `id ${ID}, firstname ${TEXT}, lastname ${TEXT}, companyname ${TEXT}, email ${TEXT}, notes ${TEXT},
        ${NOTED}, KEY email (email(64))`,
      also: { firstname: "'Dora'", lastname: "'Other'", companyname: "''", notes: "''" },
    },
    tblservers: {
      columns: `id ${ID}, name ${TEXT}, ipaddress ${TEXT}, hostname ${TEXT}, type ${TEXT}, username ${TEXT},
        password ${TEXT}, accesshash ${TEXT}, secure ${TEXT}, active int(1) NOT NULL DEFAULT 0`,
      also: { ipaddress: "''", hostname: "''", password: "''", accesshash: "''", secure: "''" },
    },
    tblproducts: {
      columns: `id ${ID}, type ${TEXT}, gid ${NUMBER}, name ${TEXT}, description ${TEXT}, servertype ${TEXT},
        configoption1 ${TEXT}, configoption2 ${TEXT}, ${NOTED}`,
      also: { type: "'server'", description: "''", configoption2: "''" },
    },
    tblhosting: {
      columns: `id ${ID}, userid ${NUMBER}, orderid ${NUMBER}, packageid ${NUMBER}, server ${NUMBER},
        regdate date NOT NULL, domain ${TEXT}, paymentmethod ${TEXT}, amount decimal(16,2) NOT NULL DEFAULT 0.00,
        billingcycle ${TEXT}, nextduedate date DEFAULT NULL,
        domainstatus enum('Pending','Active','Suspended','Terminated','Cancelled','Fraud','Completed') NOT NULL
          DEFAULT 'Pending',
        username ${TEXT}, password ${TEXT}, notes ${TEXT}, dedicatedip ${TEXT}, assignedips ${TEXT}, ${NOTED},
        KEY serviceid (id), KEY domain (domain(64))`,
      also: {
        ...{ regdate: "'2024-05-01'", paymentmethod: "'stripe'", billingcycle: "'Monthly'", username: "''" },
        ...{ password: "''", notes: "''", assignedips: "''" },
      },
    },
    tblcustomfields: {
      columns: `id ${ID}, type ${TEXT}, relid ${NUMBER}, fieldname ${TEXT}, fieldtype ${TEXT}, description ${TEXT},
        fieldoptions ${TEXT}, regexpr ${TEXT}, adminonly ${TEXT}, required ${TEXT}, showorder ${TEXT},
        showinvoice ${TEXT}, sortorder ${NUMBER}, ${NOTED}, KEY serviceid (type(32), relid)`,
    },
    tblcustomfieldsvalues: {
      columns: `id ${ID}, fieldid int(10) NOT NULL, relid int(10) NOT NULL, value ${TEXT}, ${NOTED},
        KEY fieldid_relid (fieldid, relid)`,
    },
  },
  blesta: {
    modules: { columns: `id ${ID}, class varchar(64) NOT NULL` },
    module_rows: { columns: `id ${ID}, module_id ${UNSIGNED}` },
    module_row_meta: {
      columns: `module_row_id ${UNSIGNED}, \`key\` varchar(32) NOT NULL, value mediumtext NOT NULL,
        serialized tinyint(1) NOT NULL DEFAULT 0, encrypted tinyint(1) NOT NULL DEFAULT 0,
        PRIMARY KEY (module_row_id, \`key\`)`,
    },
    packages: { columns: `id ${ID}, module_id ${UNSIGNED}, qty int(10) unsigned DEFAULT NULL` },
    package_meta: {
      columns: `package_id ${UNSIGNED}, \`key\` varchar(32) NOT NULL, value mediumtext NOT NULL,
        serialized tinyint(1) NOT NULL DEFAULT 0, encrypted tinyint(1) NOT NULL DEFAULT 0,
        PRIMARY KEY (package_id, \`key\`)`,
    },
    pricings: {
      columns: `id ${ID}, term smallint(5) unsigned NOT NULL DEFAULT 1,
        period enum('day','week','month','year','onetime') NOT NULL DEFAULT 'month',
        price decimal(19,4) NOT NULL DEFAULT 0.0000, currency char(3) NOT NULL DEFAULT 'USD'`,
    },
    package_pricing: { columns: `id ${ID}, package_id ${UNSIGNED}, pricing_id ${UNSIGNED}` },
    contacts: {
      columns: `id ${ID}, client_id ${UNSIGNED}, contact_type enum('primary','billing','other') NOT NULL
        DEFAULT 'primary', first_name varchar(64) NOT NULL, last_name varchar(64) NOT NULL,
        email varchar(255) NOT NULL`,
      also: { first_name: "'Dora'", last_name: "'Other'" },
    },
    services: {
      columns: `id ${ID}, pricing_id ${UNSIGNED}, client_id ${UNSIGNED}, module_row_id int(10) unsigned NOT NULL
        DEFAULT 0, qty int(10) unsigned NOT NULL DEFAULT 1, override_price decimal(19,4) DEFAULT NULL,
        override_currency char(3) DEFAULT NULL,
        status enum('active','canceled','pending','suspended','in_review') NOT NULL DEFAULT 'pending',
        date_added datetime NOT NULL, date_renews ${RENEWED}, KEY client_id (client_id)`,
      also: { date_added: "'2024-05-01 10:00:00'" },
    },
    service_fields: {
      columns: `service_id ${UNSIGNED}, \`key\` varchar(32) NOT NULL, value mediumtext NOT NULL,
        serialized tinyint(1) NOT NULL DEFAULT 0, encrypted tinyint(1) NOT NULL DEFAULT 0,
        PRIMARY KEY (service_id, \`key\`)`,
    },
  },
  fossbilling: {
    client: {
      columns: `id ${BIG_ID}, email varchar(255) DEFAULT NULL, pass varchar(255) DEFAULT NULL, UNIQUE (email)`,
    },
    setting: {
      columns: `id ${BIG_ID}, param varchar(255) DEFAULT NULL, value text, public tinyint(1) DEFAULT 0, UNIQUE (param)`,
    },
    service_hosting_server: {
      columns: `id ${BIG_ID}, name varchar(100) DEFAULT NULL, ip varchar(45) DEFAULT NULL,
        manager varchar(100) DEFAULT NULL, username text, password text, accesshash text`,
    },
    service_hosting_hp: { columns: `id ${BIG_ID}, name varchar(255) DEFAULT NULL, config text, updated_at ${RENEWED}` },
    service_hosting: {
      columns: `id ${BIG_ID}, client_id bigint(20) DEFAULT NULL, service_hosting_server_id bigint(20) DEFAULT NULL,
        service_hosting_hp_id bigint(20) DEFAULT NULL, sld varchar(255) DEFAULT NULL, tld varchar(255) DEFAULT NULL,
        ip varchar(45) DEFAULT NULL, username varchar(255) DEFAULT NULL, pass varchar(255) DEFAULT NULL,
        reseller tinyint(1) DEFAULT NULL, updated_at ${RENEWED}, KEY client_id_idx (client_id)`,
    },
    client_order: {
      columns: `id ${BIG_ID}, client_id bigint(20) DEFAULT NULL, title varchar(255) DEFAULT NULL,
        service_id bigint(20) DEFAULT NULL, service_type varchar(100) DEFAULT NULL, price decimal(18,2) DEFAULT NULL,
        status varchar(50) DEFAULT NULL, expires_at ${RENEWED}, KEY client_id_idx (client_id)`,
    },
  },
  paymenter: {
    users: {
      columns: `id ${BIG_ID}, email varchar(255) NOT NULL, password varchar(255) NOT NULL, ${NULLABLE_TIMES},
        UNIQUE (email)`,
      also: { password: "'x'" },
    },
    extensions: {
      columns: `id ${BIG_ID}, name varchar(255) NOT NULL, extension varchar(255) NOT NULL, type varchar(255) NOT NULL,
        enabled tinyint(1) NOT NULL DEFAULT 0, ${NULLABLE_TIMES}`,
    },
    products: {
      columns: `id ${BIG_ID}, category_id bigint(20) unsigned NOT NULL, name varchar(255) NOT NULL,
        allow_quantity enum('disabled','separated','combined') NOT NULL DEFAULT 'disabled',
        server_id bigint(20) unsigned DEFAULT NULL, ${NULLABLE_TIMES}`,
      also: { category_id: '1' },
    },
    plans: {
      columns: `id ${BIG_ID}, priceable_type varchar(255) NOT NULL, priceable_id bigint(20) unsigned NOT NULL,
        type enum('free','one-time','recurring') NOT NULL, billing_period int(11) DEFAULT NULL,
        billing_unit enum('hour','day','week','month','year') DEFAULT NULL, KEY (priceable_type, priceable_id)`,
    },
    settings: {
      columns: `id ${BIG_ID}, \`key\` varchar(255) NOT NULL, value text, type varchar(255) NOT NULL DEFAULT 'string',
        encrypted tinyint(1) NOT NULL DEFAULT 0, settingable_type varchar(255) DEFAULT NULL,
        settingable_id bigint(20) unsigned DEFAULT NULL, ${NULLABLE_TIMES},
        UNIQUE (\`key\`, settingable_id, settingable_type)`,
    },
    services: {
      columns: `id ${BIG_ID}, status varchar(255) NOT NULL DEFAULT 'pending', user_id bigint(20) unsigned NOT NULL,
        product_id bigint(20) unsigned DEFAULT NULL, plan_id bigint(20) unsigned DEFAULT NULL,
        currency_code varchar(3) NOT NULL, quantity int(11) NOT NULL DEFAULT 1, price decimal(17,2) NOT NULL,
        expires_at ${RENEWED}, ${NULLABLE_TIMES}, FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE,
        FOREIGN KEY (product_id) REFERENCES products (id) ON DELETE SET NULL,
        FOREIGN KEY (plan_id) REFERENCES plans (id) ON DELETE SET NULL`,
      also: { currency_code: "'EUR'" },
    },
    properties: {
      columns: `id ${BIG_ID}, custom_property_id bigint(20) unsigned DEFAULT NULL, name varchar(255) DEFAULT NULL,
        \`key\` varchar(255) NOT NULL, value text NOT NULL, model_type varchar(255) NOT NULL,
        model_id bigint(20) unsigned NOT NULL, ${NULLABLE_TIMES}, UNIQUE (\`key\`, model_id, model_type)`,
    },
  },
}

const quoted = (value: unknown) =>
  value === null ? 'NULL' : `'${String(value).replaceAll('\\', '\\\\').replaceAll("'", "''")}'`

export type Mariadb = Awaited<ReturnType<typeof mariadb>>
export async function mariadb() {
  const dir = mkdtempSync(join(tmpdir(), 'berth-mariadb-'))
  const [data, socket] = [join(dir, 'data'), join(dir, 'socket')]
  const user = 'root'
  const made = Bun.spawnSync([
    find('mariadb-install-db')!,
    ...['--no-defaults', `--datadir=${data}`, `--user=${user}`, '--auth-root-authentication-method=normal'],
    '--skip-test-db',
  ])
  if (made.exitCode !== 0) throw new Error(`mariadb-install-db: ${made.stdout}${made.stderr}`)
  const server = Bun.spawn(
    [
      find('mariadbd')!,
      ...['--no-defaults', `--datadir=${data}`, `--socket=${socket}`, `--pid-file=${dir}/pid`, `--user=${user}`],
      ...['--skip-networking', '--innodb-buffer-pool-size=16M', '--innodb-flush-log-at-trx-commit=0'],
    ],
    { stdout: 'ignore', stderr: 'pipe' },
  )
  const ask = (database: string, sql: string) => {
    const { stdout, stderr, exitCode } = Bun.spawnSync(
      [find('mariadb')!, '--no-defaults', `--socket=${socket}`, `--user=${user}`, '--batch', database],
      { stdin: new TextEncoder().encode(sql) },
    )
    if (exitCode !== 0) throw new Error(`${stderr}: ${sql}`)
    return stdout.toString()
  }
  const until = performance.now() + 60_000
  for (;;)
    try {
      ask('mysql', 'SELECT 1')
      break
    } catch (error) {
      if (performance.now() > until || server.exitCode !== null) throw error
      await Bun.sleep(100)
    }

  let shopsMade = 0
  function shop(system: BillingSystem, seed: Seed): ShopDb {
    const name = `shop_${++shopsMade}`
    ask('mysql', `CREATE DATABASE ${name} CHARACTER SET utf8mb4`)
    const lines = Object.entries(tables[system]).map(
      ([table, { columns }]) => `CREATE TABLE ${table} (${columns}) ENGINE=InnoDB;`,
    )
    // The same rows as in the small copy.
    for (const [table, rows] of Object.entries(inSqlite(system, ':memory:', seed).contents())) {
      const { also = {} } = tables[system][table]!
      for (const row of rows as Record<string, unknown>[]) {
        const values = { ...Object.fromEntries(Object.entries(row).map(([each, is]) => [each, quoted(is)])), ...also }
        const names = Object.keys(values).map((each) => `\`${each}\``)
        lines.push(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${Object.values(values).join(', ')});`)
      }
    }
    // The order of the tables is that of their references.
    ask(name, `SET foreign_key_checks = 0; ${lines.join('\n')}`)
    return {
      ...{ dsn: `mysql:unix_socket=${socket};dbname=${name};charset=utf8mb4`, user },
      contents: () =>
        Object.fromEntries(
          ask(name, 'SHOW TABLES')
            .split('\n')
            .slice(1, -1)
            .map((table) => [table, ask(name, `SELECT * FROM ${table} ORDER BY 1, 2`).split('\n').slice(0, -1)]),
        ),
      get(sql, value) {
        const [head, row] = ask(name, sql.replace('?', String(value)).replaceAll('\\', '\\\\')).split('\n')
        if (!row) return null
        const cells = row.split('\t')
        return Object.fromEntries(head!.split('\t').map((each, at) => [each, cells[at]]))
      },
      run: (sql) => void ask(name, sql),
    }
  }
  return {
    shop,
    async end() {
      server.kill()
      await server.exited
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
