// The series of a workload or a node, and a point of them in 22 bytes: each value is a small floating-point number of
// 16 bits, exact to 2,047 and within 0.03 % above.

/** A value is stored times `scale`, as a whole number. */
export type Series = { name: string; scale: number; words: string }

/** The series in the order in which they are stored. */
export const series = [
  { name: 'cpuPercent', scale: 100, words: 'Processor time in percent of all its vCPUs or threads.' },
  { name: 'cpuPeakPercent', scale: 100, words: 'The highest of the shorter values behind one value of cpuPercent.' },
  {
    name: 'memoryMb',
    scale: 1,
    words: 'Memory in use in MiB; of a server as its guest tells it, and null where it does not.',
  },
  { name: 'diskReadBytesPerSecond', scale: 1, words: 'Of all its disks together.' },
  { name: 'diskWrittenBytesPerSecond', scale: 1, words: 'Of all its disks together.' },
  { name: 'diskReadsPerSecond', scale: 100, words: 'Read operations of all its disks together.' },
  { name: 'diskWritesPerSecond', scale: 100, words: 'Write operations of all its disks together.' },
  { name: 'rxBytesPerSecond', scale: 1, words: 'Received.' },
  { name: 'txBytesPerSecond', scale: 1, words: 'Sent.' },
  { name: 'rxPacketsPerSecond', scale: 100, words: 'Received.' },
  { name: 'txPacketsPerSecond', scale: 100, words: 'Sent.' },
] as const satisfies readonly Series[]
export type SeriesName = (typeof series)[number]['name']
export const SERIES: number = series.length
const indexes = Object.fromEntries(series.map(({ name }, i) => [name, i])) as Record<SeriesName, number>
export const indexOf = (name: SeriesName): number => indexes[name]
/** Its coarser values are the highest of the finer ones; those of the others are their mean. */
export const PEAK = indexOf('cpuPeakPercent')

/** The stored form of "nothing was measured". */
export const GAP = 0xffff

const MANTISSA_BITS = 11
const FIRST = 2 ** MANTISSA_BITS
const MOST = (2 * FIRST - 1) * 2 ** 29

/** The stored form of a value that is 0 or more. Undefined and NaN are gaps. */
export function packed(value: number | undefined): number {
  if (value === undefined || Number.isNaN(value)) return GAP
  const whole = Math.min(MOST, Math.max(0, Math.round(value)))
  if (whole < FIRST) return whole
  let exponent = Math.floor(Math.log2(whole)) - MANTISSA_BITS
  let mantissa = Math.round(whole / 2 ** exponent)
  // A value next to a power of two rounds to the next exponent, in either direction.
  if (mantissa >= 2 * FIRST) {
    exponent++
    mantissa = FIRST
  } else if (mantissa < FIRST) {
    exponent--
    mantissa = Math.round(whole / 2 ** exponent)
  }
  return ((exponent + 1) << MANTISSA_BITS) | (mantissa - FIRST)
}

/** The value of a stored form; undefined for a gap. */
export function unpacked(stored: number): number | undefined {
  if (stored === GAP) return undefined
  const exponent = stored >> MANTISSA_BITS
  const mantissa = stored & (FIRST - 1)
  return exponent === 0 ? mantissa : (mantissa + FIRST) * 2 ** (exponent - 1)
}

/** One value of each series in its stored form. */
export type Point = Uint16Array
export const noPoint = (): Point => new Uint16Array(SERIES).fill(GAP)

/** The coarser value of one series: the mean, or for a peak the highest, of the values that are no gaps. */
export class Mean {
  private sum = 0
  private most = 0
  private n = 0
  add(value: number | undefined) {
    if (value === undefined) return
    this.sum += value
    this.most = Math.max(this.most, value)
    this.n++
  }
  of(index: number): number | undefined {
    if (!this.n) return undefined
    return index === PEAK ? this.most : this.sum / this.n
  }
}
