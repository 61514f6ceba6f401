import { Type as t } from 'typebox'
import { keptAfterTermination } from '../../compute/backups/model.ts'
import { backupsOf } from '../../compute/backups/queries.ts'
import { startDestroying } from '../../compute/brake/brake.ts'
import { diskJob } from '../../compute/server-records/disk-lock.ts'
import { load } from '../../compute/server-records/model.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { described, fields, line, namedSchema, nullable, operation, time } from '../../kernel/api/operation.ts'
import { isoOrNull } from '../../kernel/db/clock.ts'
import { settingValue } from '../../kernel/setting.ts'
import { addressesOf, isOwn } from '../../network/ip-pools/allocate.ts'
import { addressesOfServer, hypervisorRows } from '../import-records/inventory/queries.ts'
import { importAccess, importServer } from '../import-records/model.ts'
import { changeMove, noteAttempt } from '../import-records/moves/queries.ts'
import { noteIn } from '../import-records/queries.ts'
import { mustAllow } from '../import-records/states.ts'
import { nodeName } from '../source-access/logins.ts'
import { movedIn } from '../verify/moved.ts'
import { wayBack } from './possible.ts'
import { rollingBack } from './roll-back.ts'
import { bytesWrittenBy } from './written.ts'

export const previewRollBack = operation({
  id: 'import-servers.roll-back-preview',
  method: 'GET',
  path: '/admin/migration-servers/{id}/roll-back',
  summary: 'What rolling a server back costs: nothing is changed',
  access: importAccess,
  on: importServer,
  response: namedSchema('ImportRollBack', {
    hostname: described(t.String(), 'To be typed.'),
    isPossible: t.Boolean(),
    reason: described(nullable(t.String()), 'Why it is not possible.'),
    since: described(nullable(time), 'Everything that it has written since then is lost.'),
    bytesWritten: described(nullable(t.Integer()), 'About so much. Null: nobody has measured it.'),
    way: t.Enum(['copy', 'adopt']),
    node: described(t.String(), 'The node that it is on.'),
    backups: described(t.Integer(), 'Its backups here, which stay.'),
    backupsKeptDays: t.Integer(),
    hypervisor: described(t.String(), 'Where the original starts, from the definition kept before the shut-down.'),
    starts: described(t.Boolean(), 'The original starts. False: it was off before.'),
    returnedAddresses: described(t.Array(t.String()), 'Back in their pools.'),
    oldAddresses: described(t.Array(t.String()), 'At which it answers again.'),
  }),
  refuses: ['import_server_not_moved'],
  run(call) {
    const { tx, target: server } = call
    const { of, move } = movedIn(tx, server)
    const here = load(tx, move.workloadId!)
    const found = wayBack(tx, call, server, move)
    const since = move.startedAt ?? move.movedAt
    const there = addressesOfServer(tx, server.id).map(({ address }) => address)
    const own = addressesOf(tx, here.id).filter(isOwn)
    return {
      hostname: server.hostname,
      isPossible: 'way' in found,
      reason: 'way' in found ? null : found.reason,
      since: isoOrNull(since),
      bytesWritten: since === null ? null : bytesWrittenBy(call, tx, here.id, since),
      way: move.way,
      node: nodeName(tx, here.nodeId),
      backups: backupsOf(tx, here).filter(({ state }) => state === 'ready').length,
      backupsKeptDays: settingValue(tx, keptAfterTermination),
      hypervisor: hypervisorRows.find(tx, of.id, move.hypervisorId)?.name ?? '',
      starts: move.wasRunning ?? true,
      returnedAddresses: own.map(({ address }) => address).filter((one) => !there.includes(one)),
      oldAddresses: there,
    }
  },
})

export const rollBack = operation({
  id: 'import-servers.roll-back',
  method: 'POST',
  path: '/admin/migration-servers/{id}/actions/roll-back',
  summary: 'Roll a server back: what it wrote since it moved is lost, and the original starts at its source',
  past: 'Rolled back a server of an import',
  access: importAccess,
  requiresRecentAuth: true,
  on: importServer,
  body: fields({ hostname: described(line(300), 'Its name, as it is shown.') }),
  response: namedSchema('ImportRollingBack', { jobId: t.String() }),
  status: 202,
  refuses: ['import_server_not_moved', 'import_not_migrating', 'import_ended', 'roll_back_not_possible', 'server_busy'],
  example: { hostname: 'shop.example.com' },
  run(call) {
    const { tx, target: server, body, actor, clock } = call
    const { of, move } = movedIn(tx, server)
    mustAllow(of, 'roll-back')
    if (body.hostname !== server.hostname)
      throw invalid({ field: 'hostname', message: `is not the name of this server, ${server.hostname}.` })
    const found = wayBack(tx, call, server, move)
    if ('reason' in found)
      throw new ApiError('roll_back_not_possible', `${server.hostname} cannot be rolled back. ${found.reason}`)
    const now = clock()
    const here = load(tx, move.workloadId!)
    const title = `Roll ${server.hostname} back`
    const jobId = startDestroying(tx, rollingBack, found.way, 'restore', {
      ...diskJob(here, { by: actor, title, now }),
      otherNodeId: found.way.sourceNodeId,
    })
    noteAttempt(tx, move, { jobId, workloadId: here.id, at: now })
    changeMove(tx, server.id, { state: 'rolling_back' })
    noteIn(tx, of.id, now, 'warning', `${server.hostname} is rolled back.`)
    return { jobId }
  },
})
