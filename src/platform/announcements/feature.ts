import { second } from '../../kernel/db/clock.ts'
import { feature } from '../../kernel/feature.ts'
import {
  changeAnnouncement,
  createAnnouncement,
  endWithOutage,
  listAllAnnouncements,
  listAnnouncements,
  removeAnnouncement,
} from './announcements.ts'
import { announcements } from './tables.ts'

const errors = {
  announcement_not_found: { status: 404, when: 'There is no such announcement.', remedy: 'List announcements.' },
} as const

const ids = {
  announcement: { prefix: 'ann' },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    announcements: { ids: typeof ids; errors: typeof errors }
  }
}

export const announcementsFeature = feature({
  name: 'announcements',
  ids,
  errors,
  tables: [announcements],
  operations: [listAnnouncements, createAnnouncement, listAllAnnouncements, changeAnnouncement, removeAnnouncement],
  schedule: [
    {
      everyMs: 10 * second,
      words: 'ending announcements of nodes that are connected again',
      work: ({ db, hub, app }) => endWithOutage({ db, hub, now: app.clock() }),
    },
  ],
  nav: [
    {
      kinds: ['staff'],
      group: 'Platform',
      position: 330,
      name: 'announcements',
      title: 'Announcements',
      href: '/admin/announcements',
      icon: 'notice',
      within: 'messages',
      sees: listAllAnnouncements,
    },
  ],
  actions: [
    {
      kinds: ['staff'],
      position: 90,
      title: 'New announcement',
      page: '/admin/announcements',
      dialog: true,
      does: createAnnouncement,
    },
  ],
  fixture: async ({ admin }) => ({
    announcement: (await admin('POST', '/admin/announcements', { text: 'Hello', audience: 'staff' })).id,
  }),
})
