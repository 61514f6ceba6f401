// The time of day in which nodes of a location may begin.
import type { UpdateWindow } from './tables.ts'

export const TIME_OF_DAY = '^([01][0-9]|2[0-3]):[0-5][0-9]$'

/** `02:00` to `05:00`, or over midnight `22:00` to `04:00`; two equal times are the whole day. */
export function isOpen({ from, to, timeZone }: UpdateWindow, wallClock: number): boolean {
  const time = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' }).format(wallClock)
  return from < to ? from <= time && time < to : from <= time || time < to
}

export const windowInWords = ({ from, to, timeZone }: Omit<UpdateWindow, 'locationId'>): string =>
  `${from}–${to} ${timeZone}`
