import type { UiPreferences } from '../../kernel/register.ts'
import type { Account } from './tables.ts'

/** `timeZone` null: the browser's. */
type Chosen = { theme: 'system' | 'light' | 'dark'; density: 'comfortable' | 'compact'; timeZone: string | null }
declare module '../../kernel/register.ts' {
  interface UiPreferences extends Chosen {}
}

/** The choices of a person for the look of pages. */
export const uiPreferences = { theme: ['system', 'light', 'dark'], density: ['comfortable', 'compact'] } as const
export const uiPreferencesOf = ({ preferences }: Account): UiPreferences => ({
  theme: 'system',
  density: 'comfortable',
  timeZone: null,
  ...preferences,
})
