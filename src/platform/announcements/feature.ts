import { feature } from '../../kernel/feature.ts'
import {
  changeAnnouncement,
  createAnnouncement,
  listAllAnnouncements,
  listAnnouncements,
  removeAnnouncement,
} from './announcements.ts'
import { announcements } from './tables.ts'

export const announcementsFeature = feature({
  name: 'announcements',
  tables: [announcements],
  operations: [listAnnouncements, createAnnouncement, listAllAnnouncements, changeAnnouncement, removeAnnouncement],
})
