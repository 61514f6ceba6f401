// The differences between a billing system's list and what is here, as a table and as a spreadsheet.
// @ts-check

/** More rows make a page slow; the spreadsheet has all of them. */
const MOST_ROWS = 500
const COLUMNS = ['words', 'kind', 'line', 'billingServiceId', 'serverId', 'instanceId', 'hostname', 'there', 'here']

/**
 * A cell that a spreadsheet would take for a formula becomes text (src/kernel/csv.ts).
 *
 * @param {unknown} value
 */
const cell = (value) =>
  `"${String(value ?? '')
    .replace(/(?<=(?:^|[;\t\r\n]) *)(?=[=+\-@\t\r])/g, "'")
    .replaceAll('"', '""')}"`

/**
 * @typedef {{ listed: number, servers: number, instances: number, resold: number, found: number,
 *   differences: Record<string, unknown>[] }} Answer
 */

const number = (/** @type {number} */ n, /** @type {string} */ word) =>
  `${n.toLocaleString('en')} ${word}${n === 1 ? '' : 's'}`

/**
 * Leads to the server or GPU instance, where there is one.
 *
 * @param {string} text
 * @param {Record<string, unknown>} difference
 */
function serviceOf(text, { hostname, serverId, instanceId }) {
  if (!hostname) return text
  const link = document.createElement('a')
  const area = location.pathname.replace(/\/reports\/.*/, '')
  // A page of an instance without its area leads to that of the reader.
  link.href = instanceId ? `/gpu/${instanceId}` : `${area}/servers/${serverId}`
  link.textContent = text
  return link
}

export function showDifferences(
  /** @type {Answer} */ { listed, servers, instances, resold, found, differences },
  /** @type {HTMLElement} */ box,
) {
  const find = (/** @type {string} */ selector) => /** @type {HTMLElement} */ (box.querySelector(selector))
  const table = find('table')
  const body = find('tbody')
  const row = /** @type {HTMLElement} */ (body.firstElementChild)
  const rows = differences.slice(0, MOST_ROWS).map((one) => {
    const { words, line, billingServiceId, serverId, instanceId } = one
    const made = /** @type {HTMLElement} */ (row.cloneNode(true))
    const [difference, at, service] = /** @type {HTMLElement[]} */ ([...made.children])
    if (difference) difference.textContent = String(words)
    if (at) at.textContent = line === null ? 'not listed' : `line ${line}`
    if (service) service.replaceChildren(serviceOf(String(billingServiceId ?? serverId ?? instanceId ?? ''), one))
    return made
  })
  body.replaceChildren(...(rows.length ? rows : [row]))
  table.hidden = !rows.length
  find('[data-next]').hidden = !rows.length
  find('[data-count]').textContent = rows.length ? number(found, 'difference') : 'none'
  find('[data-words]').textContent =
    `${number(listed, 'line')}, ${number(servers, 'server')} and ${number(instances, 'GPU instance')} were compared. ` +
    (resold ? `${resold.toLocaleString('en')} more of customers of resellers are billed by those. ` : '') +
    (rows.length
      ? found > rows.length
        ? `The first ${MOST_ROWS} differences are shown; the CSV has ` +
          (found > differences.length ? `the first ${differences.length.toLocaleString('en')}.` : 'all of them.')
        : ''
      : 'Everything agrees.')
  const csv = /** @type {HTMLAnchorElement} */ (find('[data-csv]'))
  URL.revokeObjectURL(csv.href)
  const lines = [COLUMNS, ...differences.map((one) => COLUMNS.map((column) => one[column]))]
  csv.href = URL.createObjectURL(
    // The mark says UTF-8 to spreadsheets that would take another encoding.
    new Blob(['\uFEFF', ...lines.map((cells) => `${cells.map(cell).join()}\r\n`)], { type: 'text/csv' }),
  )
  csv.hidden = !rows.length
  box.hidden = false
  box.focus()
  return true
}
