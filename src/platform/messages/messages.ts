// Messages to owners of servers: drafts, a look at them, a test, and sending.
import { Type as t } from 'typebox'
import { accountById } from '../../identity/account-records/queries.ts'
import { idOf as idOfActor, nameOf } from '../../kernel/api/actor.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { page, paginateAll } from '../../kernel/api/list.ts'
import {
  described,
  done,
  fields,
  line,
  namedSchema,
  nullable,
  operation,
  paragraphs,
  type ReadContext,
  time,
  timeFrom,
} from '../../kernel/api/operation.ts'
import { oneOf, wholeNumber } from '../../kernel/api/query.ts'
import { newId } from '../../kernel/db/ids.ts'
import { cancelJob, startJob } from '../../kernel/jobs/start.ts'
import { mailTo } from '../../kernel/mail/mail.ts'
import { type Recipient, recipientsOf } from './audience.ts'
import { BEGINS, messaging } from './job.ts'
import {
  audienceSchema,
  message,
  messageResponse,
  recipientResponse,
  showMessage,
  showPlanned,
  showRecipient,
} from './model.ts'
import {
  cancelRecipients,
  changeMessage,
  deleteMessage,
  insertMessage,
  type Message,
  messageById,
  pageOfMessages,
  pageOfRecipients,
  type RecipientState,
} from './queries.ts'
import { beginSending } from './send.ts'
import { recipientStates } from './tables.ts'
import { filledIn, namesWithoutTime, placeholders, type TemplateName, templates, unknownNames } from './words.ts'

const read = { staff: ['customers:read'] } as const
const access = { staff: ['customers:write'] } as const
const content = {
  audience: t.Optional(audienceSchema),
  toCustomersOfResellers: t.Optional(t.Boolean()),
  subject: t.Optional(line(150, 0)),
  text: t.Optional(paragraphs(20_000)),
  isService: t.Optional(t.Boolean()),
  alsoNotice: t.Optional(t.Boolean()),
  workStartsAt: t.Optional(described(nullable(time), 'When the work that it announces begins.')),
  workEndsAt: t.Optional(described(nullable(time), 'When that work ends.')),
}

type Given = { workStartsAt?: string | null; workEndsAt?: string | null }
const timeOf = (field: keyof Given, text: string | null) => (text === null ? null : timeFrom(field, text))
/** The times of the work that were said; those that were not stay as they are. Throws `validation_failed`. */
function workTimes(given: Given, before: Pick<Message, 'workStartsAt' | 'workEndsAt'>) {
  const { workStartsAt: from, workEndsAt: until } = given
  const workStartsAt = from === undefined ? before.workStartsAt : timeOf('workStartsAt', from)
  const workEndsAt = until === undefined ? before.workEndsAt : timeOf('workEndsAt', until)
  if (workStartsAt !== null && workEndsAt !== null && workEndsAt <= workStartsAt)
    throw invalid({ field: 'workEndsAt', message: 'must be after the work begins.' })
  return { workStartsAt, workEndsAt }
}

export const listMessages = operation({
  id: 'messages.list',
  method: 'GET',
  path: '/admin/messages',
  summary: 'Messages to owners of servers, newest first',
  access: read,
  response: page(messageResponse),
  run: (call) => pageOfMessages(call, (row) => showMessage(call, row, { inList: true })),
})
export const getMessage = operation({
  id: 'messages.get',
  method: 'GET',
  path: '/admin/messages/{id}',
  summary: 'One message, with how many get it',
  access: read,
  on: message,
  response: messageResponse,
  run: (call) => showMessage(call, call.target),
})

export const createMessage = operation({
  id: 'messages.create',
  method: 'POST',
  path: '/admin/messages',
  summary:
    'Draft a message to the owners of servers on a node, in a location, with a package, an address pool or a label',
  past: 'Drafted a message',
  access,
  body: fields({
    ...content,
    template: t.Optional(described(t.Enum(Object.keys(templates)), 'The text to begin with.')),
  }),
  response: messageResponse,
  status: 201,
  idempotent: true,
  example: {
    template: 'maintenance',
    audience: { label: 'batch' },
    workStartsAt: '2027-01-31T03:00:00.000Z',
    workEndsAt: '2027-01-31T05:00:00.000Z',
  },
  run(call) {
    const { tx, actor, body, clock } = call
    const now = clock()
    const { subject, words, isService } = templates[(body.template ?? 'empty') as TemplateName]
    const id = newId('msg')
    insertMessage(tx, {
      ...{
        id,
        state: 'draft',
        audience: body.audience ?? {},
        subject: body.subject ?? subject,
        words: body.text ?? words,
      },
      toCustomersOfResellers: body.toCustomersOfResellers ?? false,
      isService: body.isService ?? isService,
      alsoNotice: body.alsoNotice ?? true,
      ...workTimes(body, { workStartsAt: null, workEndsAt: null }),
      ...{ sendAt: null, testedAt: null, jobId: null, finishedAt: null, createdAt: now, changedAt: now },
      writtenBy: { id: idOfActor(actor), name: nameOf(actor) },
    })
    return showMessage(call, messageById(tx, id)!)
  },
})

