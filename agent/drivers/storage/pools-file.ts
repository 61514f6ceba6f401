// The pools of a node, as its operator names them in pools.json. Without that file it has one pool of files.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Static, Type as t } from 'typebox'
import { Compile } from 'typebox/compile'
import { Failure, wordsOf } from '../../failure.ts'
import { POOL_CLASS } from '../../protocol/wire.ts'
import { BlockPool } from './block-pool.ts'
import { FilePool } from './file.ts'
import { LvmThin } from './lvm-thin.ts'
import { Rbd } from './rbd.ts'
import type { Pool } from './storage.ts'
import { Zfs } from './zfs.ts'

/** The pool of a node without pools.json. */
export const LOCAL_POOL = 'local'
const FILE = 'pools.json'
const DEFAULT_CEPH_CONF = '/etc/ceph/ceph.conf'

const closed = { additionalProperties: false }
const common = {
  name: t.String({ pattern: '^[a-z0-9][a-z0-9-]{0,31}$' }),
  class: t.Optional(t.String({ pattern: POOL_CLASS })),
}
const lvmName = t.String({ pattern: '^[A-Za-z0-9_+.][A-Za-z0-9_+.-]{0,100}$' })
/** A name that no program takes for an option. */
const cephName = t.String({ pattern: '^[A-Za-z0-9_.][A-Za-z0-9_.-]{0,100}$' })
const path = t.String({ pattern: '^/[^\\u0000-\\u001f]{1,300}$' })
/** A path in which neither Ceph nor QEMU takes a character for the end. */
const cephPath = t.String({ pattern: '^/[A-Za-z0-9_./-]{1,300}$' })

const kinds = {
  file: t.Object({ ...common, kind: t.Literal('file'), path }, closed),
  'lvm-thin': t.Object({ ...common, kind: t.Literal('lvm-thin'), volumeGroup: lvmName, thinPool: lvmName }, closed),
  zfs: t.Object(
    {
      ...common,
      kind: t.Literal('zfs'),
      dataset: t.String({ pattern: '^(?!.*(?:/-|//|/$))[A-Za-z][A-Za-z0-9_.:/-]{0,99}$' }),
    },
    closed,
  ),
  rbd: t.Object(
    {
      ...common,
      kind: t.Literal('rbd'),
      pool: cephName,
      configFile: t.Optional(cephPath),
      /** The user of Ceph's without `client.`, and the UUID of the secret of libvirt's that holds its key. */
      user: t.Optional(cephName),
      keyringFile: t.Optional(cephPath),
      secretUuid: t.Optional(t.String({ pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' })),
    },
    closed,
  ),
}
type Entry = { [K in keyof typeof kinds]: Static<(typeof kinds)[K]> }[keyof typeof kinds]
const checks = Object.fromEntries(Object.entries(kinds).map(([kind, schema]) => [kind, Compile(schema)]))

export const poolsFile = (dataDir: string) => process.env['PANEL_AGENT_POOLS'] || join(dataDir, FILE)
export const localPoolRoot = (dataDir: string) => join(dataDir, 'pools', LOCAL_POOL)

/** The pools of this host. Throws `pools_file`, with the place in the file, when that is not right. */
export function openPools(dataDir: string): Pool[] {
  const file = poolsFile(dataDir)
  if (!existsSync(file) && !process.env['PANEL_AGENT_POOLS']) return [new FilePool(LOCAL_POOL, localPoolRoot(dataDir))]
  return entriesIn(file).map((entry) => open(entry, dataDir))
}

function entriesIn(file: string): Entry[] {
  const wrong = (what: string) => new Failure('pools_file', `${file}: ${what}; docs/storage.md describes it`)
  let found: unknown
  try {
    found = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw wrong(wordsOf(error))
  }
  const entries = (found as { pools?: unknown } | null)?.pools
  if (!Array.isArray(entries) || entries.length === 0 || entries.length > 64)
    throw wrong('it has no list "pools" of 1 to 64 pools')
  entries.forEach((entry, at) => {
    const kind = (entry as { kind?: unknown } | null)?.kind
    const check = typeof kind === 'string' ? checks[kind] : undefined
    if (!check) throw wrong(`pools[${at}].kind is none of ${Object.keys(kinds).join(', ')}`)
    const [error] = check.Check(entry) ? [] : check.Errors(entry)
    if (error) throw wrong(`pools[${at}]${error.instancePath.replaceAll('/', '.')} ${error.message}`)
  })
  const known = entries as Entry[]
  known.forEach((entry, at) => {
    const same = known.findIndex((other) => other.name === entry.name)
    if (same !== at) throw wrong(`pools[${same}] and pools[${at}] have the same name ${entry.name}`)
    const shared = known.findIndex((other) => placeOf(other) === placeOf(entry))
    if (shared !== at) throw wrong(`pools[${shared}] and pools[${at}] are the same storage`)
    if (entry.kind === 'rbd' && (entry.user === undefined) !== (entry.secretUuid === undefined))
      throw wrong(`pools[${at}] has one of user and secretUuid; it needs both, or none in a cluster without cephx`)
    if (entry.kind === 'rbd' && entry.keyringFile && !entry.user)
      throw wrong(`pools[${at}] has keyringFile and no user`)
  })
  return known
}

const placeOf = (entry: Entry) =>
  entry.kind === 'file'
    ? join(entry.path, '.')
    : entry.kind === 'lvm-thin'
      ? `${entry.volumeGroup}/${entry.thinPool}`
      : entry.kind === 'zfs'
        ? `zfs ${entry.dataset}`
        : `rbd ${entry.configFile ?? DEFAULT_CEPH_CONF} ${entry.pool}`

function open(entry: Entry, dataDir: string): Pool {
  const { name, class: label } = entry
  if (entry.kind === 'file') return new FilePool(name, entry.path, label)
  if (entry.kind === 'lvm-thin') return new BlockPool(name, new LvmThin(entry.volumeGroup, entry.thinPool), label)
  if (entry.kind === 'zfs') return new BlockPool(name, new Zfs(entry.dataset), label)
  const { configFile = DEFAULT_CEPH_CONF, user, keyringFile, secretUuid } = entry
  const access = { configFile, ...(user && secretUuid && { auth: { user, keyringFile, secretUuid } }) }
  return new BlockPool(name, new Rbd(entry.pool, access, join(dataDir, 'pools', `${name}.scratch`)), label)
}
