// A server that reaches a share of its traffic: its owner is notified once, and the package may have it suspended or
// slowed down. Such a suspension ends with the month, with a top-up, or when somebody else suspends the server.
import { monthOf } from '../../billing/usage/period.ts'
import { packageById } from '../../catalog/packages/queries.ts'
import { type Server, serverById } from '../../compute/server-records/model.ts'
import { suspend, unsuspend } from '../../compute/servers/life/suspend.ts'
import {
  endTrafficSuspension,
  type Mark,
  markTold,
  noteTrafficSuspension,
  suspendedBefore,
  untoldMarks,
} from '../../fleet/traffic-records/queries.ts'
import { areas } from '../../identity/account-records/areas.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import { notify } from '../../identity/notices/notify.ts'
import { system } from '../../kernel/api/actor.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import { type Db, type Tx, write } from '../../kernel/db/open.ts'
import { traffic } from '../../kernel/words.ts'
import { type Allowance, allowanceOf } from './allowance.ts'
import { settleThrottles, throttle } from './throttle.ts'

/** A transaction of so many keeps others waiting for a few milliseconds. */
const AT_ONCE = 50

/** One turn: tells of shares that were reached, and ends suspensions of months that are over. */
export function settleTraffic(db: Db, app: AppContext) {
  const marks = untoldMarks(db, AT_ONCE)
  if (marks.length)
    write(db, (tx) => {
      for (const mark of marks) act(tx, app, mark)
    })
  const now = app.clock()
  settleThrottles(db, monthOf(now), now, AT_ONCE)
  const over = suspendedBefore(db, monthOf(now), AT_ONCE)
  if (over.length)
    write(db, (tx) => {
      for (const id of over) release(tx, id, now)
    })
}

/** Ends the suspension of a server that is suspended for its traffic alone; answers the job's id where there is one. */
export function release(tx: Tx, id: string, now: number): string | null {
  if (!endTrafficSuspension(tx, id)) return null
  const server = serverById(tx, id)
  if (!server || server.lifecycle === 'terminated' || server.suspendedAt === null) return null
  return unsuspend(tx, server, { by: system, now })
}

function act(tx: Tx, app: AppContext, mark: Mark) {
  const now = app.clock()
  markTold(tx, mark, now)
  const server = serverById(tx, mark.workloadId)
  if (!server || server.lifecycle === 'terminated' || mark.month !== monthOf(now)) return
  const allowance = allowanceOf(tx, server, now)
  const isOver = (allowance.percent ?? 0) >= 100
  const isSuspended = isOver && allowance.overTraffic === 'suspend' && server.suspendedAt === null
  const throttleMbps = isOver && allowance.overTraffic === 'throttle' ? throttleOf(tx, server) : null
  tell(tx, app, server, mark, allowance, { isSuspended, throttleMbps })
  if (throttleMbps !== null) throttle(tx, server, throttleMbps, mark.month, now)
  if (!isSuspended) return
  // First: the notice above says it, so the suspension has none of its own.
  noteTrafficSuspension(tx, server.id, mark.month, now)
  suspend(tx, server, { by: system, reason: `Its traffic of ${mark.month} is used up`, now })
}

const throttleOf = (tx: Tx, { packageId }: Server) => packageById(tx, packageId)?.throttleMbps ?? null

type Consequence = { isSuspended: boolean; throttleMbps: number | null }
function tell(
  tx: Tx,
  app: AppContext,
  server: Server,
  { percent }: Mark,
  of: Allowance,
  { isSuspended, throttleMbps }: Consequence,
) {
  const owner = accountById(tx, server.ownerId)
  if (!owner) return
  const all = (of.allowanceGb ?? 0) + of.addedGb
  const used = Math.round(of.usedBytes / 1e8) / 10
  notify(tx, app, owner, percent >= 100 ? 'traffic_used' : 'traffic_near', {
    subject: `${server.hostname} has used ${percent} % of its traffic`,
    paragraphs: [
      `${server.hostname} has used ${traffic(used)} of the ${traffic(all)} that it has in ${of.month} (UTC).`,
      throttleMbps !== null
        ? `It is slowed down to ${throttleMbps} Mbit/s in each direction now. It gets its speed back when the month ` +
          'ends, or as soon as more traffic is added.'
        : isSuspended
          ? 'It is suspended now. It starts again by itself when the month ends, or as soon as more traffic is added.'
          : percent >= 100 && of.overTraffic === 'nothing'
            ? 'It keeps running. Ask your provider what traffic beyond its package costs.'
            : of.overTraffic === 'suspend'
              ? 'When all of it is used, the server is suspended until the month ends or more traffic is added.'
              : of.overTraffic === 'throttle'
                ? `When all of it is used, the server is slowed down to ${throttleOf(tx, server)} Mbit/s until the ` +
                  'month ends or more traffic is added.'
                : 'It keeps running when all of it is used.',
    ],
    button: { words: 'Open the server', path: `${areas[owner.kind]}/servers/${server.id}` },
  })
}
