// Values of metrics as people read them; public/metrics.js says the same in the browser.

export type Unit = 'percent' | 'mebibytes' | 'bytes' | 'bits' | 'celsius' | 'watts'

/** The value with its unit; null is a gap. */
export function inWords(value: number | null | undefined, unit: Unit): string {
  if (value === null || value === undefined) return 'no data'
  if (unit === 'percent') return `${digits(value)} %`
  if (unit === 'celsius') return `${digits(value)} °C`
  if (unit === 'watts') return `${digits(value)} W`
  if (unit === 'mebibytes') return scaled(value * 1024 * 1024, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB'])
  if (unit === 'bits') return scaled(value * 8, 1000, ['bit/s', 'kbit/s', 'Mbit/s', 'Gbit/s', 'Tbit/s'])
  return scaled(value, 1024, ['B/s', 'KiB/s', 'MiB/s', 'GiB/s', 'TiB/s'])
}

const digits = (n: number) => (n >= 100 ? n.toFixed(0) : Number(n.toPrecision(2)).toString())

function scaled(n: number, step: number, units: readonly string[]): string {
  let at = 0
  let rest = n
  while (rest >= step && at < units.length - 1) {
    rest /= step
    at++
  }
  return `${digits(rest)} ${units[at]}`
}
