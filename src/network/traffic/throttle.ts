// A server that has used its traffic and whose package slows it down: until the month ends, traffic is added or it gets
// another package.

import { load, type Server, serverJob } from '../../compute/server-records/model.ts'
import { throttledBefore, untoldSpeeds, updateServer } from '../../compute/server-records/queries.ts'
import { tellingSpeed } from '../../compute/speed/tell.ts'
import { system } from '../../kernel/api/actor.ts'
import { type Db, type Tx, write } from '../../kernel/db/open.ts'
import { isHeldByJob } from '../../kernel/jobs/queries.ts'
import { startJob } from '../../kernel/jobs/start.ts'

/** Slows the server down to `mbps` in each direction. */
export function throttle(tx: Tx, { id, hostname }: Server, mbps: number, month: string, now: number) {
  updateServer(tx, id, { throttleMbps: mbps, throttleMonth: month })
  tellSpeed(tx, id, `Slow ${hostname} down to ${mbps} Mbit/s: its traffic is used up`, now)
}

/** Gives the server its speed back. Returns the job's id; null where it was not slowed down, or a job holds it. */
export function unthrottle(tx: Tx, { id, hostname, throttleMonth }: Server, now: number): string | null {
  if (throttleMonth === null) return null
  updateServer(tx, id, { throttleMbps: null, throttleMonth: null })
  return tellSpeed(tx, id, `Give ${hostname} its speed back`, now)
}

/** One turn: servers of months that are over, and servers whose job has ended meanwhile. */
export function settleThrottles(db: Db, month: string, now: number, most: number) {
  const over = throttledBefore(db, month, most)
  const untold = untoldSpeeds(db, most)
  if (!over.length && !untold.length) return
  write(db, (tx) => {
    for (const id of over) unthrottle(tx, load(tx, id), now)
    for (const id of untold) tellSpeed(tx, id, `Tell the node the speed of ${load(tx, id).hostname}`, now)
  })
}

/** While a job holds the server its node is told later, by a turn of the clock. */
function tellSpeed(tx: Tx, id: string, title: string, now: number): string | null {
  const server = load(tx, id)
  const hasVm = server.diskGeneration !== null && server.lifecycle !== 'terminated'
  const isHeld = hasVm && isHeldByJob(tx, id)
  if (server.speedUntold !== isHeld) updateServer(tx, id, { speedUntold: isHeld })
  if (!hasVm || isHeld) return null
  return startJob(
    tx,
    tellingSpeed,
    { serverId: id, nodeId: server.nodeId },
    serverJob(server, { by: system, title, now }),
  )
}
