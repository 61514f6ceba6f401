import { feature } from '../feature.ts'
import { second } from './clock.ts'
import { deleteExpired, EXPIRED_DELETED_EVERY_MS } from './expiring.ts'
import { encryptedSettings, settings } from './tables.ts'

export const settingsStoreFeature = feature({
  name: 'settings-store',
  tables: [settings],
  encrypted: [encryptedSettings],
  schedule: [
    {
      everyMs: EXPIRED_DELETED_EVERY_MS,
      words: 'deleting what has expired',
      work: ({ db, app }) => deleteExpired(db, app.registry.expiring, app.clock),
    },
    {
      everyMs: 2 * second,
      words: 'checking whether the database can be written',
      work: ({ db }) => db.$client.health.check(),
    },
  ],
})
