// The owner of a server that gets new addresses by a move is told before it, and after it.
import { locationById } from '../../../fleet/locations/queries.ts'
import { nodeById } from '../../../fleet/node-records/queries.ts'
import { areas } from '../../../identity/account-records/areas.ts'
import { accountById } from '../../../identity/account-records/queries.ts'
import { type NoticeDeclaration, notify } from '../../../identity/notices/notify.ts'
import { minuteText } from '../../../kernel/db/clock.ts'
import type { Tx } from '../../../kernel/db/open.ts'
import type { EmittedEvent } from '../../../kernel/jobs/emitted-event.ts'
import { emit } from '../../../kernel/jobs/outbox.ts'
import type { MailContext } from '../../../kernel/mail/mail.ts'
import { settingValue } from '../../../kernel/setting.ts'
import { count, list } from '../../../kernel/words.ts'
import { inEvent, load } from '../../server-records/model.ts'
import { transferById } from '../queries.ts'
import type { Transfer } from '../tables.ts'
import { changeOf } from './addresses.ts'
import { heldDays } from './held.ts'

export const transferNotices = {
  server_readdressed: {
    when: 'a server gets new addresses because it moves',
    kinds: ['reseller', 'customer'],
    mail: 'always',
  },
} as const satisfies Record<string, NoticeDeclaration>

/** `Your provider moves` or `Pat moves`. */
const mover = ({ byOwner, startedBy }: Transfer) => `${byOwner ? startedBy.name : 'Your provider'} moves`
type Words = { subject: string; paragraphs: string[] }
const CHANGE = 'Change what names the old addresses, such as DNS records, firewalls and licences.'

const keptWords = (tx: Tx) => {
  const days = settingValue(tx, heldDays)
  const held = `They are held for ${count(days, 'day', 'days')}, in which a move back gives them back.`
  return `It does not have them any more.${days ? ` ${held}` : ''}`
}

function tellOwner(tx: Tx, app: MailContext, moved: Transfer, words: (host: string, place: string) => Words) {
  const server = load(tx, moved.serverId)
  const owner = accountById(tx, server.ownerId)
  if (!owner || owner.kind === 'staff' || server.terminatedAt !== null) return
  const place = locationById(tx, nodeById(tx, moved.toNodeId)!.locationId)?.name ?? ''
  notify(tx, app, owner, 'server_readdressed', {
    ...words(server.hostname, place),
    button: { words: 'Open the server', path: `${areas[owner.kind]}/servers/${server.id}` },
  })
}

/** Of a move that waits for its time, whose new addresses are chosen then. */
export const tellPlanned = (tx: Tx, app: MailContext, moved: Transfer) =>
  tellOwner(tx, app, moved, (host, place) => ({
    subject: `${host} moves to ${place} and gets new addresses`,
    paragraphs: [
      `Your provider moves ${host} to ${place} on ${minuteText(moved.startsAt!)}. It is off for a while then, and ` +
        'has other addresses afterwards.',
      'You are told the new addresses when the move begins.',
    ],
  }))

/** When the move begins, ends or fails. */
export function tellOfReaddressing(tx: Tx, app: MailContext, { type, data }: EmittedEvent) {
  if (!type.startsWith('transfer.')) return
  const moved = transferById(tx, (data as { transfer: { id: string } }).transfer.id)
  const change = moved && changeOf(tx, moved)
  if (!moved || !change) return
  const [old, next] = [`Its old addresses: ${list(change.removed)}.`, `Its new addresses: ${list(change.added)}.`]
  if (type === 'transfer.started')
    tellOwner(tx, app, moved, (host, place) => ({
      subject: `${host} moves to ${place} and gets new addresses`,
      paragraphs: [
        `${mover(moved)} ${host} to ${place} now. Its disks are copied first; then it is off for a while, and ` +
          'starts with its new addresses.',
        ...[old, next, CHANGE],
        'Its plan and price stay. Names in reverse DNS do not come along: set them again after the move.',
      ],
    }))
  else if (type === 'transfer.finished')
    tellOwner(tx, app, moved, (host, place) => ({
      subject: `${host} is in ${place} and has new addresses`,
      paragraphs: [`The move of ${host} to ${place} has ended.`, next, `${old} ${keptWords(tx)}`, CHANGE],
    }))
  else
    tellOwner(tx, app, moved, (host, place) => ({
      subject: `${host} was not moved and keeps its addresses`,
      paragraphs: [`The move of ${host} to ${place} was not completed. It stays where it was.`, old],
    }))
}

/** Emits what has changed about its addresses. */
export function emitChange(tx: Tx, now: number, moved: Transfer) {
  const change = changeOf(tx, moved)
  const server = load(tx, moved.serverId)
  if (!change || server.terminatedAt !== null) return
  const { concerning, data } = inEvent(tx, server)
  emit(tx, now, 'server.addresses_changed', concerning, { ...data, ...change })
}
