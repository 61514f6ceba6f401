// One node while it is updated: what its agent tells is compared with what was known of it before, and the new version
// stays only when both agree for the time of the trial.

import type { Node } from '../../fleet/node-records/model.ts'
import { hasReported } from '../../fleet/node-records/queries.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import { minute, second } from '../../kernel/db/clock.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { changeRollOutNode, type RollOut, type RollOutNode } from './queries.ts'
import type { Failure } from './stop.ts'
import type { KnownBefore } from './tables.ts'

/** An agent that has not said anything of the release by then is told again at each look. */
const NUDGED_AFTER_MS = 30 * second
/** A download over a slow line, and the jobs at work, take no longer. */
const LONGEST_MS = 2 * 60 * minute
/** An agent that goes back by itself is here again within two minutes. */
const BACK_WITHIN_MS = 5 * minute
/** Agents are here again so long after a restart of the controller. */
const RECONNECTS_WITHIN_MS = minute
/** Beyond its trial the agent starts and connects, and the whole stays below two minutes. */
export const CONNECTS_WITHIN_SECONDS = 45
const MOST_FINDINGS = 20

export type FollowContext = {
  tx: Tx
  app: AppContext
  /** Frames for nodes, sent when the transaction is through. */
  send(frame: () => void): void
}

export const knownBefore = (app: AppContext, node: Node): KnownBefore => ({
  differences: node.differences.map(({ words }) => words),
  silent: app.nodes.heartbeat(node.id) ? silentPartsOf(app, node) : null,
  updateAt: node.facts.update?.at ?? null,
})
const silentPartsOf = ({ nodes }: AppContext, { id }: Node): string[] =>
  (nodes.heartbeat(id)?.silent ?? []).map(({ part }) => part)

/** Begins with a node. */
export function begin({ tx, app, send }: FollowContext, row: RollOutNode, node: Node) {
  changeRollOutNode(tx, row, {
    ...{ state: 'updating', startedAt: app.clock(), trialAt: null, endedAt: null },
    ...{ fromVersion: node.facts.agentVersion, before: knownBefore(app, node) },
    ...{ findings: [], code: null, reason: null, sentBytes: 0 },
  })
  send(() => app.nodes.lookForRelease(node.id))
}

export type Followed = 'at_work' | 'done' | 'waits' | Failure

/** One look at a node that is updated. What it answers is to be written by the caller; notes are written here. */
export function follow(call: FollowContext, rollOut: RollOut, row: RollOutNode, node: Node): Followed {
  const { tx, app, send } = call
  const { version } = rollOut
  const now = app.clock()
  const { agentVersion, update: told } = node.facts
  const update = told && told.at !== row.before?.updateAt ? told : undefined
  if (!app.nodes.connected(node.id)) return whileAway(app, row, node, now)
  if (now - row.startedAt! > LONGEST_MS)
    return failure('failed', 'timeout', `It was not updated within ${LONGEST_MS / minute} minutes.`)
  // A report of before this connection says nothing about now.
  if (!hasReported(tx, node.id)) return 'at_work'
  if (agentVersion === version && update?.state !== 'trial') return 'done'
  if (update?.state === 'refused' || update?.state === 'failed')
    return failure(update.state, update.code, update.reason)
  if (update?.state === 'went_back') return failure('went_back', update.code, wordsOf(row, update.reason))
  if (update?.state === 'trial' && agentVersion === version) return onTrial(call, rollOut, row, node)
  if (!update && now - row.startedAt! > NUDGED_AFTER_MS) send(() => app.nodes.lookForRelease(node.id))
  return 'at_work'
}

/** Accepts the version once it ran for the time of its trial without a finding and without breaking off. */
function onTrial({ tx, app, send }: FollowContext, rollOut: RollOut, row: RollOutNode, node: Node): Followed {
  const now = app.clock()
  const trialAt = row.trialAt ?? now
  const trialMs = rollOut.trialSeconds * second
  const told = node.facts.update!.findings
  const findings = [...(told ?? []), ...differencesSince(app, node, row.before)].slice(0, MOST_FINDINGS)
  if (row.trialAt === null || !Bun.deepEquals(findings, row.findings)) changeRollOutNode(tx, row, { trialAt, findings })
  if (now - trialAt > BACK_WITHIN_MS + trialMs)
    return failure('not_back', 'trial_without_end', 'Its trial did not end.')
  const isGood = told !== undefined && findings.length === 0
  if (isGood && now - Math.max(trialAt, brokeOffAt(app, node)) >= trialMs)
    send(() => app.nodes.acceptRelease(node.id, rollOut.version))
  return 'at_work'
}

/** When the node connected after it had broken off; 0 where it was this controller that restarted. */
const brokeOffAt = ({ startedAt }: AppContext, { connectedAt }: Node): number =>
  connectedAt !== null && connectedAt - startedAt > RECONNECTS_WITHIN_MS ? connectedAt : 0

/** Since when a node is away, of the time after `since` in which this controller could have heard it. */
export const awaySince = ({ nodes, startedAt, clock }: AppContext, nodeId: string, since: number): number =>
  Math.max(since, startedAt, nodes.lastSeen(nodeId) ?? clock())

function whileAway(app: AppContext, { startedAt, trialAt }: RollOutNode, node: Node, now: number): Followed {
  if (now - awaySince(app, node.id, startedAt!) < BACK_WITHIN_MS) return 'at_work'
  const { update } = node.facts
  const hasSwitched = trialAt !== null || update?.state === 'switching' || update?.state === 'trial'
  return hasSwitched
    ? failure('not_back', 'not_back', `It has not connected for ${BACK_WITHIN_MS / minute} minutes.`)
    : 'waits'
}

const failure = (state: Failure['state'], code = 'unknown', reason = 'The agent did not say why.'): Failure => ({
  state,
  code,
  reason,
})

/** The findings of the trial say more than that the acceptance did not come. */
const wordsOf = ({ findings }: RollOutNode, reason: string | undefined) => (findings.length ? findings[0] : reason)

/** Everything that is on a node, and answers there, must be as before. */
function differencesSince(app: AppContext, node: Node, before: KnownBefore | null): string[] {
  const known = new Set(before?.differences)
  // The agent compares this, too, and it knows what was before it could not connect.
  const silent = before?.silent ? silentPartsOf(app, node).filter((part) => !before.silent!.includes(part)) : []
  return [
    ...node.differences.flatMap(({ words }) => (known.has(words) ? [] : [words])),
    ...silent.map((part) => `Its ${part} does not answer.`),
  ]
}
