import type { AssetName } from '../../../public/assets.ts'
import type { getImport } from '../../../src/imports/imports/imports.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import type { IconName } from '../../components/icon.tsx'
import { State, type Tone } from '../../components/state.tsx'
import { count } from '../../components/words.ts'

export type Import = Answers<{ import: typeof getImport }>['import']

/** The files of every page of an import. */
export const importFiles = ['moves.css', 'imports.css', 'rows.mjs', 'imports.mjs'] satisfies AssetName[]
export const importsTrail = [['Imports', '/admin/imports']] as const

const hostOf = ({ address }: Pick<Import, 'address'>) => address.replace(/^https:\/\//, '')
/** Where the panel is, as people write it. */
export const placeOf = (of: Pick<Import, 'address'>) => (/:\d+$/.test(of.address) ? hostOf(of) : `${hostOf(of)}:443`)
export const titleOf = (of: Pick<Import, 'name' | 'address'>) => of.name ?? hostOf(of)

type Look = { words: string; tone: Tone; shape: IconName }
const statuses: Record<Import['status'], Look> = {
  draft: { words: 'Not read yet', tone: 'idle', shape: 'wait' },
  discovering: { words: 'Reading', tone: 'work', shape: 'work' },
  mapping: { words: 'All decided', tone: 'ok', shape: 'tick' },
  checking: { words: 'Dry run', tone: 'work', shape: 'work' },
  ready: { words: 'Checked', tone: 'ok', shape: 'tick' },
  migrating: { words: 'Migrating', tone: 'work', shape: 'work' },
  verifying: { words: 'Being verified', tone: 'work', shape: 'work' },
  finished: { words: 'Finished', tone: 'ok', shape: 'tick' },
  cancelled: { words: 'Cancelled', tone: 'idle', shape: 'stop' },
}
/** The words of a status, for filters. */
export const statusWords = {
  draft: statuses.draft.words,
  discovering: statuses.discovering.words,
  mapping: 'To decide, or decided',
  checking: statuses.checking.words,
  ready: statuses.ready.words,
} as const

/** Its need of a person goes before its progress. */
export function lookOf(of: Pick<Import, 'status' | 'asksFor' | 'trouble' | 'left' | 'servers' | 'pausedAt'>): Look {
  const { status, asksFor, trouble, left, servers, pausedAt } = of
  if (asksFor) return { words: 'Asks for you', tone: 'warn', shape: 'away' }
  if (trouble && status !== 'discovering') return { words: 'Stopped', tone: 'bad', shape: 'fail' }
  if (status === 'mapping' && left.decisions > 0)
    return { words: `${left.decisions.toLocaleString('en')} to decide`, tone: 'warn', shape: 'wait' }
  if (status === 'ready') {
    const words = `${servers['ready']!.toLocaleString('en')} of ${servers['total']!.toLocaleString('en')} ready`
    return servers['ready'] === comingOf(of) ? { ...statuses.ready, words } : { words, tone: 'warn', shape: 'wait' }
  }
  if (status === 'migrating' && pausedAt !== null) return { words: 'Paused', tone: 'warn', shape: 'hold' }
  return statuses[status]
}
export function ImportState({ of, tag }: { of: Import; tag?: boolean }) {
  const { words, tone, shape } = lookOf(of)
  return (
    <State tone={tone} shape={shape} tag={tag}>
      {words}
    </State>
  )
}

/** The servers that would come over as things are decided. */
export const comingOf = ({ servers }: Pick<Import, 'servers'>) =>
  servers['total']! - servers['left_out']! - servers['refused']! - servers['already_moved']!

/** The words for the lists of a panel. */
export const listWords = {
  hypervisors: ['hypervisor', 'Hypervisors'],
  packages: ['package', 'Packages'],
  ranges: ['range', 'Address ranges'],
  addresses: ['address', 'Addresses'],
  owners: ['owner', 'Owners'],
  servers: ['server', 'Servers'],
} as const satisfies Record<string, readonly [one: string, title: string]>
export type ListName = keyof typeof listWords
export const listCount = (n: number, list: ListName) =>
  count(n, listWords[list][0], list === 'addresses' ? 'addresses' : undefined)
