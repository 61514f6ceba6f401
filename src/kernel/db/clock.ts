/** Milliseconds since 1970. Tests hand in one that they can turn. */
export type Clock = () => number

/** How times leave the API: ISO 8601, UTC, milliseconds. */
export const iso = (at: number) => new Date(at).toISOString()
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sept', 'Oct', 'Nov', 'Dec'] as const
/** `27 Nov 2026`, for sentences; the day in UTC. */
export function dayText(at: number): string {
  const date = new Date(at)
  return `${date.getUTCDate()} ${months[date.getUTCMonth()]} ${date.getUTCFullYear()}`
}
/** `27 Nov 2026, 02:00 UTC`, for sentences: the form of all times that people read. */
export const minuteText = (at: number): string => `${dayText(at)}, ${iso(at).slice(11, 16)} UTC`
export const isoOrNull = (at: number | null) => (at === null ? null : iso(at))

export const second = 1000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour
