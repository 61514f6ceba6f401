// The counters of the host itself, read from the kernel's files: a few small files, and no process.
import { existsSync, readFileSync } from 'node:fs'

/** Counters that only grow until the host boots, and the memory in use now. */
export type HostCounters = {
  /** Time that all threads together were busy, in ms. */
  cpuMs: number
  /** All network devices that lead out of the host. */
  rxBytes: number
  txBytes: number
  rxPackets: number
  txPackets: number
  /** All drives; undefined where the host shows none, as in a container. */
  disk: { readBytes: number; writtenBytes: number; reads: number; writes: number } | undefined
  memoryUsedMb: number
}

/** Linux counts processor time in hundredths of a second, whatever its own clock is. */
const TICK_MS = 10
const DRIVES = '/proc/diskstats'
/** It counts in such sectors on every drive. */
const SECTOR_BYTES = 512

/** The counters of this host. */
export function countersOfHost(): HostCounters {
  const { busy } = cpuTicks()
  return {
    cpuMs: busy * TICK_MS,
    ...trafficIn(readFileSync('/proc/net/dev', 'utf8'), leadsOut),
    disk: disksIn(existsSync(DRIVES) ? readFileSync(DRIVES, 'utf8') : '', (name) =>
      existsSync(`/sys/block/${name}/device`),
    ),
    memoryUsedMb: (kibOf('MemTotal') - kibOf('MemAvailable')) >> 10,
  }
}

/** Ticks of the processor since the boot. A guest's time is part of the user's, where the kernel counts it already. */
export function cpuTicks(): { total: number; idle: number; busy: number } {
  const line = /^cpu\s+(.+)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1] ?? ''
  const ticks = line.split(/\s+/).map(Number)
  const total = ticks.slice(0, 8).reduce((sum, n) => sum + n, 0)
  const idle = (ticks[3] ?? 0) + (ticks[4] ?? 0)
  return { total, idle, busy: total - idle }
}

/** A line of `/proc/meminfo`, in KiB. */
export const kibOf = (name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync('/proc/meminfo', 'utf8'))?.[1] ?? 0)

type Device = { name: string; isHardware: boolean; isInner: boolean }

/** Hardware counts where there is any: what a bond, a bridge or a VLAN passes on is in its figures already. */
function leadsOut(names: readonly string[]): string[] {
  const devices = names.map((name): Device => {
    const has = (file: string) => existsSync(`/sys/class/net/${name}/${file}`)
    return { name, isHardware: has('device'), isInner: name === 'lo' || has('bridge') || has('tun_flags') }
  })
  const hardware = devices.filter(({ isHardware }) => isHardware)
  // In a container or a namespace there is no hardware.
  return (hardware.length ? hardware : devices.filter(({ isInner }) => !isInner)).map(({ name }) => name)
}

/** The sums of the devices of `/proc/net/dev` that `counted` picks. */
export function trafficIn(text: string, counted: (names: readonly string[]) => readonly string[]) {
  const rows = [...text.matchAll(/^\s*([^\s:]+):\s*(.+)$/gm)].map(([, name = '', rest = '']) => ({
    name,
    n: rest.trim().split(/\s+/).map(Number),
  }))
  const names = new Set(counted(rows.map(({ name }) => name)))
  const sum = (i: number) => rows.reduce((all, { name, n }) => all + (names.has(name) ? (n[i] ?? 0) : 0), 0)
  return { rxBytes: sum(0), rxPackets: sum(1), txBytes: sum(8), txPackets: sum(9) }
}

/** The sums of the drives of `/proc/diskstats`; partitions and what lies on drives are in their figures already. */
export function disksIn(text: string, isDrive: (name: string) => boolean): HostCounters['disk'] {
  const rows = text
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , name]) => name !== undefined && isDrive(name))
  if (!rows.length) return undefined
  const sum = (i: number) => rows.reduce((all, row) => all + Number(row[i] ?? 0), 0)
  return { reads: sum(3), readBytes: sum(5) * SECTOR_BYTES, writes: sum(7), writtenBytes: sum(9) * SECTOR_BYTES }
}
