// The kinds of alerts: unit and bounds of their thresholds, and their words.
import { count } from '../../kernel/words.ts'

type Declared = {
  /** Completes the sentence "… above 90 %". */
  words: string
  /** Behind the number of the threshold; undefined: the kind has no threshold. */
  unit: string | undefined
  most: number
  usual: { threshold: number | null; minutes: number }
  hint: string
}
export const alertKinds = {
  cpu: {
    words: 'CPU',
    unit: '%',
    most: 100,
    usual: { threshold: 90, minutes: 5 },
    hint: 'Of all its vCPUs together.',
  },
  memory: {
    words: 'Memory',
    unit: '%',
    most: 100,
    usual: { threshold: 90, minutes: 5 },
    hint: 'As the guest reports it; without a balloon driver it is not known.',
  },
  disk_io: {
    words: 'Disk',
    unit: 'MiB/s',
    most: 100_000,
    usual: { threshold: 100, minutes: 10 },
    hint: 'Read and written together.',
  },
  network: {
    words: 'Network',
    unit: 'Mbit/s',
    most: 1_000_000,
    usual: { threshold: 100, minutes: 10 },
    hint: 'The larger of both directions.',
  },
  traffic: {
    words: 'Monthly traffic',
    unit: 'GB',
    most: 9_000_000,
    usual: { threshold: 1000, minutes: 1 },
    hint: 'Both directions together since the month began, in UTC. It recovers with the next month.',
  },
  down: {
    words: 'Server off',
    unit: undefined,
    most: 0,
    usual: { threshold: null, minutes: 5 },
    hint: 'Whoever switched it off, unless it is suspended. Nothing is known while its node is away.',
  },
} as const satisfies Record<string, Declared>
export type AlertKind = keyof typeof alertKinds
export const alertKindNames = Object.keys(alertKinds) as AlertKind[]
export const kindOf = (kind: AlertKind): Declared => alertKinds[kind]

/** An alert is over when the value has been below this share of its threshold: one at the edge does not flap. */
export const RECOVERS_BELOW = 0.9

/** `90 %`, and `1 TB` of 1000 GB. */
const amount = (threshold: number, unit: string) =>
  unit === 'GB' && threshold >= 1000 && threshold % 100 === 0
    ? `${(threshold / 1000).toLocaleString('en')} TB`
    : `${threshold.toLocaleString('en')} ${unit}`

/** `CPU above 90 % for 5 minutes` */
export function describe({
  kind,
  threshold,
  minutes,
}: {
  kind: AlertKind
  threshold: number | null
  minutes: number
}): string {
  const { words, unit } = kindOf(kind)
  const above = unit && threshold !== null ? `${words} above ${amount(threshold, unit)}` : words
  return kind === 'traffic' ? above : `${above} for ${count(minutes, 'minute')}`
}
