/** Milliseconds since 1970. Tests hand in one that they can turn. */
export type Clock = () => number

/** How times leave the API: ISO 8601, UTC, milliseconds. */
export const iso = (at: number) => new Date(at).toISOString()
/** `2026-11-27 02:00 UTC`, for sentences. */
export const minuteText = (at: number) => `${iso(at).slice(0, 16).replace('T', ' ')} UTC`
export const isoOrNull = (at: number | null) => (at === null ? null : iso(at))

export const second = 1000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour
