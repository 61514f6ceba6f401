// Charts of the use of a server, a node or cards: drawn over the values that the API answers, with the value under the
// pointer or, from the keyboard, under the arrow keys. The tables beside them are drawn by the server and kept current
// here.
// @ts-check

const uPlot = /** @type {any} */ (globalThis).uPlot
const root = /** @type {HTMLElement} */ (document.querySelector('[data-metrics]'))
const zone = document.documentElement.dataset['zone'] || undefined

/** @typedef {{ series: Record<string, (number | null)[]> }} Values */
/** @typedef {{ from: string, resolutionSeconds: number, cards?: Values[] } & Values} Metrics */
/** @typedef {{ name: string, label: string, card?: number }} Series */
/** @typedef {{ figure: HTMLElement, series: Series[], unit: string, most: number, plot: any }} Chart */

/** As views/platform/metrics/words.ts says it. */
function inWords(/** @type {number | null | undefined} */ value, /** @type {string} */ unit) {
  if (value === null || value === undefined) return 'no data'
  if (unit === 'percent') return `${digits(value)} %`
  if (unit === 'celsius') return `${digits(value)} °C`
  if (unit === 'watts') return `${digits(value)} W`
  if (unit === 'mebibytes') return scaled(value * 1024 * 1024, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB'])
  if (unit === 'bits') return scaled(value * 8, 1000, ['bit/s', 'kbit/s', 'Mbit/s', 'Gbit/s', 'Tbit/s'])
  return scaled(value, 1024, ['B/s', 'KiB/s', 'MiB/s', 'GiB/s', 'TiB/s'])
}
const digits = (/** @type {number} */ n) => (n >= 100 ? n.toFixed(0) : Number(n.toPrecision(2)).toString())
function scaled(/** @type {number} */ n, /** @type {number} */ step, /** @type {string[]} */ units) {
  let at = 0
  while (n >= step && at < units.length - 1) {
    n /= step
    at++
  }
  return `${digits(n)} ${units[at]}`
}

const range = root.dataset['range'] ?? '1h'
const format = (/** @type {Intl.DateTimeFormatOptions} */ of) =>
  new Intl.DateTimeFormat('en-GB', { ...of, hourCycle: 'h23', timeZone: zone })
const hours = /** @type {const} */ ({ hour: '2-digit', minute: '2-digit' })
const days = /** @type {const} */ ({ day: 'numeric', month: 'short' })
const onAxis = format(
  range === '1h' || range === '24h' ? hours : range === '1y' ? { month: 'short', year: 'numeric' } : days,
)
const exact = format(
  range === '1h'
    ? { ...hours, second: '2-digit' }
    : range === '1y'
      ? { ...days, year: 'numeric' }
      : { ...days, ...hours },
)

/** Memory is marked at powers of two. */
const STEPS_MB = Array.from({ length: 24 }, (_, i) => 2 ** i)

/** The colours of panel.css as a canvas takes them. */
function colours() {
  const of = (/** @type {string} */ name) =>
    getComputedStyle(/** @type {Element} */ (root.querySelector(`.colours .c-${name}`))).color
  return { lines: [of('1'), of('2')], line: of('line'), ink: of('ink'), gap: of('gap'), fill: of('fill') }
}

/** @type {Chart[]} */
const charts = [...root.querySelectorAll('figure.chart')].map((element) => {
  const figure = /** @type {HTMLElement} */ (element)
  const { series = '[]', unit = '', most = '0' } = figure.dataset
  return { figure, series: JSON.parse(series), unit, most: Number(most), plot: undefined }
})
/** @type {Metrics | undefined} */
let metrics

/** A card that its instance has given back has no values any more. */
const valuesOf = (/** @type {Metrics} */ of, /** @type {Series} */ { name, card }) =>
  (card === undefined ? of : of.cards?.[card])?.series[name] ?? []
const dataOf = (/** @type {Chart} */ { series }, /** @type {Metrics} */ of) => {
  const values = series.map((one) => valuesOf(of, one))
  const times = (values[0] ?? []).map((_, i) => Date.parse(of.from) / 1000 + i * of.resolutionSeconds)
  return [times, ...values]
}

/** The time of the server, whatever the browser's clock says. */
const skew = Date.now() - Number(document.documentElement.dataset['now'] ?? Date.now())
const UNITS = /** @type {[number, string][]} */ ([
  [86400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
])
/** How old the newest value of a chart is, in words; undefined while it is current. As in charts.tsx. */
function ageOf(/** @type {(number | null)[]} */ values, /** @type {Metrics} */ { from, resolutionSeconds: step }) {
  const last = values.findLastIndex((one) => one !== null)
  const seconds = (Date.now() - skew - Date.parse(from)) / 1000 - (last + 1) * step
  if (last < 0 || seconds <= step + 120) return undefined
  const [unit, word] = /** @type {[number, string]} */ (UNITS.find(([u]) => seconds >= u))
  return `${Math.floor(seconds / unit)} ${word}`
}

/** The value of each series at this place, or its last one. */
function tell(/** @type {Chart} */ chart, /** @type {number | null | undefined} */ at) {
  const [times = [], ...values] = dataOf(chart, /** @type {Metrics} */ (metrics))
  for (const [i, of] of values.entries()) {
    const value = at === null || at === undefined ? of.findLast((one) => one !== null) : of[at]
    const place = /** @type {HTMLElement} */ (chart.figure.querySelectorAll('[data-value]')[i])
    place.textContent = inWords(value, chart.unit)
  }
  const when = /** @type {HTMLElement} */ (chart.figure.querySelector('[data-when]'))
  const isLast = at === null || at === undefined
  const age = ageOf(values[0] ?? [], /** @type {Metrics} */ (metrics))
  when.textContent = isLast ? (age ? `last value, ${age} ago` : 'now') : exact.format((times[at] ?? 0) * 1000)
  chart.figure.classList.toggle('stale', age !== undefined)
}

/** Grey where nothing was measured. */
function drawGaps(/** @type {any} */ u, /** @type {string} */ colour) {
  const [times, values] = u.data
  const step = times[1] - times[0] || 1
  u.ctx.save()
  u.ctx.fillStyle = colour
  for (let i = 0; i < times.length; i++) {
    if (values[i] !== null) continue
    const first = i
    while (i + 1 < times.length && values[i + 1] === null) i++
    const [left, right] = [u.valToPos(times[first] - step, 'x', true), u.valToPos(times[i] + step, 'x', true)]
    const from = Math.max(left, u.bbox.left)
    u.ctx.fillRect(from, u.bbox.top, Math.min(right, u.bbox.left + u.bbox.width) - from, u.bbox.height)
  }
  u.ctx.restore()
}

/** A line where a job or an alert was, with its words on hover; the list below the charts has them, too. */
function drawMarks(/** @type {any} */ u) {
  for (const old of u.over.querySelectorAll('.happened')) old.remove()
  for (const row of document.querySelectorAll('#marks tbody tr')) {
    const at = Date.parse(/** @type {HTMLTimeElement} */ (row.querySelector('.addr time')).dateTime) / 1000
    if (at < u.scales.x.min || at > u.scales.x.max) continue
    const mark = document.createElement('i')
    mark.className = 'happened'
    const words = [...row.querySelectorAll('.name b, .state')].map((element) => element.textContent)
    mark.title = `${words.join(': ')}, ${exact.format(at * 1000)}`
    mark.style.left = `${u.valToPos(at, 'x')}px`
    u.over.append(mark)
  }
}

function draw(/** @type {Chart} */ chart) {
  const { figure, series, unit, most } = chart
  const place = /** @type {HTMLElement} */ (figure.querySelector('.plot'))
  chart.plot?.destroy()
  place.textContent = ''
  const { lines, line, ink, gap, fill } = colours()
  const font = getComputedStyle(place).font
  const grid = { stroke: line, width: 1 }
  chart.plot = new uPlot(
    {
      width: place.clientWidth,
      height: place.clientHeight,
      legend: { show: false },
      padding: [8, 0, 0, 16],
      cursor: {
        y: false,
        drag: { x: false, y: false },
        points: { size: 8 },
        sync: { key: 'metrics', setSeries: false },
      },
      tzDate: (/** @type {number} */ at) => (zone ? uPlot.tzDate(new Date(at * 1000), zone) : new Date(at * 1000)),
      scales: {
        y: {
          range: (/** @type {any} */ _, /** @type {any} */ __, /** @type {number} */ max) => [
            0,
            most || Math.max(max * 1.1, 1),
          ],
        },
      },
      axes: [
        {
          stroke: ink,
          font,
          grid: { show: false },
          ticks: { show: false },
          size: 26,
          space: 70,
          values: (/** @type {any} */ _, /** @type {number[]} */ at) => at.map((one) => onAxis.format(one * 1000)),
        },
        {
          side: 1,
          stroke: ink,
          font,
          grid,
          ticks: { show: false },
          size: 76,
          space: 44,
          ...(unit === 'mebibytes' && { incrs: STEPS_MB }),
          gap: 8,
          values: (/** @type {any} */ _, /** @type {number[]} */ at) => at.map((one) => inWords(one, unit)),
        },
      ],
      series: [
        {},
        ...series.map(({ label }, i) => ({
          label,
          stroke: lines[i],
          width: 1.75,
          dash: i ? [7, 3] : undefined,
          fill: i ? undefined : fill,
          points: { show: false },
        })),
      ],
      hooks: {
        drawClear: [(/** @type {any} */ u) => drawGaps(u, gap)],
        draw: [drawMarks],
        setCursor: [(/** @type {any} */ u) => tell(chart, u.cursor.idx)],
      },
    },
    dataOf(chart, /** @type {Metrics} */ (metrics)),
    place,
  )
  tell(chart, undefined)
}

/** So many rows has a table at most: each is the mean of several values. */
const ROWS = 48
function fillTable(/** @type {Chart} */ chart) {
  const body = chart.figure.querySelector('tbody')
  const [times = [], ...values] = dataOf(chart, /** @type {Metrics} */ (metrics))
  const per = Math.ceil(times.length / ROWS)
  const rows = []
  for (let i = 0; i < times.length; i += per) {
    const row = document.createElement('tr')
    const when = document.createElement('th')
    when.scope = 'row'
    when.textContent = exact.format((times[i] ?? 0) * 1000)
    row.append(when)
    for (const of of values) {
      const there = of.slice(i, i + per).filter((one) => one !== null)
      const mean = there.length ? there.reduce((sum, n) => sum + n, 0) / there.length : null
      const cell = document.createElement('td')
      cell.textContent = inWords(mean, chart.unit)
      row.append(cell)
    }
    rows.unshift(row)
  }
  body?.replaceChildren(...rows)
}

async function load() {
  const answer = await fetch(root.dataset['metrics'] ?? '', { headers: { Accept: 'application/json' } }).then(
    (r) => (r.ok ? r.json() : undefined),
    () => undefined,
  )
  if (!answer) return
  const isFirst = !metrics
  metrics = /** @type {Metrics} */ (answer)
  for (const chart of charts) {
    if (isFirst) draw(chart)
    else {
      chart.plot.setData(dataOf(chart, metrics))
      if (!chart.plot.cursor.idx) tell(chart, undefined)
    }
    fillTable(chart)
  }
}

for (const chart of charts) {
  const place = /** @type {HTMLElement} */ (chart.figure.querySelector('.plot'))
  place.addEventListener('keydown', (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key]
    const { plot } = chart
    if (!plot || (by === undefined && event.key !== 'Home' && event.key !== 'End')) return
    event.preventDefault()
    const last = plot.data[0].length - 1
    const from = plot.cursor.idx ?? last + 1
    const at = event.key === 'Home' ? 0 : event.key === 'End' ? last : Math.min(last, Math.max(0, from + (by ?? 0)))
    plot.setCursor({ left: plot.valToPos(plot.data[0][at], 'x'), top: 0 }, true, true)
    const said = /** @type {HTMLElement} */ (chart.figure.querySelector('[role=status]'))
    said.textContent = [...chart.figure.querySelectorAll('header .keys-of')]
      .map((element) => element.textContent)
      .join(', ')
  })
  place.addEventListener('blur', () => chart.plot?.setCursor({ left: -10, top: -10 }, true, true))
  new ResizeObserver(() => chart.plot?.setSize({ width: place.clientWidth, height: place.clientHeight })).observe(place)
}
// A refresh of the page puts the empty place back where the drawing was.
new MutationObserver(() => {
  for (const chart of charts) if (metrics && chart.plot && !chart.plot.root.isConnected) draw(chart)
}).observe(root, { childList: true, subtree: true })
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => metrics && charts.forEach(draw))
document.fonts.ready.then(load)
const every = Number(root.dataset['every'])
if (every) setInterval(() => document.hidden || load(), every * 1000)

/** The fields have local times, the address instants; those of a chosen zone the server reads itself. */
document.querySelector('[data-span]')?.addEventListener('submit', (event) => {
  if (zone) return
  event.preventDefault()
  const fields = [...new FormData(/** @type {HTMLFormElement} */ (event.target))].filter(([, local]) => local)
  const instants = fields.map(([name, local]) => [name, new Date(String(local)).toISOString()])
  location.search = String(new URLSearchParams(instants))
})
