// Events of workloads become notices for their owners. The words of each event are the kind's.
import { type Area, areas } from '../../identity/account-records/areas.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import { type Notice, type NoticeKind, notify } from '../../identity/notices/notify.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import type { EmittedEvent } from '../../kernel/jobs/emitted-event.ts'

/** `isGone`: it leads to the list, since the workload has no page any more. */
export type Told = { kind: NoticeKind; isGone?: true } & Omit<Notice, 'button'>

type Own<Data, Row> = {
  /** The words of each type of event. `now`: in ms. */
  told: Readonly<Partial<Record<string, (data: Data, row: Row, now: number) => Told>>>
  load(tx: Tx, id: string): Row
  /** The buttons of notices, each with its page. */
  list: { words: string; page(area: Area): `/${string}` }
  one: { words: string; page(area: Area, id: string): `/${string}` }
  /** Events that have a notice of their own. */
  isToldElsewhere?(tx: Tx, event: EmittedEvent): boolean
}

/** Tells the owner of what happened to a workload of a kind: an `onEvent` of its feature. Staff are told nothing. */
export const tellingOwner =
  <Data, Row>({ told, load, list, one, isToldElsewhere }: Own<Data, Row>) =>
  (tx: Tx, app: AppContext, event: EmittedEvent) => {
    const tell = told[event.type]
    const owner = tell && event.customerId ? accountById(tx, event.customerId) : undefined
    if (!tell || !owner || owner.kind === 'staff' || isToldElsewhere?.(tx, event)) return
    const { kind, isGone, ...words } = tell(event.data as Data, load(tx, event.subjectId), app.clock())
    const area = areas[owner.kind]
    const button = isGone
      ? { words: list.words, path: list.page(area) }
      : { words: one.words, path: one.page(area, event.subjectId) }
    notify(tx, app, owner, kind, { ...words, button })
  }
