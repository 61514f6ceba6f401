import type { UiPreferences } from '../../kernel/register.ts'
import type { Account } from './tables.ts'

/** `timeZone` null: the browser's. */
type Chosen = { theme: 'system' | 'light' | 'dark'; density: 'comfortable' | 'compact'; timeZone: string | null }
declare module '../../kernel/register.ts' {
  interface UiPreferences extends Chosen {}
}

/** The choices of a person for the look of pages. */
export const uiPreferences = { theme: ['system', 'light', 'dark'], density: ['comfortable', 'compact'] } as const
/** Names of the IANA database, which browsers know too. */
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
