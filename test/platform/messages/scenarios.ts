// A message in the crash matrix: its job records the end, and nobody gets a second mail.
import { sendMessages } from '../../../src/platform/messages/send.ts'
import type { Scenario } from '../../support/crash-matrix/scenario.ts'
import { order } from '../../support/crash-matrix/servers.ts'

const subject = 'Work on your servers'

export const scenarios: readonly Scenario[] = [
  {
    name: 'a message to owners',
    kind: 'message',
    before: order,
    async start(p, serverId) {
      const { id } = await p.admin('POST', '/admin/messages', { subject, text: 'Hello.' })
      const { jobId } = await p.admin('POST', `/admin/messages/${id}/actions/send`)
      sendMessages(p.db, p.controller.app)
      return { jobId, serverId }
    },
    async measure(p) {
      const [{ state, counts }] = (await p.admin('GET', '/admin/messages')).data
      return { state, sent: counts.sent, mails: p.mailed().filter((mail) => mail.subject === subject).length }
    },
    succeeds: { state: 'sent', sent: 1, mails: 1 },
  },
]
