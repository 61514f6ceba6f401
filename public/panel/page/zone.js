// Local times of a time zone, for fields of type datetime-local. Pages are drawn with it on the server, too.
// @ts-check

/** @type {Map<string, Intl.DateTimeFormat>} */
const formats = new Map()
/** `2026-11-22T14:03` for an instant (milliseconds), in this zone; undefined: the browser's. */
export function localMinute(/** @type {number} */ ms, /** @type {string | undefined} */ timeZone) {
  const key = timeZone ?? ''
  let format = formats.get(key)
  if (!format) {
    const digits = /** @type {const} */ ('2-digit')
    format = new Intl.DateTimeFormat('en-GB', {
      ...{ year: 'numeric', month: digits, day: digits, hour: digits, minute: digits },
      hourCycle: 'h23',
      timeZone,
    })
    formats.set(key, format)
  }
  const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]))
  return `${parts['year']}-${parts['month']}-${parts['day']}T${parts['hour']}:${parts['minute']}`
}

/**
 * The instant (milliseconds) of a local time such as `2026-11-22T14:03`; NaN where it is none. Of an hour that the zone
 * has twice it is the first.
 */
export function instantOf(/** @type {string} */ local, /** @type {string | undefined} */ timeZone) {
  const asUtc = Date.parse(`${local.slice(0, 16)}Z`)
  if (Number.isNaN(asUtc)) return Number.NaN
  const offsetAt = (/** @type {number} */ ms) => Date.parse(`${localMinute(ms, timeZone)}Z`) - ms
  // Before and after a change of the clocks the offset differs.
  return asUtc - offsetAt(asUtc - offsetAt(asUtc - 43_200_000))
}
