import { lt } from 'drizzle-orm'
import { day } from '../../kernel/db/clock.ts'
import { expiring } from '../../kernel/db/expiring.ts'
import { feature } from '../../kernel/feature.ts'
import { getNoticeMails, listNotices, readNotices, setNoticeMails } from './notices.ts'
import { notices, noticesWithoutMail } from './tables.ts'

const ids = { notice: { prefix: 'ntc' } } as const

declare module '../../kernel/register.ts' {
  interface Names {
    notices: { ids: typeof ids }
  }
}

const KEPT_MS = 90 * day

export const noticesFeature = feature({
  name: 'notices',
  ids,
  tables: [notices, noticesWithoutMail],
  expiring: [expiring(notices, (now) => lt(notices.createdAt, now - KEPT_MS))],
  operations: [listNotices, readNotices, getNoticeMails, setNoticeMails],
  nav: [
    {
      kinds: ['staff', 'reseller', 'customer'],
      group: 'Account',
      position: 405,
      name: 'notices',
      menu: true,
      title: 'Notifications',
      href: '/account/notifications',
      icon: 'bell',
      sees: listNotices,
    },
  ],
})
