import type { UiPreferences } from '../../kernel/api/http.ts'
import type { Account } from './tables.ts'

/** What a person may choose about how pages look. */
export const uiPreferences = { theme: ['system', 'light', 'dark'], density: ['comfortable', 'compact'] } as const
/** By their names in the IANA database, which browsers know as well. */
export const timeZones = (): readonly string[] => [
  'UTC',
  ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC'),
]
export const uiPreferencesOf = ({ preferences }: Account): UiPreferences => ({
  theme: 'system',
  density: 'comfortable',
  timeZone: null,
  ...preferences,
})
