// Whether nodes can log in to the hypervisors of an import, and how to let them in.
import { sql } from 'drizzle-orm'
import { type Static, Type as t } from 'typebox'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { page } from '../../kernel/api/list.ts'
import {
  type AppContext,
  described,
  fields,
  namedSchema,
  nullable,
  operation,
  time,
} from '../../kernel/api/operation.ts'
import { isoOrNull } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { findingCodes, findings } from '../import-records/checks/findings.ts'
import { forgetHost, hostOf, loginsAt } from '../import-records/checks/queries.ts'
import { hypervisorRows, type ImportHypervisor } from '../import-records/inventory/queries.ts'
import { type ImportRecord, importAccess, importRecord } from '../import-records/model.ts'
import { noteIn } from '../import-records/queries.ts'
import { mustAllow } from '../import-records/states.ts'
import { Facts } from '../mapping/facts.ts'
import { nodeOf } from '../mapping/hypervisors.ts'
import { addressOf, copyingNodes, fingerprintOf, keyCommand, keysOf } from './hosts.ts'
import { askLogins } from './logins.ts'

const nodeName = { id: t.String(), name: t.String() }
export const accessResponse = namedSchema('ImportAccess', {
  hypervisorId: described(t.String(), 'The id in the other panel.'),
  name: t.String(),
  address: described(nullable(t.String()), 'At which nodes reach it, on port 22. Null: its name leads nowhere.'),
  way: t.Enum(['copy', 'adopt']),
  node: described(nullable(t.Object(nodeName)), 'Of adopt: the node that it is. It needs no access.'),
  nodes: described(
    t.Array(
      t.Object({
        ...nodeName,
        isConnected: t.Boolean(),
        hasKey: described(t.Boolean(), 'Its key is known; a node makes it when it connects.'),
        login: described(
          nullable(t.Enum(['works', ...findingCodes])),
          'What its last log-in came to: works, or the code of a finding. Null: none was tried.',
        ),
        words: nullable(t.String()),
        at: nullable(time),
        isAsked: described(t.Boolean(), 'It tries to log in now.'),
      }),
    ),
    'Of copy: the nodes that copy from it.',
  ),
  working: described(t.Integer(), 'Nodes whose last log-in worked.'),
  command: described(
    nullable(t.String()),
    'To run there once as root instead of giving its password: it adds the key of each of these nodes, and is safe ' +
      'to run twice. Null: no node has told its key yet.',
  ),
  hostKey: described(nullable(t.String()), 'The fingerprint of its SSH server. Nodes accept no other.'),
  system: described(nullable(t.String()), 'As it calls itself.'),
  linkMbps: described(nullable(t.Integer()), 'Megabit per second that came from it to a node when that was measured.'),
})

type Showing = Pick<AppContext, 'nodes'> & { tx: Db }
export function showAccess({ tx, nodes }: Showing, facts: Facts, row: ImportHypervisor): Static<typeof accessResponse> {
  const copying = copyingNodes(facts, row)
  const logins = loginsAt(tx, row.importId, row.sourceId)
  const keys = new Set(keysOf(tx, copying).map(({ nodeId }) => nodeId))
  const match = row.choice === 'adopt' ? nodeOf(facts, row) : undefined
  const host = hostOf(tx, row.importId, row.sourceId)
  return {
    hypervisorId: row.sourceId,
    name: row.name,
    address: addressOf(row) ?? null,
    way: row.choice === 'adopt' ? 'adopt' : 'copy',
    node: match && 'node' in match ? { id: match.node.id, name: match.node.name } : null,
    nodes: copying.map(({ id, name }) => {
      const login = logins.get(id)
      return {
        ...{ id, name, isConnected: nodes.connected(id), hasKey: keys.has(id) },
        login: login?.result ?? null,
        words: login?.words || null,
        at: isoOrNull(login?.at ?? null),
        isAsked: login?.askedAt != null,
      }
    }),
    working: copying.filter(({ id }) => logins.get(id)?.result === 'works').length,
    command: keyCommand(tx, copying),
    hostKey: host ? fingerprintOf(host.hostKey) : null,
    system: host?.facts?.os ?? null,
    linkMbps: host?.facts?.linkMbps ?? null,
  }
}

export const listAccess = operation({
  id: 'imports.access',
  method: 'GET',
  path: '/admin/migrations/{id}/access',
  summary: 'Whether the copying nodes can log in to each hypervisor, and the command that lets them in',
  access: importAccess,
  on: importRecord,
  response: page(accessResponse),
  run(call) {
    const { tx, target } = call
    const facts = new Facts(tx, target)
    return hypervisorRows.page(call, target.id, sql`choice IN ('copy', 'adopt')`, (row) => showAccess(call, facts, row))
  },
})

export const hypervisorId = described(
  t.String({ minLength: 1, maxLength: 400 }),
  'Of a hypervisor from which servers are copied: its id in the other panel.',
)
/** The hypervisor that a body names. Throws `validation_failed` for none of the import, and for one without copies. */
export function copiedHypervisor(tx: Db, target: ImportRecord, sourceId: string): ImportHypervisor {
  const row = hypervisorRows.find(tx, target.id, sourceId)
  if (!row) throw invalid({ field: 'hypervisorId', message: 'is none of this import.' })
  if (row.choice !== 'copy')
    throw invalid({ field: 'hypervisorId', message: 'is not one from which servers are copied.' })
  return row
}
export function mustHaveAddress(row: ImportHypervisor) {
  if (addressOf(row) === undefined)
    throw new ApiError(
      'hypervisor_without_address',
      `The name ${row.address} of ${row.name} leads nowhere. Correct it in the other panel or in your DNS, and ` +
        'discover again.',
    )
}

export const checkAccess = operation({
  id: 'imports.check-access',
  method: 'POST',
  path: '/admin/migrations/{id}/actions/check-access',
  summary: 'Let every copying node try to log in to a hypervisor, where nothing changes; the list of access says more',
  past: 'Started an access check',
  access: importAccess,
  on: importRecord,
  body: fields({
    hypervisorId,
    acceptHostKey: t.Optional(
      described(
        t.Boolean(),
        'Its SSH server shows another key than before, and you know why: the one that it has now is accepted.',
      ),
    ),
  }),
  response: accessResponse,
  refuses: ['hypervisor_without_address', 'import_not_discovered', 'import_busy', 'import_ended'],
  example: { hypervisorId: '3' },
  run(call) {
    const { tx, target, body, clock } = call
    const row = copiedHypervisor(tx, target, body.hypervisorId)
    mustAllow(target, 'access')
    mustHaveAddress(row)
    const facts = new Facts(tx, target)
    if (body.acceptHostKey) {
      forgetHost(tx, target.id, row.sourceId)
      noteIn(tx, target.id, clock(), 'warning', `Another SSH host key of ${row.name} is accepted.`)
    }
    askLogins(tx, { importId: target.id, hypervisorId: row.sourceId }, copyingNodes(facts, row), clock())
    return showAccess(call, facts, row)
  },
})
/** The remedies of findings, for pages. */
export const remedyOf = (code: keyof typeof findings): string => findings[code].remedy
