// Events of servers become notices for their owners.

import { isSuspendedForTraffic } from '../../fleet/traffic-records/queries.ts'
import { areas } from '../../identity/account-records/areas.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import { type NoticeDeclaration, notify } from '../../identity/notices/notify.ts'
import type { AppContext } from '../../kernel/api/operation.ts'
import { minuteText } from '../../kernel/db/clock.ts'
import type { Tx } from '../../kernel/db/open.ts'
import type { EmittedEvent } from '../../kernel/jobs/emitted-event.ts'
import type { MailContext } from '../../kernel/mail/mail.ts'
import { sentence } from '../../kernel/words.ts'
import { load, type Server } from '../server-records/model.ts'
import { type Told, tellingOwner } from '../workloads/notices.ts'

const owners = ['reseller', 'customer'] as const
export const serverNotices = {
  server_ready: { when: 'a server is installed and ready', kinds: owners, mail: 'optional' },
  server_suspended: { when: 'a server is suspended', kinds: owners, mail: 'always' },
  server_received: { when: 'a server is given to you', kinds: owners, mail: 'always' },
  server_left: { when: 'a server of yours is given to somebody else', kinds: owners, mail: 'always' },
  server_unsuspended: { when: 'a server is no longer suspended', kinds: owners, mail: 'optional' },
  server_terminated: { when: 'a server is terminated', kinds: owners, mail: 'always' },
  server_undeleted: { when: 'a terminated server is brought back', kinds: owners, mail: 'optional' },
  server_removed: { when: 'the disk of a terminated server is deleted', kinds: owners, mail: 'optional' },
} as const satisfies Record<string, NoticeDeclaration>

type Data = { server: { hostname: string; ipv4: string | null }; reason?: string }
type Ended = Pick<Server, 'purgeAt' | 'protected'>
/** `purgeAt`: until then a terminated server can be brought back. */
const told: Partial<Record<string, (data: Data, ended: Ended, now: number) => Told>> = {
  'server.provisioned': ({ server: { hostname, ipv4 } }) => ({
    kind: 'server_ready',
    subject: `${hostname} is ready`,
    paragraphs: [`${hostname} is installed and running${ipv4 ? ` at ${ipv4}` : ''}.`, 'Its page shows how to sign in.'],
  }),
  'server.suspended': ({ server: { hostname }, reason }) => ({
    kind: 'server_suspended',
    subject: `${hostname} is suspended`,
    paragraphs: [
      `${hostname} was suspended: ${sentence(reason!)} Its data and addresses are kept.`,
      'It is off until your provider unsuspends it. Ask your provider if you do not know why.',
    ],
  }),
  'server.unsuspended': ({ server: { hostname } }) => ({
    kind: 'server_unsuspended',
    subject: `${hostname} is no longer suspended`,
    paragraphs: [`You can use ${hostname} again. If it was running before, it starts now.`],
  }),
  'server.terminated': ({ server: { hostname } }, { purgeAt, protected: isProtected }, now) => ({
    kind: 'server_terminated',
    subject: `${hostname} is terminated`,
    paragraphs: [
      ...(purgeAt !== null && purgeAt > now
        ? [
            `${hostname} was terminated and can no longer be used. Its disk and its addresses are kept until ` +
              `${minuteText(purgeAt)}. Then the disk is deleted and the addresses are released.`,
            'If that is a mistake, ask your provider before this time to bring the server back.',
          ]
        : [
            `${hostname} was terminated. Its disk is being deleted and its addresses are released: it cannot be ` +
              'brought back.',
            'Ask your provider if you do not know why.',
          ]),
      ...(isProtected
        ? ['You had protected it against mistakes of your own. Your provider can end a protected server.']
        : []),
    ],
    isGone: true,
  }),
  'server.undeleted': ({ server: { hostname } }) => ({
    kind: 'server_undeleted',
    subject: `${hostname} is back`,
    paragraphs: [`The termination of ${hostname} was undone. It is yours again, with its disk and addresses.`],
  }),
}
/** Tells the owner that the undelete window of a server has ended. */
export function tellRemoved(tx: Tx, app: MailContext, { hostname, ownerId }: Server) {
  const owner = accountById(tx, ownerId)
  if (!owner || owner.kind === 'staff') return
  notify(tx, app, owner, 'server_removed', {
    subject: `The disk of ${hostname} is deleted`,
    paragraphs: [`${hostname} was terminated, and its disk is deleted now. It can no longer be brought back.`],
    button: { words: 'Open your servers', path: `${areas[owner.kind]}/servers` },
  })
}

const received = (host: string): Omit<Told, 'kind'> => ({
  subject: `${host} is yours`,
  paragraphs: [
    `Your provider gave you the server ${host}, with its disk and addresses.`,
    'Its passwords and SSH keys are still those of the previous owner: reset the root password.',
  ],
})
const left = (host: string): Omit<Told, 'kind'> => ({
  subject: `${host} now belongs to somebody else`,
  paragraphs: [
    `Your provider gave your server ${host} to another customer. You and your team no longer have access to it.`,
    'Ask your provider if you do not know why.',
  ],
})
/** Tells both owners of a server that changed hands. */
export function tellBothOwners(tx: Tx, app: AppContext, { type, subjectId, customerId, data }: EmittedEvent) {
  if (type !== 'server.owner_changed') return
  const { server, previousOwner } = data as Data & { previousOwner: { id: string } }
  const [now, before] = [accountById(tx, customerId ?? ''), accountById(tx, previousOwner.id)]
  if (now && now.kind !== 'staff')
    notify(tx, app, now, 'server_received', {
      ...received(server.hostname),
      button: { words: 'Open the server', path: `${areas[now.kind]}/servers/${subjectId}` },
    })
  if (before && before.kind !== 'staff')
    notify(tx, app, before, 'server_left', {
      ...left(server.hostname),
      button: { words: 'Open your servers', path: `${areas[before.kind]}/servers` },
    })
}

/** A suspension for traffic has a notice of its own, and an import has its own messages. */
export const tellOwner = tellingOwner<Data, Ended>({
  told,
  load: (tx, id) => load(tx, id) ?? { purgeAt: null, protected: false },
  list: { words: 'Open your servers', page: (area) => `${area}/servers` },
  one: { words: 'Open the server', page: (area, id) => `${area}/servers/${id}` },
  isToldElsewhere: (tx, { type, subjectId, data }) =>
    (data as { imported?: true }).imported === true ||
    (type === 'server.suspended' && isSuspendedForTraffic(tx, subjectId)),
})
