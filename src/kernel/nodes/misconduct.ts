// Acts of nodes that no node should commit: counted, written to the journal at most once a minute and to the audit log
// at most once an hour, and shown to staff for a day. Memory holds one row per node and kind, whatever the node does.
import { visitor } from '../api/actor.ts'
import { auditLine } from '../audit/audit.ts'
import { type Clock, day, hour, minute } from '../db/clock.ts'
import { type Db, write } from '../db/open.ts'
import { Repeated } from '../event-counter.ts'
import { log } from '../log.ts'
import { type Misconduct, type Offence, offences } from './offences.ts'

/** Name of the audit lines: no operation is called for them. */
export const MISCONDUCT = 'nodes.misconduct'

type Row = Misconduct & { nodeId: string }
/** Staff see it for so long after the last time. */
const SHOWN_MS = day

export class MisconductLog {
  private rows = new Map<string, Map<Offence, Row>>()
  private journal: Repeated<{ row: Row; details: object }>
  private audit: Repeated<{ row: Row; details: object }>

  constructor(
    private db: Db,
    private clock: Clock,
    private nameOf: (nodeId: string) => string | undefined,
  ) {
    this.journal = new Repeated(minute, (_, times, { row: { nodeId, offence }, details }) =>
      log.warning(offences[offence], { nodeId, node: this.nameOf(nodeId), times, ...details }),
    )
    this.audit = new Repeated(hour, (_, times, { row, details }) => this.auditIt(row, { times, ...details }))
  }

  /** `details` are for people: ids and counts, never the text of a frame. Not inside a transaction. */
  note(nodeId: string, offence: Offence, details: object = {}) {
    const now = this.clock()
    const key = `${nodeId} ${offence}`
    const ofNode = this.rows.get(nodeId) ?? new Map<Offence, Row>()
    const before = ofNode.get(offence)
    const row =
      before && now - before.lastAt <= SHOWN_MS ? before : { nodeId, offence, count: 0, since: now, lastAt: now }
    row.count++
    row.lastAt = now
    this.rows.set(nodeId, ofNode.set(offence, row))
    this.journal.note(key, { row, details })
    this.audit.note(key, { row, details })
  }

  /** The node's misconduct of the last day. */
  of(nodeId: string): Misconduct[] {
    const rows = this.rows.get(nodeId)
    if (!rows) return []
    const oldest = this.clock() - SHOWN_MS
    return [...rows.values()].filter(({ lastAt }) => lastAt >= oldest)
  }

  stop() {
    this.journal.stop()
    this.audit.stop()
  }

  private auditIt({ nodeId, offence }: Row, details: object) {
    const actor = {
      ...visitor,
      accountId: nodeId,
      name: this.nameOf(nodeId) ?? nodeId,
      via: { type: 'system' },
    } as const
    try {
      write(this.db, (tx) =>
        auditLine(
          tx,
          { clock: this.clock },
          {
            actor,
            operation: MISCONDUCT,
            target: nodeId,
            from: '',
            requestId: '',
            result: 'refused',
            details: { offence, ...details },
          },
        ),
      )
    } catch (error) {
      log.error('the misconduct of a node could not be audited', { nodeId, offence, error })
    }
  }
}
