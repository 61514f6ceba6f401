// S23: a token with one scope sees nothing that only another scope opens, whatever its maker may see. Every scope of
// every kind of account × every call that it opens: which ids do the answers hold?
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { accountKinds } from '../../src/identity/account-records/kinds.ts'
import type { AccountKind, Scope } from '../../src/kernel/api/access.ts'
import type { Operation } from '../../src/kernel/api/operation.ts'
import { type Everything, everyId, everything, targetsOf } from '../support/world/everything.ts'
import { allPermissions, scopesOf } from '../support/world/rights.ts'
import { operations } from './toy-feature/every-feature.ts'

let p: Everything
let ids: string[]
beforeAll(async () => {
  p = await everything()
  ids = everyId(p)
}, 60_000)
afterAll(() => p.close())

const reading = operations.filter((op) => op.method === 'GET' && op.access !== 'anyone' && !op.produces)
const opens = (op: Operation, kind: AccountKind, scope: Scope) =>
  op.access !== 'anyone' && !!op.access[kind]?.includes(scope)

/**
 * Names that a record cannot do without: the owner and the node of a server, the holder of an address, the
 * person who started a job.
 */
const neighbours: Record<string, readonly string[]> = {
  'servers.list-all': ['usr', 'nod'],
  'servers.list': ['usr', 'nod', 'img'],
  'servers.get': ['usr', 'nod', 'img'],
  'servers.move': ['nod'],
  'servers.move-options': ['nod'],
  'servers.elsewhere': ['nod'],
  'balance.get': ['nod'],
  'nodes.drain-plan': ['srv', 'gpu', 'usr'],
  'nodes.drain-plan-export': ['srv', 'gpu', 'usr'],
  'nodes.return-plan': ['srv', 'gpu', 'usr'],
  'nodes.maintenance-notice': ['usr'],
  'nodes.maintenance': ['drn', 'usr', 'job', 'srv', 'gpu'],
  'drains.list': ['nod', 'usr', 'job'],
  'rolling.list': ['nod', 'usr', 'drn'],
  'rolling.get': ['nod', 'usr', 'drn'],
  'drains.get': ['nod', 'usr', 'job', 'srv', 'gpu', 'trf'],
  'transfers.list': ['nod', 'usr'],
  'transfers.get': ['nod', 'usr'],
  // An image is named by what installs it.
  'images.offered': ['img'],
  'own-images.list': ['img'],
  'gpu-instances.list-all': ['usr', 'nod'],
  'gpu-instances.list': ['usr', 'nod'],
  'gpu-instances.get': ['usr', 'nod'],
  'floating-ips.list': ['usr'],
  'isos.list': ['usr'],
  'backup-targets.list': ['nod'],
  'backups.list': ['usr'],
  'backups.list-all': ['usr'],
  'backup-repositories.list': ['usr', 'bkt', 'nod'],
  'backup-plans.list': ['bkt'],
  'backups.get': ['usr'],
  'floating-ips.get': ['usr'],
  'volumes.list': ['usr'],
  'volumes.get': ['usr'],
  'volumes.of-server': ['usr'],
  'usage.volumes': ['usr', 'vol'],
  'networks.list': ['usr'],
  'networks.get': ['usr'],
  'placement-groups.list': ['usr', 'nod'],
  'placement-groups.get': ['usr', 'nod'],
  'jobs.list': ['nod', 'usr'],
  'jobs.get': ['nod', 'usr'],
  'jobs.log': ['img'],
  'pools.list': ['nod'],
  'pools.get': ['nod'],
  'pools.nodes': ['nod'],
  'pools.addresses': ['srv'],
  // A report of abuse asks for a customer: which of its servers had the address, and by which job.
  'pools.history': ['srv', 'fip', 'job'],
  // The specification opens the report of usage, with its servers and accounts, by customers:read.
  'usage.report': ['srv', 'gpu', 'usr'],
  'usage.accounts': ['usr'],
  'usage.intervals': ['srv', 'gpu', 'usr'],
  'usage.of-server': ['usr'],
  'usage.gpu-report': ['gpu', 'usr'],
  'usage.addresses': ['srv', 'fip', 'usr'],
  // The specification opens them by servers:read, and one line names its owner.
  'usage.gpu-instances': ['usr'],
  'gpu-instances.usage': ['usr'],
  // A change that waits names who asked for it.
  'weakenings.list': ['usr'],
  // Each line names what the account itself has changed.
  'account.activity': ['whk'],
  // A delivery holds its event; who makes webhooks has events sent to any address anyhow.
  'webhooks.deliveries': ['evt'],
  'webhooks.delivery': ['evt', 'srv', 'usr', 'img'],
}
/** A location is named by whatever stands or is sold there: people choose among them by name. */
const namedEverywhere: readonly string[] = ['grp']

