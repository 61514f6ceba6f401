// The start of an import: from then on its servers move by themselves, one after another within its limits.
import { Type as t } from 'typebox'
import { ApiError } from '../../kernel/api/errors.ts'
import { described, fields, operation, type PrepareContext } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { count } from '../../kernel/words.ts'
import { plainAwaySeconds } from '../dry-run/estimate.ts'
import { checkOf } from '../import-records/checks/queries.ts'
import { serversAfter } from '../import-records/inventory/queries.ts'
import {
  type ImportRecord,
  type ImportServer,
  importAccess,
  importRecord,
  importResponse,
  showImport,
} from '../import-records/model.ts'
import { insertMove } from '../import-records/moves/queries.ts'
import { changeImport, importById, noteIn } from '../import-records/queries.ts'
import { mustAllow, titleOf } from '../import-records/states.ts'
import { compare } from '../mapping/compare.ts'
import { tellAtStart } from '../messages/tell.ts'
import { limitFields, limitsWith } from './limit-fields.ts'
import { holdAtSource } from './plan/holds.ts'

export const startImport = operation({
  id: 'imports.start',
  method: 'POST',
  path: '/admin/migrations/{id}/actions/start',
  summary: 'Move the servers that are ready: each is stopped at its source once, and started here',
  past: 'Started moving servers',
  access: importAccess,
  on: importRecord,
  body: fields({
    ...limitFields,
    emailsOwners: t.Optional(
      described(t.Boolean(), 'Owners are told by mail, as the messages of the import say. Usually as it is set there.'),
    ),
  }),
  response: importResponse,
  refuses: [
    'import_not_discovered',
    'import_not_checked',
    'import_conflicts',
    'import_busy',
    'import_started',
    'import_ended',
  ],
  example: { perHypervisor: 2, perNode: 2, window: { from: '22:00', to: '05:00', timeZone: 'Europe/Berlin' } },
  /** Accounts, pools and addresses are looked at once more; a choice that does not hold any more waits for a person. */
  async prepare(call: PrepareContext<ImportRecord>) {
    return call.target.status === 'ready' ? await compare(call.db, call, call.target.id) : undefined
  },
  run(call) {
    const { tx, body, clock, prepared } = call
    // Read again: comparing may have taken a choice back.
    const target = importById(tx, call.target.id)!
    if (prepared?.lapsed)
      throw new ApiError(
        'import_conflicts',
        `${count(prepared.lapsed, 'choice')} of ${titleOf(target)} ${prepared.lapsed === 1 ? 'does' : 'do'} not hold ` +
          'any more: accounts, pools or packages have changed. Choose again, and run the dry run again.',
      )
    mustAllow(target, 'start')
    if (target.checkedVersion !== target.mappingVersion)
      throw new ApiError('import_not_checked', `${titleOf(target)} was changed since its dry run. Run it again.`)
    const limits = limitsWith(target.limits, body)
    const n = queueAll(tx, target, limits.method)
    if (!n) throw new ApiError('import_not_checked', `No server of ${titleOf(target)} is ready. Run the dry run again.`)
    const now = clock()
    changeImport(tx, target.id, {
      ...{ status: 'migrating', startedAt: now, limits, emailsOwners: body.emailsOwners ?? target.emailsOwners },
      ...{ pausedAt: null, stopsAfter: null, migratedAt: null },
    })
    noteIn(tx, target.id, now, 'info', `${count(n, 'server')} will move.`)
    tellAtStart(tx, call, importById(tx, target.id)!)
    return showImport(call, importById(tx, target.id)!)
  },
})

const AT_ONCE = 500
/** Every server that is ready waits for its turn. Answers how many there are. */
function queueAll(tx: Tx, { id }: ImportRecord, method: ImportRecord['limits']['method']): number {
  let n = 0
  for (let after = ''; ; ) {
    const servers = serversAfter(tx, id, after, AT_ONCE)
    for (const server of servers) if (server.state === 'ready') queue(tx, server, method, n++)
    const last = servers.at(-1)?.id
    if (servers.length < AT_ONCE || last === undefined) return n
    after = last
  }
}

/** In seconds, by the way that it takes. */
const awayOf = (check: ReturnType<typeof checkOf>, method: ImportRecord['limits']['method']): number | null =>
  method === 'plain' && check?.method === 'short_stop' && check.copySeconds !== null
    ? plainAwaySeconds(check.copySeconds)
    : (check?.awaySeconds ?? null)

function queue(tx: Tx, server: ImportServer, method: ImportRecord['limits']['method'], position: number) {
  const check = checkOf(tx, server.id)
  // No order gets an address that answers at the source.
  holdAtSource(tx, server)
  insertMove(tx, {
    ...{ serverId: server.id, importId: server.importId, hypervisorId: server.hypervisorId },
    ...{ position, state: 'waiting', way: check?.way ?? 'copy' },
    method: check?.method === 'plain' ? 'plain' : method,
    expectedAwaySeconds: awayOf(check, method),
  })
}