function mustBeDraft({ state }: Message) {
  if (state !== 'draft')
    throw new ApiError('message_state', 'Only a draft can be changed or sent. This message has left that state.')
}

export const changeDraft = operation({
  id: 'messages.change',
  method: 'PATCH',
  path: '/admin/messages/{id}',
  summary: 'Change a draft',
  past: 'Changed a message',
  access,
  on: message,
  body: fields(content),
  response: messageResponse,
  refuses: ['message_state'],
  example: { subject: 'Maintenance in {location}' },
  run(call) {
    const { tx, target, body, clock } = call
    mustBeDraft(target)
    const { text: words = target.words, audience, workStartsAt, workEndsAt, ...given } = body
    const times = workTimes(body, target)
    const isNew =
      words !== target.words ||
      (given.subject ?? target.subject) !== target.subject ||
      times.workStartsAt !== target.workStartsAt ||
      times.workEndsAt !== target.workEndsAt
    changeMessage(tx, target.id, {
      ...given,
      ...times,
      words,
      ...(audience && { audience: { ...target.audience, ...audience } }),
      ...(isNew && { testedAt: null }),
      changedAt: clock(),
    })
    return showMessage(call, messageById(tx, target.id)!)
  },
})

export const removeDraft = operation({
  id: 'messages.remove',
  method: 'DELETE',
  path: '/admin/messages/{id}',
  summary: 'Remove a draft',
  past: 'Removed a message',
  access,
  destroys: [],
  on: message,
  response: done,
  refuses: ['message_state'],
  run({ tx, target }) {
    mustBeDraft(target)
    deleteMessage(tx, target.id)
    return {}
  },
})

export const listRecipients = operation({
  id: 'messages.recipients',
  method: 'GET',
  path: '/admin/messages/{id}/recipients',
  summary: 'Who gets a message, or has got it, each with how it went',
  access: read,
  on: message,
  query: { state: oneOf(recipientStates, 'Only those in this state.') },
  response: page(recipientResponse),
  run(call) {
    const { tx, target, query } = call
    const state = query['state'] as RecipientState | undefined
    if (target.state !== 'draft' && target.state !== 'scheduled')
      return pageOfRecipients(call, { id: target.id, state }, (row) => showRecipient(tx, row))
    const all = recipientsOf(call, target).map(showPlanned)
    return paginateAll({
      call,
      name: `recipients of ${target.id} ${state}`,
      all: all.filter((one) => state === undefined || one.state === state),
      keyOf: ({ id }) => id,
      show: (one) => one,
      order: 'names',
    })
  },
})

export const previewMessage = operation({
  id: 'messages.preview',
  method: 'GET',
  path: '/admin/messages/{id}/preview',
  summary: 'A message as one of its recipients reads it',
  access: read,
  on: message,
  query: { number: wholeNumber('Which of them, from 1.', 1) },
  response: namedSchema('MessagePreview', {
    number: t.Integer(),
    of: t.Integer(),
    from: t.String(),
    to: t.String(),
    subject: t.String(),
    greeting: t.String(),
    paragraphs: t.Array(t.String()),
    signature: t.String(),
  }),
  run(call) {
    const { tx, target, query, brandFor } = call
    const gets = recipientsOf(call, target).filter(({ leftOut }) => leftOut === null)
    const number = Math.max(1, Math.min(Number(query['number'] ?? 1), gets.length))
    const reader = gets[number - 1]
    const brand = brandFor(tx, reader?.accountId ?? '')
    return {
      ...{ number: reader ? number : 0, of: gets.length, from: brand.sender.name, to: reader?.email ?? '' },
      ...filledIn(target, reader?.filled ?? {}),
      greeting: `Hello ${reader?.name ?? '…'},`,
      signature: brand.name,
    }
  },
})

