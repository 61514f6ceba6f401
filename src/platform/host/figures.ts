// Figures of the controller's host, as Linux reports them. Reading is apart from parsing, so that tests can
// describe any host.
import { X509Certificate } from 'node:crypto'
import { readFileSync, statfsSync, statSync } from 'node:fs'

export type HostSource = {
  proc(name: 'stat' | 'loadavg' | 'meminfo' | 'uptime'): string
  disk(path: string): { bsize: number; blocks: number; bfree: number; bavail: number }
  /** 0 for a file that is not there. */
  fileBytes(path: string): number
  /** Memory of this process, bytes. */
  ownBytes(): number
}

export const thisHost: HostSource = {
  proc: (name) => readFileSync(`/proc/${name}`, 'utf8'),
  disk: (path) => statfsSync(path),
  fileBytes: (path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0,
  ownBytes: () => process.memoryUsage.rss(),
}

/** Whole percents, rounded down: 84.9 % is not 85 %. */
const percentOf = (used: number, all: number) => (all > 0 ? Math.min(100, Math.floor((used * 100) / all)) : 0)

/** Ticks since the host started. Waiting for a disk is not work; guests are in `user` already. */
export function cpuFrom(stat: string) {
  const lines = stat.split('\n')
  const ticks = (lines.find((l) => l.startsWith('cpu ')) ?? '').split(/\s+/).slice(1, 9).map(Number)
  const total = ticks.reduce((all, n) => all + n, 0)
  return { cpus: lines.filter((l) => /^cpu\d/.test(l)).length, total, busy: total - (ticks[3] ?? 0) - (ticks[4] ?? 0) }
}
export type CpuTicks = ReturnType<typeof cpuFrom>

export const loadFrom = (loadavg: string): [number, number, number] => {
  const [one = 0, five = 0, fifteen = 0] = loadavg.split(' ').map(Number)
  return [one, five, fifteen]
}

/** `used` leaves out the page cache, which Linux frees on demand. */
export function memoryFrom(meminfo: string) {
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(meminfo)?.[1] ?? 0) * 1024
  const totalBytes = bytes('MemTotal')
  const availableBytes = bytes('MemAvailable')
  const usedBytes = totalBytes - availableBytes
  const swapTotal = bytes('SwapTotal')
  return {
    memory: { totalBytes, usedBytes, availableBytes, percent: percentOf(usedBytes, totalBytes) },
    swap: { totalBytes: swapTotal, usedBytes: swapTotal - bytes('SwapFree') },
  }
}

export const uptimeFrom = (uptime: string) => Math.floor(Number(uptime.split(' ')[0]))

/** As `df` counts: blocks reserved for root are neither used nor free. */
export function diskFrom({ bsize, blocks, bfree, bavail }: ReturnType<HostSource['disk']>) {
  const used = blocks - bfree
  return { totalBytes: blocks * bsize, usedBytes: used * bsize, percent: percentOf(used, used + bavail) }
}

const TICKS_PER_SECOND = 100
const nothingYet = { ticks: { cpus: 0, total: 0, busy: 0 } as CpuTicks, percent: 0 }

/**
 * When the first certificate of a PEM file ends, in milliseconds. Built-in TLS reads the file once, so this is read at
 * start too: a renewed file that is not loaded yet does not hide that the old one ends.
 */
export const certificateEnd = (file: string): number => Date.parse(new X509Certificate(readFileSync(file)).validTo)

export class HostFigures {
  /** The last sample: CPU use is the difference between two. The first counts from the start of the host. */
  #cpu = nothingYet

  constructor(
    readonly source: HostSource,
    readonly dataDir: string,
    /** When the certificate of the built-in TLS ends (milliseconds); undefined without built-in TLS. */
    readonly certificateEndsAt?: number,
  ) {}

  /** Calls within a second get the same figures: the difference between their samples would be too small. */
  cpu() {
    const ticks = cpuFrom(this.source.proc('stat'))
    const passed = ticks.total - this.#cpu.ticks.total
    if (passed >= ticks.cpus * TICKS_PER_SECOND)
      this.#cpu = { ticks, percent: percentOf(ticks.busy - this.#cpu.ticks.busy, passed) }
    return { cpus: ticks.cpus, cpuPercent: this.#cpu.percent }
  }

  memory = () => memoryFrom(this.source.proc('meminfo'))
  /** The disk that holds the database. */
  disk = () => ({ path: this.dataDir, ...diskFrom(this.source.disk(this.dataDir)) })
  load = () => loadFrom(this.source.proc('loadavg'))
  uptimeSeconds = () => uptimeFrom(this.source.proc('uptime'))
  /** Size of the database with its write-ahead log. */
  databaseBytes = () =>
    ['', '-wal'].reduce((all, end) => all + this.source.fileBytes(`${this.dataDir}/berth.db${end}`), 0)
}
