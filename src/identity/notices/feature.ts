import { lt } from 'drizzle-orm'
import { day } from '../../kernel/db/clock.ts'
import { expiring } from '../../kernel/db/expiring.ts'
import { feature } from '../../kernel/feature.ts'
import { chooseNoticeLocations, chooseNotices, getNoticeChoices } from './choices.ts'
import { listNotices, readNotices } from './notices.ts'
import { noticeChoices, notices } from './tables.ts'

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
  check(features) {
    for (const { name, notices = {} } of features)
      for (const { right } of Object.values(notices))
        if (
          right !== undefined &&
          !features.some(({ permissions = {}, scopes = {} }) => right in { ...permissions, ...scopes })
        )
          throw new Error(`a notice of ${name} is for staff with ${right}, which no feature declares`)
  },
  tables: [notices, noticeChoices],
  expiring: [expiring(notices, (now) => lt(notices.createdAt, now - KEPT_MS))],
  operations: [listNotices, readNotices, getNoticeChoices, chooseNotices, chooseNoticeLocations],
  nav: [
    {
      kinds: ['staff', 'reseller', 'customer'],
      group: 'Account',
      position: 405,
      name: 'notices',
      menu: true,
      title: 'Notices',
      href: '/account/notifications',
      icon: 'bell',
      sees: listNotices,
    },
  ],
})
