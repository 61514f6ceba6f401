import { Type as t } from 'typebox'
import { accountById } from '../../identity/account-records/queries.ts'
import { sendWelcome } from '../../identity/auth/passwords/change.ts'
import { idOf } from '../../kernel/api/actor.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { described, fields, line, namedSchema, operation } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import { mailTo } from '../../kernel/mail/mail.ts'
import { type ImportRecord, importAccess, importRecord } from '../import-records/model.ts'
import { changeImport, importById, noteIn } from '../import-records/queries.ts'
import { mustAllow } from '../import-records/states.ts'
import { accountsToInvite } from './invitations.ts'
import { noteTold, putMessage, toldCounts } from './queries.ts'
import { type MessageKind, messageKinds } from './tables.ts'
import { recipientsBefore, tellBefore, tellMore } from './tell.ts'
import { addressWords, filled, placeholders, unknownPlaceholders, wordsOf } from './words.ts'

/** A call sends so many at most: the next one goes on. */
const MOST_AT_ONCE = 500

const message = t.Object({
  isOn: described(t.Boolean(), 'It goes out by itself, as long as owners are told at all.'),
  ...{ subject: t.String(), text: t.String() },
  placeholders: described(t.Record(t.String(), t.String()), 'What can stand in braces, and what it becomes.'),
  told: described(t.Integer(), 'So many have got it.'),
  preview: described(
    t.Object({ subject: t.String(), paragraphs: t.Array(t.String()) }),
    'As it would go out, with made-up addresses. The name of the reader and the brand come with the mail.',
  ),
})
const messagesResponse = namedSchema('ImportMessages', {
  emailsOwners: described(t.Boolean(), 'Owners are told by mail. Off: nobody is.'),
  before: message,
  during: message,
  after: message,
  toAnnounce: described(t.Integer(), 'Owners of servers that are ready to come, by their addresses.'),
  toInvite: described(t.Integer(), 'New accounts with a server here that were not invited yet.'),
})

/** As the owner of these servers would get it, with made-up addresses. */
function previewOf(tx: Db, target: ImportRecord, kind: MessageKind, hostnames: readonly string[]) {
  const { subject, paragraphs } = filled(wordsOf(tx, target.id, kind), hostnames)
  const more = kind === 'after' ? addressWords(samples.before, samples.now) : []
  return { subject, paragraphs: [...paragraphs, ...more] }
}
const usualHostnames = ['web01.example.com']
const samples = { before: ['203.0.113.10'], now: ['198.51.100.10'] }
function showMessages(tx: Db, target: ImportRecord) {
  const told = toldCounts(tx, target.id)
  const recipients = recipientsBefore(tx, target)
  const hostnames = recipients[0]?.hostnames ?? usualHostnames
  const show = (kind: MessageKind) => {
    const { isOn, subject, words } = wordsOf(tx, target.id, kind)
    return {
      ...{ isOn, subject, text: words, placeholders: { ...placeholders[kind] }, told: told[kind] ?? 0 },
      preview: previewOf(tx, target, kind, hostnames),
    }
  }
  return {
    emailsOwners: target.emailsOwners,
    ...{ before: show('before'), during: show('during'), after: show('after') },
    toAnnounce: recipients.length,
    toInvite: accountsToInvite(tx, target.id).length,
  }
}

export const getMessages = operation({
  id: 'imports.messages',
  method: 'GET',
  path: '/admin/migrations/{id}/messages',
  summary: 'What the owners of servers are told before, during and after the move, and how it would look',
  access: importAccess,
  on: importRecord,
  response: messagesResponse,
  run: ({ tx, target }) => showMessages(tx, target),
})

