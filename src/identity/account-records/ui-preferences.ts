import type { UiPreferences } from '../../kernel/register.ts'
import type { Account } from './tables.ts'

/** `timeZone` null: the browser's. `shortcuts`: those of a single key. */
type Chosen = {
  theme: 'system' | 'light' | 'dark'
  density: 'comfortable' | 'compact'
  shortcuts: 'on' | 'off'
  timeZone: string | null
}
declare module '../../kernel/register.ts' {
  interface UiPreferences extends Chosen {}
}

/** The choices of a person for the look of pages. */
export const uiPreferences = {
  theme: ['system', 'light', 'dark'],
  density: ['comfortable', 'compact'],
  shortcuts: ['on', 'off'],
} as const
export const uiPreferencesOf = ({ preferences }: Account): UiPreferences => ({
  theme: 'system',
  density: 'comfortable',
  shortcuts: 'on',
  timeZone: null,
  ...preferences,
})
