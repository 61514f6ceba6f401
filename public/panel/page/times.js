// Times: relative ones are kept current, and all are in the browser's time zone unless another was chosen.
// @ts-check

import { $$ } from './page.js'
import { instantOf, localMinute } from './zone.js'

const units = /** @type {[number, string][]} */ ([
  [86400e3, 'd'],
  [3600e3, 'h'],
  [60e3, 'min'],
  [1e3, 's'],
])
function ago(/** @type {number} */ ms) {
  const away = Math.abs(ms)
  if (away < 5000) return 'just now'
  const [unit, word] = /** @type {[number, string]} */ (units.find(([u]) => away >= u))
  const span = `${Math.floor(away / unit)} ${word}`
  return ms < 0 ? `in ${span}` : `${span} ago`
}
/** Relative times follow the server's clock, not the browser's. */
const skew = Date.now() - Number(document.documentElement.dataset['now'] ?? Date.now())
setInterval(() => {
  for (const element of $$('time[data-ago]')) {
    const words = ago(Date.now() - skew - Date.parse(/** @type {HTMLTimeElement} */ (element).dateTime))
    if (element.textContent !== words) element.textContent = words
  }
}, 10_000)

/** The zone chosen under Account, in which the server has drawn the times. */
const zone = document.documentElement.dataset['zone']
/** The same form as in views/components/time.tsx. */
const minutes = /** @type {const} */ ({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: zone })
const seconds = /** @type {const} */ ({ ...minutes, second: '2-digit' })
const day = /** @type {const} */ ({ day: 'numeric', month: 'short', year: 'numeric', timeZoneName: 'short' })
export const exactly = new Intl.DateTimeFormat('en-GB', { ...day, ...minutes })
const toTheSecond = new Intl.DateTimeFormat('en-GB', { ...day, ...seconds })
export const clock = new Intl.DateTimeFormat('en-GB', seconds)

/** The ISO time of what stands in a datetime-local field, in the zone of the page's times. */
export const isoOf = (/** @type {string} */ local) => {
  const ms = instantOf(local, zone)
  return Number.isNaN(ms) ? local : new Date(ms).toISOString()
}

function localTimes() {
  if (zone) return
  // The text that somebody typed stays: only the value that the page came with is drawn again.
  for (const input of /** @type {HTMLInputElement[]} */ ($$('input[data-iso]')))
    input.defaultValue = localMinute(Date.parse(input.dataset['iso'] ?? ''), zone)
  for (const element of /** @type {HTMLTimeElement[]} */ ($$('time'))) {
    const at = Date.parse(element.dateTime)
    element.title = toTheSecond.format(at)
    if (element.dataset['exact'] !== undefined) element.textContent = exactly.format(at)
    if (element.dataset['clock'] !== undefined) element.textContent = clock.format(at)
  }
  for (const element of $$('[data-zone-name]')) element.textContent = exactly.resolvedOptions().timeZone
}
localTimes()
document.addEventListener('htmx:after:swap', localTimes)
