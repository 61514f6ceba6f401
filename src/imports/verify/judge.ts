// The checks of a server that has moved, in words: does it run, is it reached, does its system have its new addresses.
// A pure function over the answer of its node.
import type { Output } from '../../../agent/protocol/wire.ts'
import { count } from '../../kernel/words.ts'
import type { MoveCheck } from '../import-records/verified/queries.ts'

export const SSH = 22
export const REMOTE_DESKTOP = 3389

/** Why its node said nothing. */
export type Unasked = 'agent_outdated' | 'node_away' | 'failed'
export type Seen = {
  node: string
  /** Whether it ran at its source. */
  wasRunning: boolean
  isSuspended: boolean
  /** It was terminated here. */
  isEnded: boolean
  reached: Output<'reach.look'> | { unasked: Unasked; words: string }
  /** Its first address; null: it has none. */
  address: string | null
  /** As its guest agent has said it before. */
  isWindows: boolean
  /** New addresses, and whether its system has them; undefined: it keeps those that it had. */
  change?: { state: 'waiting' | 'done' | 'given_up'; error: string | null; tries: number; leave: readonly string[] }
  /** Seconds until its guest agent is asked for them again. */
  nextTrySeconds?: number | undefined
}

const passed = (code: MoveCheck['code'], words: string): MoveCheck => ({ code, result: 'passed', words, next: null })
const skipped = (code: MoveCheck['code'], words: string): MoveCheck => ({ code, result: 'skipped', words, next: null })
const open = (code: MoveCheck['code'], words: string, next: MoveCheck['next']): MoveCheck => ({
  code,
  result: 'open',
  words,
  next,
})

/** The checks of a server, in the order in which a person reads them. */
export function checksOf(seen: Seen): MoveCheck[] {
  if (seen.isEnded) return [skipped('ended', 'It was terminated here since.')]
  const { reached } = seen
  if ('unasked' in reached) return [unaskedCheck(reached, seen.node), ...addressCheck(seen, null)]
  const running = runsCheck(seen, reached.power)
  const isOn = reached.power === 'running'
  return [running, ...(isOn ? [reachedCheck(seen, reached)] : []), ...addressCheck(seen, isOn ? reached : null)]
}

const unaskedCheck = ({ unasked, words }: { unasked: Unasked; words: string }, node: string): MoveCheck => {
  if (unasked === 'agent_outdated')
    return open('asked', `The agent of ${node} is older than the controller: update it first.`, 'update_agent')
  if (unasked === 'node_away') return open('asked', `${node} is not connected, so nothing was checked.`, 'check')
  return open('asked', `${node} could not check it: ${words}`, 'check')
}

function runsCheck({ node, wasRunning, isSuspended }: Seen, power: Output<'reach.look'>['power']): MoveCheck {
  if (power === 'running') return passed('runs', `It runs on ${node}.`)
  if (power === 'absent') return open('runs', `${node} has no virtual machine of it.`, 'check')
  if (isSuspended) return skipped('runs', 'It is suspended, as it was at its source.')
  if (!wasRunning) return skipped('runs', 'It is off, as it was at its source.')
  if (power === 'paused') return open('runs', `It is paused on ${node}.`, 'console')
  return open('runs', `It is off on ${node}, and ran at its source. Start it, and look at its console.`, 'start')
}

/**
 * A ping counts. For Windows an open port of Remote Desktop counts too, because Windows drops pings by default. An
 * answer that is neither says where to look, and a person may say that it is fine.
 */
function reachedCheck({ address, isWindows }: Seen, { addresses, os, inside }: Output<'reach.look'>): MoveCheck {
  if (address === null) return skipped('reached', 'It has no address.')
  const [first] = addresses
  if (first?.pinged) return passed('reached', `${address} answers ping.`)
  const ports = first?.ports ?? []
  if ((isWindows || os === 'windows') && ports.includes(REMOTE_DESKTOP))
    return passed('reached', `Remote Desktop answers at ${address} on port ${REMOTE_DESKTOP}.`)
  const silent = `${address} does not answer ping`
  if (ports.length)
    return open('reached', `${silent}, which may be blocked inside. ${portWords(ports)} there.`, 'accept')
  if (first?.answering)
    return open(
      'reached',
      `${silent}, which may be blocked inside. Its network card answers for this address, so its system has it.`,
      'accept',
    )
  if (inside && !inside.includes(address))
    return open('reached', `${silent}, and its system does not have this address.`, 'console')
  return open('reached', `${silent}, and nothing else answers there.`, 'console')
}
const portWords = (ports: readonly number[]) =>
  ports.includes(SSH) ? `SSH on port ${SSH} answers` : `Remote Desktop on port ${REMOTE_DESKTOP} answers`

function addressCheck({ change, nextTrySeconds }: Seen, reached: Output<'reach.look'> | null): MoveCheck[] {
  if (!change) return []
  if (change.state === 'done') return [passed('addresses', 'Its system has its new addresses.')]
  const old = reached?.inside?.find((one) => change.leave.includes(one))
  const said = [
    change.error ?? 'Its system was not told its new addresses yet.',
    old && `The old address ${old} is still set inside.`,
    change.tries > 0 && `Tried ${count(change.tries, 'time')}${change.state === 'given_up' ? '.' : nextWords()}`,
  ]
  return [open('addresses', said.filter(Boolean).join(' '), 'check')]
  function nextWords() {
    return nextTrySeconds === undefined ? '.' : `, next in ${spanWords(nextTrySeconds)}.`
  }
}
const spanWords = (seconds: number) =>
  seconds < 60 ? `${Math.max(1, Math.round(seconds))} s` : `${Math.round(seconds / 60)} min`
