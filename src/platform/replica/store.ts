import { readFileSync } from 'node:fs'
import { backupAddress } from '../../../agent/protocol/backup.ts'
import type { Clock } from '../../kernel/db/clock.ts'
import type { AppConfig } from '../../kernel/register.ts'
import { openStore, setOnHost } from '../../kernel/stores/open.ts'
import { type ObjectStore, StoreError } from '../../kernel/stores/store.ts'

/** The store that the settings of this host name. Throws `StoreError` when a file of theirs cannot be read. */
export function replicaStore({ kind, address, login, ...files }: NonNullable<AppConfig['replica']>, now: Clock) {
  const secret = contentOf('PANEL_REPLICA_SECRET_FILE', files.secretFile)
  const trust = contentOf('PANEL_REPLICA_TRUST_FILE', files.trustFile)
  const open = (target: Parameters<typeof openStore>[0]): ObjectStore => openStore(target, setOnHost, now)
  if (kind === 'folder') return open({ kind, path: address })
  if (kind === 's3') return open({ kind, url: address, login, secret, trust })
  const { host, port, path } = backupAddress('sftp', address)!
  return open({ kind, host, port, path, login, secret, trust })
}

function contentOf(name: string, file: string | undefined): string {
  if (file === undefined) return ''
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new StoreError(`${name}: ${file} cannot be read (${(error as { code?: string }).code}).`)
  }
}
