// The words of virsh about a migration that is under way.

/** Bytes; of disks and memory together. `phase` is the one that is copied now. */
export type MigrationProgress = {
  phase: 'starting' | 'disks' | 'memory'
  copiedBytes: number
  totalBytes: number
  /** Of the phase alone. */
  remainingBytes: number
}

const UNITS: Readonly<Record<string, number>> = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 }

/**
 * Parses `virsh domjobinfo`; undefined where no job is under way. Figures of the
 * disks are there in their phase, those of the memory come with it.
 */
export function progressIn(text: string): MigrationProgress | undefined {
  if (!/^Operation:\s+Outgoing migration/m.test(text) && !/^Job type:\s+Unbounded/m.test(text)) return undefined
  const bytes = (name: string) => {
    const [, figure, unit = 'B'] = new RegExp(`^${name}:\\s+([0-9.]+) (\\w+)`, 'm').exec(text) ?? []
    return figure === undefined ? 0 : Math.round(Number(figure) * (UNITS[unit] ?? 1))
  }
  const memoryTotal = bytes('Memory total')
  const phase = memoryTotal ? 'memory' : bytes('File total') ? 'disks' : 'starting'
  return {
    phase,
    copiedBytes: bytes('File processed') + bytes('Memory processed'),
    totalBytes: bytes('File total') + memoryTotal,
    remainingBytes: phase === 'memory' ? bytes('Memory remaining') : bytes('File remaining'),
  }
}

export type SourceEvent = { kind: 'suspended' } | { kind: 'disk ready'; disk: string }

/** A line of `virsh event --all` on the source, as far as it tells how far a migration is. */
export function sourceEventIn(line: string): SourceEvent | undefined {
  const [, name, detail = ''] = /event '([a-z0-9-]+)' for domain '[^']*': ?(.*)$/.exec(line) ?? []
  if (name === 'lifecycle' && detail.startsWith('Suspended Migrated')) return { kind: 'suspended' }
  const [, disk] = (name === 'block-job-2' && /for (\S+) ready$/.exec(detail)) || []
  return disk ? { kind: 'disk ready', disk } : undefined
}
