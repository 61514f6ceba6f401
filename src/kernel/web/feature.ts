import { second } from '../db/clock.ts'
import { feature } from '../feature.ts'
import { encryptedMails } from './mail.ts'
import { mails } from './tables.ts'

export const mailFeature = feature({
  name: 'mail',
  tables: [mails],
  encrypted: [encryptedMails],
  schedule: [{ everyMs: 5 * second, words: 'sending mail', work: ({ mail }) => mail.send() }],
})
