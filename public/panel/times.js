// Times that say how long ago they were go on doing so.
// @ts-check

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
/** The server's clock counts, not the one of whoever looks. */
const skew = Date.now() - Number(document.documentElement.dataset['now'] ?? Date.now())
setInterval(() => {
  for (const it of $$('time[data-ago]')) {
    const words = ago(Date.now() - skew - Date.parse(/** @type {HTMLTimeElement} */ (it).dateTime))
    if (it.textContent !== words) it.textContent = words
  }
}, 10_000)