const changed = t.Optional(
  t.Object(
    {
      isOn: t.Optional(t.Boolean()),
      subject: t.Optional(line(150)),
      text: t.Optional(
        t.String({ minLength: 1, maxLength: 4000, pattern: '^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f]+$' }),
      ),
    },
    { additionalProperties: false },
  ),
)
export const setMessages = operation({
  id: 'imports.set-messages',
  method: 'PATCH',
  path: '/admin/migrations/{id}/messages',
  summary: 'Change what owners are told, and whether they are told at all',
  past: 'Changed the messages of an import',
  access: importAccess,
  on: importRecord,
  body: fields({
    emailsOwners: t.Optional(described(t.Boolean(), 'Owners are told by mail. Off: nobody is.')),
    ...{ before: changed, during: changed, after: changed },
  }),
  response: messagesResponse,
  refuses: ['import_not_discovered', 'import_busy', 'import_ended'],
  example: { emailsOwners: true, before: { isOn: true, subject: 'We move {servers} next week' } },
  run({ tx, target, body }) {
    mustAllow(target, 'tell')
    if (body.emailsOwners !== undefined) changeImport(tx, target.id, { emailsOwners: body.emailsOwners })
    for (const kind of messageKinds) {
      const given = body[kind]
      if (!given) continue
      for (const field of ['subject', 'text'] as const) {
        const [unknown] = unknownPlaceholders(kind, given[field] ?? '')
        if (unknown !== undefined)
          throw invalid({
            field: `${kind}.${field}`,
            message: `has {${unknown}}, and knows only ${Object.keys(placeholders[kind]).map((each) => `{${each}}`)}.`,
          })
      }
      const before = wordsOf(tx, target.id, kind)
      putMessage(tx, {
        ...{ importId: target.id, kind, isOn: given.isOn ?? before.isOn },
        ...{ subject: given.subject ?? before.subject, words: given.text ?? before.words },
      })
    }
    tellMore(tx, target.id)
    return showMessages(tx, importById(tx, target.id)!)
  },
})

const sentResponse = namedSchema('ImportMessagesSent', {
  sent: t.Integer(),
  left: described(t.Integer(), `Call it again for these: ${MOST_AT_ONCE} go out at once.`),
})
export const announce = operation({
  id: 'imports.announce',
  method: 'POST',
  path: '/admin/migrations/{id}/messages/actions/announce',
  summary: 'Mail the message “before” to the owners of servers that are ready to come; nobody gets it twice',
  past: 'Announced an import to owners',
  access: importAccess,
  on: importRecord,
  dryRun: true,
  response: sentResponse,
  refuses: ['import_not_discovered', 'import_busy', 'import_ended'],
  run(call) {
    const { tx, target, clock } = call
    mustAllow(target, 'tell')
    const { told, left } = tellBefore(tx, call, target, MOST_AT_ONCE)
    if (told) noteIn(tx, target.id, clock(), 'info', `${told} owners were told that their servers will move.`)
    return { sent: told, left }
  },
})

export const testMessage = operation({
  id: 'imports.test-message',
  method: 'POST',
  path: '/admin/migrations/{id}/messages/actions/test',
  summary: 'Mail yourself one of the messages, as the first owner would get it; nobody else gets it, nothing is noted',
  past: 'Sent a test of an import message',
  access: importAccess,
  on: importRecord,
  body: fields({ kind: t.Enum([...messageKinds]) }),
  response: namedSchema('ImportMessageTested', { to: t.String() }),
  refuses: ['import_not_discovered', 'import_busy', 'import_ended'],
  example: { kind: 'before' },
  run(call) {
    const { tx, target, actor, body } = call
    mustAllow(target, 'tell')
    const reader = accountById(tx, idOf(actor))
    if (!reader)
      throw new ApiError('invalid_request', 'System has no mail address. Sign in as yourself to send a test.')
    const [first] = recipientsBefore(tx, target)
    const { subject, paragraphs } = previewOf(tx, target, body.kind, first?.hostnames ?? usualHostnames)
    mailTo(tx, call, reader, { subject: `Test: ${subject}`, paragraphs })
    return { to: reader.email }
  },
})

export const inviteOwners = operation({
  id: 'imports.invite-owners',
  method: 'POST',
  path: '/admin/migrations/{id}/actions/invite-owners',
  summary: 'Mail the owners whose accounts this import has made a link to choose a password; nobody gets it twice',
  past: 'Sent invitations to the owners of an import',
  access: importAccess,
  on: importRecord,
  dryRun: true,
  response: sentResponse,
  refuses: ['import_not_discovered', 'import_busy', 'import_ended'],
  run(call) {
    const { tx, target, clock } = call
    mustAllow(target, 'tell')
    const waiting = accountsToInvite(tx, target.id)
    const now = waiting.slice(0, MOST_AT_ONCE)
    for (const account of now) {
      noteTold(tx, target.id, 'invitation', account.id, clock())
      sendWelcome(tx, call, account)
    }
    if (now.length) noteIn(tx, target.id, clock(), 'info', `${now.length} owners were invited.`)
    return { sent: now.length, left: waiting.length - now.length }
  },
})
