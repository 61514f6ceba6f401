import { feature } from '../feature.ts'
import { encryptedSettings, settings } from './tables.ts'

export const settingsStoreFeature = feature({
  name: 'settings-store',
  tables: [settings],
  encrypted: [encryptedSettings],
})
