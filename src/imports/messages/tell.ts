// Owners are told before their servers move, when one begins to move, and when it has moved. Nobody is told twice.
import { serverById } from '../../compute/server-records/model.ts'
import { areas } from '../../identity/account-records/areas.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import { type NoticeDeclaration, notify } from '../../identity/notices/notify.ts'
import { type Db, type Tx, write } from '../../kernel/db/open.ts'
import type { ScheduleContext } from '../../kernel/feature.ts'
import type { EmittedEvent } from '../../kernel/jobs/emitted-event.ts'
import { type MailContext, mailTo } from '../../kernel/mail/mail.ts'
import { addressesOf } from '../../network/ip-pools/allocate.ts'
import { addressesOfServer, everyRow, importServerById, readyHostnames } from '../import-records/inventory/queries.ts'
import { type ImportRecord, UNNAMED } from '../import-records/model.ts'
import { importsAnnouncing, importsMigrating, moveOfWorkload, openMoves } from '../import-records/moves/queries.ts'
import { changeImport, importById } from '../import-records/queries.ts'
import { ownerTarget } from '../mapping/owners.ts'
import { isTold, noteTold } from './queries.ts'
import { addressWords, filled, goesOut, wordsOf } from './words.ts'

export const messageNotices = {
  server_imported: {
    when: 'a server of yours comes from another platform',
    kinds: ['reseller', 'customer'],
    mail: 'always',
  },
} as const satisfies Record<string, NoticeDeclaration>

/** An owner whose servers are to come, with the address that messages go to. */
export type Recipient = { accountId: string | null; email: string; name: string; hostnames: string[] }

/** The owners of the servers that are ready to come, in the order of the other panel. */
export function recipientsBefore(tx: Db, target: ImportRecord): Recipient[] {
  const hostnames = readyHostnames(tx, target.id)
  const found = new Map<string, Recipient>()
  for (const owner of everyRow(tx, 'owners', target.id)) {
    const names = hostnames.get(owner.sourceId)
    if (!names || owner.sourceId === UNNAMED || owner.email === null) continue
    const becomes = ownerTarget({ tx, target }, owner)
    const account = becomes?.kind === 'existing' ? accountById(tx, becomes.accountId) : undefined
    if (account?.kind === 'staff') continue
    // An account here has the address that counts.
    const email = account?.email ?? owner.email
    const known = found.get(email.toLowerCase())
    if (known) known.hostnames.push(...names)
    else
      found.set(email.toLowerCase(), {
        ...{ accountId: account?.id ?? null, email, name: account?.name ?? owner.name ?? email, hostnames: names },
      })
  }
  return [...found.values()]
}

/** Tells the owners of servers that are ready to come, so many at once; answers how many were told and are left. */
export function tellBefore(tx: Tx, app: MailContext, target: ImportRecord, most = Number.POSITIVE_INFINITY) {
  const words = wordsOf(tx, target.id, 'before')
  const waiting = recipientsBefore(tx, target).filter(
    ({ email }) => !isTold(tx, target.id, 'before', email.toLowerCase()),
  )
  for (const { accountId, email, name, hostnames } of waiting.slice(0, most)) {
    noteTold(tx, target.id, 'before', email.toLowerCase(), app.clock())
    const { subject, paragraphs } = filled(words, hostnames)
    mailTo(tx, app, { ...(accountId && { id: accountId }), email, name }, { subject, paragraphs })
  }
  return { told: Math.min(waiting.length, most), left: Math.max(0, waiting.length - most) }
}

const MOST_AT_START = 500
/**
 * When an import starts, and then turn after turn: whoever was not told before is told now, where the import tells
 * owners. Notes whether some are left.
 */
export function tellAtStart(tx: Tx, app: MailContext, target: ImportRecord) {
  const left = goesOut(tx, target, 'before') ? tellBefore(tx, app, target, MOST_AT_START).left : 0
  changeImport(tx, target.id, { announces: left > 0 })
}
/** Somebody may be to be told who was not: the words or the servers that come are others now. */
export const tellMore = (tx: Tx, importId: string) => changeImport(tx, importId, { announces: true })

/** The owners of servers at which a job works, and those whom the start has left. */
export function tellAtWork({ db, app }: Pick<ScheduleContext, 'db' | 'app'>) {
  for (const id of importsAnnouncing(db)) write(db, (tx) => tellAtStart(tx, app, importById(tx, id)!))
  for (const id of importsMigrating(db)) {
    const target = importById(db, id)!
    if (!goesOut(db, target, 'during')) continue
    write(db, (tx) => {
      for (const { serverId, workloadId, state } of openMoves(tx, id))
        if (state === 'moving' && workloadId !== null) tellDuring(tx, app, { importServerId: serverId, workloadId })
    })
  }
}

/** When an imported server is here. */
export function tellOfImported(tx: Tx, app: MailContext, { type, data }: EmittedEvent) {
  if (type !== 'server.provisioned' || !(data as { imported?: boolean }).imported) return
  const workloadId = (data as { server: { id: string } }).server.id
  const move = moveOfWorkload(tx, workloadId)
  if (move) tellAfter(tx, app, { importServerId: move.serverId, workloadId })
}

type Moving = { importServerId: string; workloadId: string }
function tellOwner(
  tx: Tx,
  app: MailContext,
  kind: 'during' | 'after',
  { importServerId, workloadId }: Moving,
  more: (addresses: { before: string[]; now: string[] }) => string[],
) {
  const row = importServerById(tx, importServerId)
  const target = row && importById(tx, row.importId)
  const server = serverById(tx, workloadId)
  const owner = server && accountById(tx, server.ownerId)
  if (!target || !owner || owner.kind === 'staff' || row.ownerId === UNNAMED || !goesOut(tx, target, kind)) return
  if (!noteTold(tx, target.id, kind, importServerId, app.clock())) return
  const addresses = {
    before: addressesOfServer(tx, importServerId).map(({ address }) => address),
    now: addressesOf(tx, workloadId).map(({ address }) => address),
  }
  const { subject, paragraphs } = filled(wordsOf(tx, target.id, kind), [server.hostname])
  notify(tx, app, owner, 'server_imported', {
    subject,
    paragraphs: [...paragraphs, ...more(addresses)],
    button: { words: 'Open the server', path: `${areas[owner.kind]}/servers/${server.id}` },
  })
}

/** When a server begins to move. Called again, as by another attempt, it tells nothing. */
export const tellDuring = (tx: Tx, app: MailContext, moving: Moving) => tellOwner(tx, app, 'during', moving, () => [])

/** When it has moved: also its addresses, and those of before where it has others now. */
export const tellAfter = (tx: Tx, app: MailContext, moving: Moving) =>
  tellOwner(tx, app, 'after', moving, ({ before, now }) => addressWords(before, now))
