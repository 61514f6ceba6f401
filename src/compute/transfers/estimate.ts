// How long a move takes, and how long its server is away meanwhile. The speed of a copy is that of the last ones.
import type { Db } from '../../kernel/db/open.ts'
import { settingValue, wholeSetting } from '../../kernel/setting.ts'
import { measuredRate, measuredStop } from './queries.ts'
import type { TransferMode } from './tables.ts'

export const atOnce = wholeSetting({
  name: 'transfers.at_once',
  title: 'Moves at once per node',
  words: 'So many servers are moved from or to one node at a time; further ones wait.',
  weakens: 'never',
  default: 2,
  minimum: 1,
  maximum: 8,
})
export const mostMbps = wholeSetting({
  name: 'transfers.most_mbps',
  title: 'Speed of moves',
  words: 'The most megabit per second that one move between nodes takes. 0: no limit.',
  weakens: 'never',
  default: 0,
  minimum: 0,
  maximum: 1_000_000,
  unit: 'Mbit/s',
})

const MIB = 1024 ** 2
/** A link of 1 Gbit/s, until a move has shown more or less. */
const USUAL_BYTES_PER_SECOND = 110 * MIB
/** Reading and hashing a disk, on both nodes at once; measured with SHA-256 on one core of 2026. */
const READ_BYTES_PER_SECOND = 400 * MIB
/** Of a disk, so much is written while the rest is compared. */
const SHARE_WRITTEN = 0.1
/** A system shuts down and is started again. */
const RESTART_SECONDS = 20
const BYTES_PER_MBIT = 125_000

/** The limit of a move in megabit per second, by what was asked for and the setting; null: none. */
export function limitOf(tx: Db, asked: number | undefined): number | null {
  const most = settingValue(tx, mostMbps)
  const limits = [asked, most || undefined].filter((limit) => limit !== undefined)
  return limits.length ? Math.min(...limits) : null
}

/** The last of the memory is sent and the guest runs on; measured between two nodes with 1 Gbit/s. */
const USUAL_STOP_MS = 1000
/** The memory that a guest writes while it is sent is sent again. */
const MEMORY_SENT_TIMES = 1.5

type Moved = {
  mode: TransferMode
  bytes: number
  memoryBytes: number
  runs: boolean
  maxMbps: number | null
  /** Its guest stands still while its memory is sent. */
  standsStill: boolean
}
/** `bytes`: of its disks at most. */
export function estimate(tx: Db, moved: Moved): { seconds: number; downtimeMs: number } {
  const { mode, bytes, memoryBytes, runs, maxMbps, standsStill } = moved
  if (mode === 'reassigned') return { seconds: 0, downtimeMs: 0 }
  const rate = Math.min(
    measuredRate(tx) ?? USUAL_BYTES_PER_SECOND,
    (maxMbps ?? Number.POSITIVE_INFINITY) * BYTES_PER_MBIT,
  )
  const copy = bytes / rate
  if (mode === 'live') {
    const seconds = Math.ceil(copy + (MEMORY_SENT_TIMES * memoryBytes) / rate)
    const stop = standsStill ? Math.ceil(memoryBytes / rate) * 1000 + USUAL_STOP_MS : undefined
    return { seconds, downtimeMs: stop ?? measuredStop(tx) ?? USUAL_STOP_MS }
  }
  const read = bytes / READ_BYTES_PER_SECOND
  const restart = runs ? RESTART_SECONDS : 0
  // A mirror is compared while the guest runs, and afterwards what was written since; after a copy both nodes read
  // each disk once more, at the same time.
  const away = mode === 'near_live' ? read * SHARE_WRITTEN + restart : copy + read + restart
  const seconds = mode === 'near_live' ? copy + read + away : away
  return { seconds: Math.ceil(seconds), downtimeMs: runs ? Math.ceil(away) * 1000 : 0 }
}
