// One turn of rolling maintenance: each step reads the tables and is one transaction, so a restart goes on with it.
import { nodeById } from '../../../fleet/node-records/queries.ts'
import { type Actor, system } from '../../../kernel/api/actor.ts'
import { ApiError } from '../../../kernel/api/errors.ts'
import type { AppContext } from '../../../kernel/api/operation.ts'
import { type Db, savepoint, type Tx, write } from '../../../kernel/db/open.ts'
import { refusalOf } from '../../snapshots/model.ts'
import { named } from '../model.ts'
import { atHomeOn } from '../plan/node-plan.ts'
import { countsOf, drainById } from '../queries.ts'
import { endMaintenance } from '../return.ts'
import { beginDrain } from '../start.ts'
import { changeRolling, openRollings, type Rolling, rollingById } from './queries.ts'

type App = Pick<AppContext, 'nodes' | 'clock'>
type Call = App & { tx: Tx; actor: Actor }

export function advanceRollings(db: Db, app: App) {
  for (const { id, state } of openRollings(db)) {
    if (state !== 'running') continue
    try {
      write(db, (tx) => turn({ ...app, tx, actor: system }, rollingById(tx, id)!))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      write(db, (tx) => pause(tx, rollingById(tx, id)!, error.message))
    }
  }
}

function turn(call: Call, row: Rolling) {
  const { tx, nodes } = call
  if (row.phase === 'working') {
    const drain = drainById(tx, row.drainId!)!
    const node = nodeById(tx, drain.nodeId)!
    if (row.waitsFor === 'reboot' && nodes.connected(node.id) && node.facts.bootedAt > drain.bootedAt) goOn(call, row)
    return
  }
  const drain = drainById(tx, row.drainId!)!
  if (drain.finishedAt === null) return
  const { failed = 0 } = countsOf(tx, drain.id)
  const { name } = named(tx, drain.nodeId)
  if (drain.state === 'cancelled') return pause(tx, row, `The drain of ${name} was cancelled.`)
  if (row.phase === 'returning')
    return failed ? pause(tx, row, `Not every server came back to ${name}.`) : next(call, row)
  const { servers, instances } = atHomeOn(tx, drain.nodeId)
  const left = servers.length + instances.length
  if (left) return pause(tx, row, `${name} is not empty: ${left} could not move.`)
  changeRolling(tx, row.id, { phase: 'working' })
}

/** The work on the node at hand is done: it is opened, and its servers come back where that was wanted. */
export function goOn(call: Call, row: Rolling) {
  const { tx } = call
  const { nodeId } = drainById(tx, row.drainId!)!
  const { drainId } = endMaintenance({ ...call, actor: starterOf(row) }, nodeId, {
    bringBack: row.bringBack,
    ...limitsOf(row),
  })
  if (drainId === null) next(call, row)
  else changeRolling(tx, row.id, { phase: 'returning', drainId })
}

/** Goes on with the node after the one at hand; what refuses its drain pauses it there. */
export function next(call: Call, row: Rolling) {
  const { tx } = call
  const position = row.position + 1
  const onwards = { position, state: 'running', phase: 'draining', reason: null } as const
  if (position === row.nodeIds.length)
    return changeRolling(tx, row.id, { ...onwards, phase: row.phase, state: 'done', finishedAt: call.clock() })
  changeRolling(tx, row.id, onwards)
  const refusal = refusalOf(() => savepoint(tx, () => beginNode(call, { ...row, position })))
  if (refusal !== null) pause(tx, { ...row, position }, refusal)
}

/** Begins with the node at this place of the list. Throws what refuses its drain. */
export function beginNode(call: Call, row: Rolling) {
  const { tx } = call
  const target = nodeById(tx, row.nodeIds[row.position]!)!
  if (target.removedAt !== null) throw new ApiError('node_is_lost', `${target.name} was removed.`)
  const drainId = beginDrain({ ...call, actor: starterOf(row) }, target, limitsOf(row))
  changeRolling(tx, row.id, { position: row.position, phase: 'draining', drainId })
}

/** It waits for a person, who tries again, skips the node or ends it. */
const pause = (tx: Tx, row: Rolling, reason: string) => changeRolling(tx, row.id, { state: 'paused', reason })

/**
 * Goes on after a pause: the node at hand is emptied anew where it is not empty. What did not come back to it stays
 * away, and the next one follows. Throws what refuses the drain.
 */
export function goOnAfterPause(call: Call, row: Rolling) {
  const { tx } = call
  changeRolling(tx, row.id, { state: 'running', reason: null })
  if (row.phase === 'returning') return next(call, row)
  if (row.phase === 'working') return
  const nodeId = row.nodeIds[row.position]!
  const hasBegun = row.drainId !== null && drainById(tx, row.drainId)!.nodeId === nodeId
  const { servers, instances } = atHomeOn(tx, nodeId)
  if (hasBegun && !servers.length && !instances.length) return changeRolling(tx, row.id, { phase: 'working' })
  beginNode(call, row)
}

const starterOf = ({ startedBy }: Rolling): Actor => ({ ...system, accountId: startedBy.id, name: startedBy.name })
const limitsOf = ({ atOnce, maxMbps }: Rolling) => ({ ...(atOnce !== null && { atOnce }), maxMbps })
