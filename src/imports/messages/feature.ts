import { second } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import { announce, getMessages, inviteOwners, setMessages, testMessage } from './messages.ts'
import { importMessages, importTold } from './tables.ts'
import { messageNotices, tellAtWork, tellOfImported } from './tell.ts'

declare module '../../kernel/register.ts' {
  interface Names {
    'import-messages': { notices: typeof messageNotices }
  }
}

export const importMessagesFeature = feature({
  name: 'import-messages',
  tables: [importMessages, importTold],
  operations: [getMessages, setMessages, announce, testMessage, inviteOwners],
  notices: messageNotices,
  onEvent: tellOfImported,
  schedule: [{ everyMs: 10 * second, words: 'telling owners of servers that move', work: tellAtWork }],
})
