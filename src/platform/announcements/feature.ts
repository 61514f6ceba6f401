import { feature } from '../../kernel/feature.ts'
import {
  changeAnnouncement,
  createAnnouncement,
  listAllAnnouncements,
  listAnnouncements,
  removeAnnouncement,
} from './announcements.ts'
import { announcements } from './tables.ts'

const errors = {
  announcement_not_found: { status: 404, when: 'There is no such announcement.', remedy: 'List announcements.' },
} as const
type Errors = typeof errors
declare module '../../kernel/register.ts' {
  interface ErrorCodes extends Errors {}
}

export const announcementsFeature = feature({
  name: 'announcements',
  errors,
  tables: [announcements],
  operations: [listAnnouncements, createAnnouncement, listAllAnnouncements, changeAnnouncement, removeAnnouncement],
})