/** Throws `message_state` and `validation_failed`. */
function mustBeWhole(target: Message) {
  mustBeDraft(target)
  if (!target.subject.trim()) throw invalid({ field: 'subject', message: 'must not be empty.' })
  if (!target.words.trim()) throw invalid({ field: 'text', message: 'must not be empty.' })
  const [unknown] = unknownNames(target)
  if (unknown !== undefined)
    throw invalid({
      field: 'text',
      message: `has {${unknown}}, and knows only ${Object.keys(placeholders)
        .map((name) => `{${name}}`)
        .join(', ')}.`,
    })
  mustKnowItsWork(target)
}

/** Half a time of the work would fill nothing. Throws `validation_failed`. */
function mustKnowItsWork(target: Message) {
  const { workStartsAt, workEndsAt } = target
  const [name] = namesWithoutTime(target)
  if (workStartsAt === null && (name !== undefined || workEndsAt !== null))
    throw invalid({
      field: 'workStartsAt',
      message: name === undefined ? 'is needed beside its end.' : `is needed, because the text has {${name}}.`,
    })
  if (workStartsAt !== null && workEndsAt === null)
    throw invalid({ field: 'workEndsAt', message: 'is needed beside its beginning.' })
}
const firstReader = (call: ReadContext, target: Message): Recipient | undefined =>
  recipientsOf(call, target).find(({ leftOut }) => leftOut === null)

export const testMessage = operation({
  id: 'messages.test',
  method: 'POST',
  path: '/admin/messages/{id}/actions/test',
  summary: 'Mail a draft to oneself, filled in as for its first recipient',
  past: 'Sent a test of a message',
  access,
  requiresSession: true,
  on: message,
  response: t.Object({ email: t.String() }),
  refuses: ['message_state'],
  run(call) {
    const { tx, actor, target, clock } = call
    mustBeWhole(target)
    const self = accountById(tx, actor.accountId)!
    const { subject, paragraphs } = filledIn(target, firstReader(call, target)?.filled ?? {})
    mailTo(tx, call, self, { subject: `Test: ${subject}`, paragraphs })
    changeMessage(tx, target.id, { testedAt: clock() })
    return { email: self.email }
  },
})

export const sendMessage = operation({
  id: 'messages.send',
  method: 'POST',
  path: '/admin/messages/{id}/actions/send',
  summary: 'Send a message to each of its recipients once, now or at a time',
  past: 'Sent a message',
  access,
  on: message,
  body: fields({
    expected: t.Optional(
      described(
        nullable(t.Integer({ minimum: 0, maximum: 1_000_000 })),
        'So many recipients were shown; with another number nothing is sent.',
      ),
    ),
    sendAt: t.Optional(described(nullable(time), 'Who gets it is decided then. Null or left out: now.')),
  }),
  response: messageResponse,
  status: 202,
  idempotent: true,
  refuses: ['message_state', 'selection_changed'],
  example: { sendAt: null },
  run(call) {
    const { tx, actor, target, body, clock } = call
    const now = clock()
    const sendAt = body.sendAt == null ? null : timeFrom('sendAt', body.sendAt)
    if (sendAt !== null && sendAt <= now) throw invalid({ field: 'sendAt', message: 'must be in the future.' })
    mustBeWhole(target)
    const { recipients } = showMessage(call, target).counts
    if (body.expected != null && body.expected !== recipients)
      throw new ApiError('selection_changed', `Now ${recipients} would get it and not ${body.expected}. Look again.`)
    if (!recipients) throw invalid({ field: 'audience', message: 'reaches nobody.' })
    const title = `Send the message “${target.subject}”`
    const jobId = startJob(tx, messaging, { messageId: target.id }, { by: actor, title, held: BEGINS, now })
    changeMessage(tx, target.id, { state: 'scheduled', jobId, sendAt: sendAt ?? now, changedAt: now })
    if (sendAt === null) beginSending(tx, call, messageById(tx, target.id)!)
    return showMessage(call, messageById(tx, target.id)!)
  },
})

export const cancelMessage = operation({
  id: 'messages.cancel',
  method: 'POST',
  path: '/admin/messages/{id}/actions/cancel',
  summary: 'Stop sending a message: who has it, has it; the others get none',
  access,
  on: message,
  response: messageResponse,
  refuses: ['message_state'],
  run(call) {
    const { tx, actor, target, clock } = call
    if (target.state !== 'scheduled' && target.state !== 'sending')
      throw new ApiError('message_state', 'It is not being sent, so there is nothing to stop.')
    const now = clock()
    cancelRecipients(tx, target.id, now)
    changeMessage(tx, target.id, { state: 'cancelled', finishedAt: now, changedAt: now })
    cancelJob(tx, target.jobId!, { by: actor, reason: 'The message was cancelled.', now })
    return showMessage(call, messageById(tx, target.id)!)
  },
})