/** By the start of its id, the scopes that open a thing to this kind of account. */
function openedBy(kind: AccountKind) {
  const found = new Map<string, Set<string>>()
  for (const op of reading) {
    if (!op.on) continue
    for (const id of targetsOf(p, op, ids)) {
      const name = id.split('_')[0]!
      found.set(name, found.get(name) ?? new Set())
      if (op.access !== 'anyone') for (const right of op.access[kind] ?? []) found.get(name)!.add(right)
    }
  }
  return found
}

for (const kind of accountKinds)
  describe(`S23: a token of ${kind}`, () => {
    for (const scope of scopesOf(kind, allPermissions))
      test(`with ${scope} alone sees nothing that another scope opens`, async () => {
        const token = p.token(p.people[kind].id, [scope])
        const opened = openedBy(kind)
        const described: string[] = []
        // The audit log and events are of everything, by what they are.
        for (const op of reading.filter((op) => opens(op, kind, scope) && !/^(audit|events)\./.test(op.id)))
          for (const id of op.on ? targetsOf(p, op, ids) : ['']) {
            const { status, body } = await p.call(token, 'GET', op.path.replace(/\{\w+\}/, id))
            if (status !== 200) continue
            for (const other of new Set(JSON.stringify(body).match(/\b[a-z]+_[0-9a-z]{26}\b/g))) {
              const name = other.split('_')[0]!
              const isAsked = other === id || other === p.people[kind].id || neighbours[op.id]?.includes(name)
              if (isAsked || namedEverywhere.includes(name)) continue
              if (opened.has(name) && !opened.get(name)!.has(scope)) described.push(`${op.id} tells ${name}`)
            }
          }
        expect([...new Set(described)]).toEqual([])
      })
  })

test('S23: the search finds a token what its scopes open, and work on a node only for who sees nodes', async () => {
  p.db.$client.run(
    'INSERT INTO jobs (id, title, kind, input, state, lane, node_id, started_by_type, started_by_id, ' +
      "started_by_name, created_at, finished_at, progress, step_n, step_of, tries) SELECT 'job_ofnode', 'Install " +
      "a bridge', kind, input, state, lane, node_id, started_by_type, started_by_id, started_by_name, " +
      'created_at, finished_at, progress, step_n, step_of, tries FROM jobs LIMIT 1',
  )
  const asked = async (scopes: Scope[]) => {
    const token = p.token(p.people.staff.id, ['account:read', ...scopes])
    const found = (await p.call(token, 'GET', '/search?q=Install')).body.data.map((f: any) => f.title)
    const listed = await p.call(token, 'GET', '/jobs')
    return [
      found.sort(),
      listed.body.data?.map((j: any) => j.title).sort() ?? listed.body.error.code,
      listed.body.total,
    ]
  }
  const onServers = p.db.$client
    .query<{ title: string }, []>(
      "SELECT title FROM jobs WHERE subject_id IS NOT NULL AND subject_type <> 'node' ORDER BY title",
    )
    .all()
    .map(({ title }) => title)
  const drains = p.db.$client
    .query<{ title: string }, []>("SELECT title FROM jobs WHERE subject_type = 'node' ORDER BY title")
    .all()
    .map(({ title }) => title)
  expect(drains.length).toBeGreaterThan(0)
  const installs = onServers.filter((title) => title.startsWith('Install'))
  expect(await asked([])).toEqual([[], 'missing_scope', undefined])
  expect(await asked(['nodes:read'])).toEqual([
    ['Install a bridge'],
    [...drains, 'Install a bridge'],
    drains.length + 1,
  ])
  expect(await asked(['servers:read'])).toEqual([installs, onServers, onServers.length])
  expect((await asked(['servers:read', 'nodes:read']))[2]).toBe(onServers.length + drains.length + 1)
})
