import type { NoticeDeclaration } from '../../identity/notices/notify.ts'
import { second } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { messaging } from './job.ts'
import {
  cancelMessage,
  changeDraft,
  createMessage,
  getMessage,
  listMessages,
  listRecipients,
  previewMessage,
  removeDraft,
  sendMessage,
  testMessage,
} from './messages.ts'
import { expiringMessages, messageTarget } from './queries.ts'
import { sendMessages } from './send.ts'
import { messageRecipients, messages } from './tables.ts'
import { unsubscribe } from './unsubscribe.ts'

const errors = {
  message_not_found: { status: 404, when: 'There is no such message.', remedy: 'List messages.' },
  message_state: {
    status: 409,
    when: 'The message is not in the state that this needs, such as a draft.',
    remedy: 'Read its state; write another message to say more.',
  },
} as const
const ids = { message: { prefix: 'msg' } } as const
const readers = ['reseller', 'customer'] as const
const notices = {
  provider_message: { when: 'the provider writes about servers of yours', kinds: readers, mail: 'always' },
  provider_news: { when: 'the provider has news', kinds: readers, mail: 'optional' },
} as const satisfies Record<string, NoticeDeclaration>
declare module '../../kernel/register.ts' {
  interface Names {
    messages: { ids: typeof ids; errors: typeof errors; notices: typeof notices }
  }
}

/** Messages of staff to the owners of servers, by mail and as notices. */
export const messagesFeature = feature({
  name: 'messages',
  ids,
  errors,
  notices,
  tables: [messages, messageRecipients],
  expiring: [expiringMessages],
  jobs: [messaging],
  operations: [
    listMessages,
    createMessage,
    getMessage,
    changeDraft,
    removeDraft,
    listRecipients,
    previewMessage,
    testMessage,
    sendMessage,
    cancelMessage,
    unsubscribe,
  ],
  auditTargets: [messageTarget],
  schedule: [{ everyMs: second, words: 'sending messages', work: ({ db, app }) => sendMessages(db, app) }],
  nav: [
    {
      kinds: ['staff'],
      group: 'Platform',
      position: 329,
      name: 'messages',
      title: 'Messages',
      href: '/admin/messages',
      icon: 'notice',
      sees: listMessages,
    },
  ],
  fixture: async ({ admin }) => ({ message: (await admin('POST', '/admin/messages', { template: 'maintenance' })).id }),
})
