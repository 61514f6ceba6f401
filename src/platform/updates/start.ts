import { nameOf } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { done, operation } from '../../kernel/api/operation.ts'
import { iso } from '../../kernel/db/clock.ts'
import { write } from '../../kernel/db/open.ts'
import type { ScheduleContext } from '../../kernel/feature.ts'
import { checked, verify, versionBody } from './check.ts'
import { upgradeNow } from './now.ts'
import { endRequest, keepRequest, requestOf } from './queries.ts'

/** Of the name in a request. */
const MOST_BY = 200

const access = { staff: ['settings:write'] } as const

export const startUpdate = operation({
  id: 'updates.start',
  method: 'POST',
  path: '/admin/updates/actions/start',
  summary:
    'Update the controller to a release in the folder. Root of its machine verifies the release by itself, replaces ' +
    'the program, watches it, and puts program and database back when something is wrong',
  past: 'Started an update of the controller',
  access,
  tellsOwners: 'An update of the controller was started.',
  body: versionBody,
  response: done,
  status: 202,
  refuses: ['release_not_found', 'update_refused', 'update_under_way', 'token_not_allowed'],
  example: { version: '1.10.0' },
  prepare: verify,
  run(call) {
    const { tx, actor, wallClock, prepared } = call
    if (upgradeNow(call)) throw new ApiError('update_under_way', 'An update is under way or waits. Wait for its end.')
    const wrong = checked(call, prepared).findings.find(({ result }) => result === 'bad')
    if (wrong) throw new ApiError('update_refused', `${wrong.what}. ${wrong.words}`)
    const { manifest, file } = prepared.release
    const by = (actor.via.type === 'system' ? 'command line' : nameOf(actor)).slice(0, MOST_BY)
    keepRequest(tx, { version: manifest.version, file, by, at: wallClock(), handedAt: null })
    return {}
  },
})

export const withdrawUpdate = operation({
  id: 'updates.withdraw',
  method: 'POST',
  path: '/admin/updates/actions/withdraw',
  summary: 'Withdraw an update that waits; one that root has begun comes to its end',
  past: 'Withdrew an update',
  access,
  response: done,
  refuses: ['update_not_waiting'],
  run(call) {
    if (upgradeNow(call)?.state !== 'waiting')
      throw new ApiError('update_not_waiting', 'No update waits: none was asked for, or it has begun.')
    endRequest(call.tx)
    call.updates.machine.withdraw()
    return {}
  },
})

/**
 * Hands a request to root after it was committed, with its audit line. It is noted first: a crash in between loses the
 * request, and an update that went back does not begin again from the database of before.
 */
export function handOver({ db, app: { updates, wallClock } }: Pick<ScheduleContext, 'db' | 'app'>) {
  const request = requestOf(db)
  if (!request || request.handedAt !== null) return
  write(db, (tx) => keepRequest(tx, { ...request, handedAt: wallClock() }))
  const { file, by, at } = request
  updates.machine.ask({ format: 1, file, by, at: iso(at) })
}
