// The database of the data directory, and the keys of what is encrypted in it.
import { existsSync } from 'node:fs'
import { anchorOf } from '../../kernel/audit/anchor.ts'
import { named } from '../../kernel/crypto/key-file.ts'
import { type Secrets, secretsFromFile } from '../../kernel/crypto/secrets.ts'
import { keysInUse } from '../../kernel/db/encrypted.ts'
import { DatabaseMissing, isEmptyDatabase, type Migration } from '../../kernel/db/migrate.ts'
import { type Db, openDb } from '../../kernel/db/open.ts'
import { log } from '../../kernel/log.ts'
import type { Registry } from '../../kernel/registry.ts'
import type { Config } from '../config.ts'

/**
 * A key file says that there was a database: an empty one in its place is a disk that is not mounted, or a loss, and no
 * new installation. Throws `DatabaseMissing`.
 */
export function openDatabase({ dataDir, keyFile, replica }: Config, migrations: readonly Migration[]): Db {
  const path = `${dataDir}/berth.db`
  if (existsSync(keyFile) && isEmptyDatabase(path))
    throw new DatabaseMissing(
      `${path} is ${existsSync(path) ? 'empty' : 'not there'}, and the key file ${keyFile} is of a database that ` +
        `was. See that the disk of ${dataDir} is mounted, or restore a backup: sudo berth backup restore FILE. To ` +
        'begin anew without what was there, move the key file away first and keep it: ' +
        `mv ${keyFile} ${keyFile}.old (and ${anchorOf(dataDir)}, if it is there)`,
    )
  return openDb(path, migrations, { keepsLog: replica !== undefined })
}

/** The keys of the key file, or those that are given. The journal says what cannot be read with them. */
export function openSecrets(db: Db, { keyFile }: Config, registry: Registry, given?: Secrets): Secrets {
  const used = [...keysInUse(db, registry.encrypted).keys()]
  const secrets = given ?? secretsFromFile(keyFile, used)
  const missing = used.filter((id) => !secrets.hasKey(id))
  if (missing.length)
    log.error(
      `What is encrypted with ${named(missing)} cannot be read: ${keyFile} has ${named(secrets.keyIds())} only. Put ` +
        'the key file back that belongs to this database, or add the missing line to it; nothing has to be restarted.',
    )
  return secrets
}
