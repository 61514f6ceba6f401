// Guests are asked in the background for their system, how full their disks are, and for the result of their startup
// script: soon after a start, then rarely. Many images have no guest agent, so a silent guest is asked at growing
// intervals.
import { escapedLines } from '../../../agent/protocol/text.ts'
import { nodeCommand, type Output } from '../../../agent/protocol/wire.ts'
import { day, hour, minute, second } from '../../kernel/db/clock.ts'
import { type Db, write } from '../../kernel/db/open.ts'
import type { ScheduleContext } from '../../kernel/feature.ts'
import { CommandFailed } from '../../kernel/jobs/failures.ts'
import {
  type Due,
  dueGuests,
  endStartupScript,
  noteSilent,
  noteSystem,
  postponeLook,
  startupScriptOf,
} from './queries.ts'

export const LOOK_EVERY_MS = 10 * second
/** Guests that are asked at the same time: each is a few processes on its node. */
const MOST_AT_ONCE = 40
const AGAIN_MS = 6 * hour
/** Disks fill in hours. */
const FILLING_MS = hour
/** A running script is asked for so often. */
const SCRIPT_EVERY_MS = 15 * second
/** A script that has not ended by then has no result. */
const LONGEST_SCRIPT_MS = day

/** After so many silent tries: ten seconds for two minutes, a minute for an hour, then a few times a day. */
const pauseMs = (tries: number) => (tries < 12 ? 10 * second : tries < 72 ? minute : AGAIN_MS)

/** The guests that are being asked now. */
export class GuestWatch {
  private asking = new Set<string>()

  /** Asks the guests whose time has come; resolves when each has answered or failed. */
  async turn({ db, app, hub }: Pick<ScheduleContext, 'db' | 'app' | 'hub'>) {
    const now = app.clock()
    const due = dueGuests(db, now, MOST_AT_ONCE - this.asking.size)
    await Promise.all(
      due
        .filter(({ id, nodeId }) => !this.asking.has(id) && hub.connected(nodeId))
        .map(async (guest) => {
          this.asking.add(guest.id)
          try {
            const key = `guest/${guest.id}/${now}`
            const command = nodeCommand(guest.nodeId, 'guest.look', {
              workload: guest.id,
              script: guest.waitsForScript === 1,
            })
            store(db, guest, (await hub.send(key, command)) as Output<'guest.look'>, app.clock())
          } catch (error) {
            // The node failed, not the guest: an agent that is older than the controller does not know the command.
            if (!(error instanceof CommandFailed)) throw error
            if (error.failure !== 'stopping')
              write(db, (tx) => postponeLook(tx, guest.id, app.clock() + pauseMs(guest.tries)))
          } finally {
            this.asking.delete(guest.id)
          }
        }),
    )
  }
}

/** Stores what a guest said, and when it is asked again. */
export function store(db: Db, guest: Due, { answers, system, script, fileSystems }: Output<'guest.look'>, now: number) {
  write(db, (tx) => {
    const known = guest.waitsForScript ? startupScriptOf(tx, guest.id) : undefined
    const isOverdue = known?.state === 'waiting' && now - known.startedAt > LONGEST_SCRIPT_MS
    const result = script ? { ...script, output: escapedLines(script.output) } : undefined
    if (known?.state === 'waiting' && (result || isOverdue)) endStartupScript(tx, guest.id, result, now)
    const stillWaits = known?.state === 'waiting' && !script && !isOverdue
    const againMs = stillWaits ? SCRIPT_EVERY_MS : fileSystems?.length ? FILLING_MS : AGAIN_MS
    if (answers && system) noteSystem(tx, guest.id, { system, fileSystems }, now, now + againMs)
    else noteSilent(tx, guest.id, now + pauseMs(guest.tries))
  })
}
