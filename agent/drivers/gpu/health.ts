// Decides from the driver's report and the kernel's log whether a card can be sold.
import type { SmiCard } from './smi-xml.ts'
import { actionOf, wordsOf, type Xid } from './xid.ts'

const mib = (mb: number) => `${Math.round(mb).toLocaleString('en')} MiB`
const remedies = {
  reset: 'reset it (nvidia-smi --gpu-reset) or start the host again',
  reboot: 'start the host again, and take its power away where that does not help',
  replace: 'replace it',
} as const

/**
 * Sentences: why the card cannot be sold now; empty where it can. `xids` are its errors since the boot of the host,
 * oldest first.
 */
export function problemsOf(card: SmiCard, xids: readonly Xid[]): string[] {
  const { mig, uncorrectedErrors, remapPending, remapFailed, recoveryAction, link } = card
  return [
    ...(mig === 'on' ? ['MIG is on: Berth sells whole cards; switch it off with nvidia-smi --mig 0'] : []),
    ...(uncorrectedErrors > 0
      ? [`${uncorrectedErrors} errors of its memory could not be corrected: ${remedies.reset}`]
      : []),
    ...(remapPending ? [`A part of its memory waits to be replaced: ${remedies.reset}`] : []),
    ...(remapFailed ? ['A part of its memory could not be replaced: replace the card'] : []),
    ...card.flags.map((words) => words[0]!.toUpperCase() + words.slice(1)),
    ...(recoveryAction ? [`Its driver wants this action: ${recoveryAction}`] : []),
    ...(link && link.width < link.mostWidth
      ? [`Its slot gives it ${link.width} of ${link.mostWidth} lanes: seat the card anew`]
      : []),
    ...(card.computeProhibited ? ['Its compute mode is Prohibited: nvidia-smi --compute-mode 0'] : []),
    ...blocking(card, xids).map((xid) => `${wordsOf(xid)}: ${remedies[consequenceOf(xid)]}`),
  ]
}

type Blocking = keyof typeof remedies
const isBlocking = (action: ReturnType<typeof actionOf>): action is Blocking => action in remedies
const consequenceOf = (xid: Xid): Blocking => {
  const action = actionOf(xid)
  return isBlocking(action) ? action : 'reset'
}

/**
 * The errors that keep a card from sale, one of each kind. A reset mends those that ask for one: a driver that says
 * what it wants (from 550 on) is believed when it wants nothing; with an older one they stay until the host starts.
 */
function blocking(card: SmiCard, xids: readonly Xid[]): Xid[] {
  const mendedAt = xids.findLastIndex((xid) => actionOf(xid) === 'mended')
  const wantsNothing = card.recoveryAction === undefined
  const found = xids.filter((xid, i) => {
    const action = actionOf(xid)
    return isBlocking(action) && !(action === 'reset' && (wantsNothing || i < mendedAt))
  })
  return [...new Map(found.map((xid) => [xid.code, xid])).values()]
}

/** The findings of the program that cleared a card; see `clearing.ts`. */
export type Cleared = {
  /** Memory that programs can get in all, that was cleared, and that was left over, in bytes. */
  totalBytes: number
  clearedBytes: number
  leftBytes: number
  /** Samples whose bytes were not what had been written. */
  badSamples: number
  samples: number
  /** 10^9 bytes per second, measured, and as its clock and its bus allow; 0: not known. */
  memoryGBps: number
  peakGBps: number
}

/** The findings of the program that read the card after it was cleared. */
export type Proved = {
  totalBytes: number
  readBytes: number
  /** In blocks of 64 KiB in which something was left. */
  unclearBytes: number
}

/**
 * Memory that no program can get, because the driver needs it for the program itself: 2 percent, and on small cards
 * more of them, because that need does not shrink with the card.
 */
const mostHeldBytes = (totalBytes: number) => Math.max(2 ** 29, totalBytes * 0.02)
/** A rest smaller than one allocation. */
const MOST_LEFT_BYTES = 64 * 2 ** 20
/** Copies within a card reach more than 80 percent of what its clock and its bus allow. */
const LEAST_SHARE_OF_PEAK = 0.5

/** Sentences: what the clearing and the load have shown. */
export function problemsCleared(cleared: Cleared): string[] {
  const { totalBytes, clearedBytes, leftBytes, badSamples, samples, memoryGBps, peakGBps } = cleared
  return [
    ...(badSamples || !samples
      ? [`${badSamples} of ${samples} samples of its memory did not keep what was written to them: replace the card`]
      : []),
    ...(leftBytes > MOST_LEFT_BYTES ? [`${mib(leftBytes / 2 ** 20)} of its memory could not be cleared`] : []),
    ...heldProblems(totalBytes, clearedBytes, 'cleared'),
    ...(peakGBps && memoryGBps < peakGBps * LEAST_SHARE_OF_PEAK
      ? [`Its memory reached ${memoryGBps.toFixed(0)} of ${peakGBps.toFixed(0)} GB/s: see its heat and power`]
      : []),
  ]
}

/** Sentences: what the reading of all its memory has shown. */
export function problemsProved({ totalBytes, readBytes, unclearBytes }: Proved): string[] {
  const unclear = (unclearBytes / 1024).toLocaleString('en')
  return [
    ...(unclearBytes ? [`${unclear} KiB of its memory were not clear after it was cleared: replace the card`] : []),
    ...heldProblems(totalBytes, readBytes, 'looked at'),
  ]
}

function heldProblems(totalBytes: number, doneBytes: number, done: string): string[] {
  const heldBytes = totalBytes - doneBytes
  return heldBytes > mostHeldBytes(totalBytes)
    ? [`${mib(heldBytes / 2 ** 20)} of its memory are held by something and were not ${done}: ${remedies.reset}`]
    : []
}
