// Every change declares the things that it takes away for good: each is run in a panel with something of everything,
// and the things from before are looked for afterwards. The brake counts by the declaration: test/compute/brake.
import { afterAll, describe, expect, test } from 'bun:test'
import { deletingVolume } from '../../../src/compute/volumes/delete.ts'
import { type Destroyed, destroyable, type Operation } from '../../../src/kernel/api/operation.ts'
import { quickly } from '../../support/quick.ts'
import { callerOf, type Everything, everyId, everything, exampleOf, targetsOf } from '../../support/world/everything.ts'
import { operations, registry } from '../toy-feature/every-feature.ts'

/** Names of what is there, by what a call can destroy. A disk is named with what its content depends on. */
const present: Record<Destroyed, string> = {
  servers: 'SELECT id FROM workloads WHERE terminated_at IS NULL',
  disks: `SELECT id FROM volumes UNION ALL SELECT id FROM workloads WHERE released_at IS NULL`,
  backups: 'SELECT id FROM backups',
  nodes: 'SELECT id FROM nodes WHERE removed_at IS NULL AND lost_at IS NULL',
  addresses: 'SELECT id FROM addresses WHERE workload_id IS NOT NULL OR holder_id IS NOT NULL',
  keys: `SELECT id FROM ssh_keys UNION ALL SELECT id FROM passkeys
    UNION ALL SELECT id FROM tokens WHERE revoked_at IS NULL
    UNION ALL SELECT account_id AS id FROM totp UNION ALL SELECT id FROM nodes WHERE credential_revoked_at IS NULL`,
}
/** Jobs that overwrite or delete a disk, by their own declaration. */
const losing = registry.jobs
  .filter((saga) => saga === deletingVolume || saga.losingSteps.length > 0)
  .map(({ kind }) => `'${kind}'`)

const rows = (p: Everything, sql: string): Set<string> =>
  new Set(
    p.db.$client
      .query<{ id: string }, []>(sql)
      .all()
      .map(({ id }) => id),
  )
const all = (p: Everything) => destroyable.map((kind) => [kind, rows(p, present[kind])] as const)
const jobsThatLose = (p: Everything) => rows(p, `SELECT id FROM jobs WHERE kind IN (${losing})`)

/** Rows in a path behind the first: an address of the server, its snapshot, and so on. */
const inner: Record<string, string> = {
  addressId: 'SELECT id FROM addresses WHERE workload_id = ? AND is_primary = 0 AND holder_id IS NULL',
  snapshotId: 'SELECT id FROM snapshots WHERE server_id = ?',
  backupId: 'SELECT id FROM backups WHERE server_id = ?',
  serverId: 'SELECT workload_id AS id FROM private_network_members WHERE network_id = ?',
}
const fill = (p: Everything, path: string, id: string): string =>
  path
    .replace(/\{\w+\}/, id)
    .replace(
      /\{(\w+)\}/g,
      (_, name) => (inner[name] && p.db.$client.query<{ id: string }, [string]>(inner[name]).get(id)?.id) || 'none',
    )

/** A state of the panel in which a call destroys something. */
const prepared: Record<string, (p: Everything) => unknown> = {
  'nodes.declare-lost': (p) => p.node.agent.disconnect(),
  'backup-targets.remove': (p) => p.db.$client.run('DELETE FROM backup_plans'),
}
const queries: Record<string, string> = { 'backup-targets.remove': '?forgetBackups=true' }

/** Bodies that need more than the example of the reference. */
const typed = (p: Everything, op: Operation, id: string): object | undefined =>
  op.id.startsWith('nodes.')
    ? { name: p.db.$client.query<{ name: string }, [string]>('SELECT name FROM nodes WHERE id = ?').get(id)?.name }
    : undefined

/** A panel that a call has left as it was, for the next one. */
let untouched: Everything | undefined
afterAll(() => untouched?.close())
async function settled(): Promise<Everything> {
  const p = untouched ?? (await everything())
  untouched = undefined
  await p.settle()
  return p
}

/** Calls it on one thing after the other until one is accepted. Answers what was destroyed; undefined: none was. */
async function destroyedBy(op: Operation): Promise<Destroyed[] | undefined> {
  const p = await settled()
  const found = p.fingerprint(['audit'])
  try {
    prepared[op.id]?.(p)
    const [before, lost] = [all(p), jobsThatLose(p)]
    const ids = everyId(p)
    const body = op.body ? exampleOf(p, op, ids) : undefined
    for (const id of op.on ? targetsOf(p, op, ids) : ['']) {
      const sent = op.body ? (typed(p, op, id) ?? body) : undefined
      const { status } = await p.call(
        p.people[callerOf(op)],
        op.method,
        fill(p, op.path, id) + (queries[op.id] ?? ''),
        sent,
      )
      if (status >= 300) continue
      await p.settle()
      const gone = before.flatMap(([kind, names]) => {
        const still = rows(p, present[kind])
        return [...names].some((name) => !still.has(name)) ? [kind] : []
      })
      const loses = [...jobsThatLose(p)].some((job) => !lost.has(job))
      return loses && !gone.includes('disks') ? [...gone, 'disks'] : gone
    }
    return undefined
  } finally {
    if (p.fingerprint(['audit']) === found) untouched = p
    else p.close()
  }
}

const changes = operations.filter((op) => op.method !== 'GET' && op.access !== 'anyone' && !op.authAttempt)
/** Needs a code of the person's app: test/identity/auth/second-factors/second-factor.test.ts. */
const elsewhere = ['totp.remove']
const reached = new Set<string>()
/** A quick run leaves out most of those that declare nothing. */
const called = changes
  .filter((op) => op.destroys?.length)
  .concat(
    quickly(
      changes.filter((op) => !op.destroys?.length),
      4,
    ),
  )

describe('what a change destroys', () => {
  for (const op of called)
    test(`${op.id}: ${op.destroys?.join(', ') || 'nothing'}`, async () => {
      const gone = await destroyedBy(op)
      if (!gone) return
      reached.add(op.id)
      expect(gone.filter((kind) => !op.destroys?.includes(kind))).toEqual([])
      // A declaration is no decoration: something of it is gone.
      if (op.destroys?.length) expect(gone).not.toEqual([])
    })
  test('is looked for: every operation that declares something was run, and most of the others', () => {
    const declared = changes.filter(({ destroys }) => destroys?.length).map(({ id }) => id)
    expect(declared.filter((id) => !reached.has(id))).toEqual(elsewhere)
    expect(reached.size / called.length).toBeGreaterThan(0.6)
  })
})
