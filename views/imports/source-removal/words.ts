import type { getSourceRemoval } from '../../../src/imports/source-removal/choose.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import type { IconName } from '../../components/icon.tsx'
import type { Tone } from '../../components/state.tsx'
import { count } from '../../components/words.ts'

export type Removal = Answers<{ removal: typeof getSourceRemoval }>['removal']['nodes'][number]

export const choiceWords = {
  agent: 'Remove through the agent',
  manual: 'Run the commands by hand',
  keep: 'Keep it',
} as const

type Look = { words: string; tone: Tone; shape: IconName }
const states: Partial<Record<Removal['state'], Look>> = {
  removing: { words: 'Being removed', tone: 'work', shape: 'work' },
  restoring: { words: 'Being put back', tone: 'work', shape: 'work' },
  removed: { words: 'Removed', tone: 'ok', shape: 'tick' },
  failed: { words: 'Failed', tone: 'bad', shape: 'fail' },
}
/** Bridges that a person has to write into the node's own settings first. */
export const undefinedBridges = ({ preview }: Removal) =>
  preview?.bridges.filter(({ definedIn }) => definedIn === null) ?? []

/** A removal that has begun goes before the choice, and a reason against it before a choice to remove. */
export function lookOf(removal: Removal): Look {
  const { state, choice, blocked, preview } = removal
  const known = states[state]
  if (known) return known
  if (choice === 'keep') return { words: 'Stays', tone: 'idle', shape: 'hold' }
  if (!preview) return { words: 'Not known', tone: 'idle', shape: 'away' }
  if (preview.items.length === 0) return { words: 'Nothing left', tone: 'ok', shape: 'tick' }
  if (blocked.length) return { words: 'Blocked', tone: 'bad', shape: 'fail' }
  if (preview.networkStays) {
    const steps = undefinedBridges(removal).length
    return { words: `${count(steps, 'step')} by hand`, tone: 'warn', shape: 'wait' }
  }
  if (choice === null) return { words: 'To decide', tone: 'warn', shape: 'wait' }
  if (choice === 'manual') return { words: 'By hand', tone: 'warn', shape: 'wait' }
  return { words: 'Can start', tone: 'ok', shape: 'tick' }
}

export function whyOf(removal: Removal): string {
  const { state, failure, blocked, warnings, preview, previewProblem, result } = removal
  if (failure && state === 'failed') return failure.words
  if (state === 'removed' && result) return `Everything is in ${result.folder} there.`
  const said = [...blocked, ...warnings.map(({ words }) => words)]
  if (previewProblem) return [previewProblem, ...said].join(' ')
  const missing = undefinedBridges(removal).map(({ name }) => name)
  if (missing.length && preview?.networkStays) {
    const are = missing.length === 1 ? 'is' : 'are'
    said.push(
      `${missing.join(', ')} ${are} not defined in the node’s own settings: the network service stays until then.`,
    )
  }
  if (said.length) return said.join(' ')
  const bridges = preview?.bridges.length ?? 0
  return bridges ? `${count(bridges, 'bridge')}, defined in the node’s own settings.` : ''
}

const kinds = [
  ['service', 'service'],
  ['container', 'container'],
  ['folder', 'folder'],
  ['cron_file', 'cron file'],
  ['cron_lines', 'crontab'],
  ['key_line', 'key'],
  ['processes', 'group of processes', 'groups of processes'],
] as const
/** `2 services · 3 folders`. */
export const sumOf = (items: NonNullable<Removal['preview']>['items']): string =>
  kinds
    .map(([kind, one, many]) => [items.filter((item) => item.kind === kind).length, one, many] as const)
    .filter(([n]) => n > 0)
    .map(([n, one, many]) => count(n, one, many))
    .join(' · ')
