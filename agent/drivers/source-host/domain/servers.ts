// Servers of a source hypervisor from the answers of the two scripts.

import { fitted } from '../../../protocol/bounds.ts'
import { printable } from '../../../protocol/text.ts'
import { MOST_DRIVES, SourceServer, type WantedServer } from '../../../protocol/values/source-hosts.ts'
import { type Described, describedBy, type NamedDrive } from './definition.ts'
import { driveFrom, type Found, type Volumes, volumesIn } from './drives.ts'
import type { DriveQuestion } from './script.ts'

type Sections = ReadonlyMap<string, string>
/** A server after the first script. `described`: undefined where there is none, or its definition cannot be read. */
export type Seen = Omit<SourceServer, 'definition'> & { described?: Described; snapshots: number }

const STATES: Readonly<Record<string, SourceServer['state']>> = {
  ...{ running: 'running', idle: 'running', blocked: 'running', 'no state': 'running' },
  ...{ paused: 'paused', pmsuspended: 'paused', 'in shutdown': 'running' },
  ...{ 'shut off': 'off', crashed: 'off' },
}
/** A state in virsh's words; `absent` is of ours. */
export const stateFrom = (words: string): SourceServer['state'] =>
  words.trim() === 'absent' ? 'absent' : (STATES[words.trim().toLowerCase()] ?? 'unknown')
const NOT_THERE = /Domain not found|no domain with matching|failed to get domain/i
const MOST_WORDS = 300
const NO_WORDS = 'virsh says nothing'

export function seenServers(sections: Sections, wanted: readonly WantedServer[]): Seen[] {
  return wanted.map(({ domain }, n) => {
    const info = sections.get(`info ${n}`) ?? ''
    const of = (name: string) => new RegExp(`^${name}:[ \\t]*(.*)$`, 'm').exec(info)?.[1]?.trim().toLowerCase()
    const persistent = of('Persistent')
    const seen = {
      domain,
      state: STATES[of('State') ?? ''] ?? 'unknown',
      isPersistent: persistent === 'yes' ? true : persistent === 'no' ? false : null,
      trouble: null,
      snapshots: rowsOf(sections.get(`snapshots ${n}`) ?? ''),
    } satisfies Seen
    if (of('State') === undefined) {
      const isAbsent = NOT_THERE.test(info)
      return { ...seen, state: isAbsent ? 'absent' : 'unknown', trouble: isAbsent ? null : words(info) }
    }
    return { ...seen, ...definitionOf(domain, sections.get(`xml ${n}`) ?? '') }
  })
}

/** virsh has said nothing about it. */
export const isUndecided = ({ state, described, trouble }: Seen) =>
  state === 'unknown' && !described && trouble === NO_WORDS

/** Of another domain is none: a name of digits is read as the number of one that runs. */
function definitionOf(domain: string, xml: string): Partial<Seen> {
  try {
    const described = describedBy(xml)
    if (described.name === domain || described.uuid === domain.toLowerCase()) return { described }
    return { state: 'unknown', isPersistent: null, trouble: words(`libvirt takes this name for ${described.name}`) }
  } catch (error) {
    return { trouble: words(`its definition cannot be read: ${(error as Error).message}`) }
  }
}

/** The rows of a table of virsh's, behind the line that ends its head. */
const rowsOf = (table: string) =>
  (table.split(/^-{5,}$/m)[1] ?? '').split('\n').filter((line) => line.trim() !== '').length

const words = (text: string) => printable(text.trim().split('\n').at(-1)!.slice(0, MOST_WORDS)) || NO_WORDS

/** A drive that the second script is question about, and the server that has it. */
export type Question = { server: number; drive: NamedDrive; question: DriveQuestion }
const PLAIN = /^[^\p{Cc}\u2028\u2029\ufffd]+$/u

export function questionsAbout(seen: readonly Seen[]): Question[] {
  return seen.flatMap(({ described }, server) =>
    (described?.drives ?? []).slice(0, MOST_DRIVES).flatMap((drive): Question[] => {
      const { path, volume, isNetwork } = drive
      if (volume && [volume.pool, volume.volume].every(isOperand)) return [{ server, drive, question: volume }]
      if (path === null || isNetwork || !path.startsWith('/') || !isPlain(path)) return []
      return [{ server, drive, question: { path } }]
    }),
  )
}
const isPlain = (text: string) => text.length <= 512 && PLAIN.test(text)
/** virsh would take a word with a dash before it for an option. */
const isOperand = (text: string) => isPlain(text) && !text.startsWith('-')

const NO_VOLUMES: Volumes = { lvm: new Map(), zfs: new Map() }
export function serversFrom(
  seen: readonly Seen[],
  wanted: readonly WantedServer[],
  questions: readonly Question[],
  answers: Sections | undefined,
): SourceServer[] {
  const volumes = answers
    ? volumesIn(answers.get('lvs') ?? '', answers.get('zfs') ?? '', answers.get('zfs-snapshots') ?? '')
    : NO_VOLUMES
  return seen.map(({ described, snapshots, ...server }, n): SourceServer => {
    if (!described) return fitted(SourceServer, { ...server, definition: null })
    const told = wanted[n]?.diskPaths ?? []
    const { name: _, drives: named, ...definition } = described
    const drives = named.slice(0, MOST_DRIVES).map((drive) => {
      const question = questions.findIndex((one) => one.server === n && one.drive === drive)
      const found: Found = (section) => (question === -1 ? undefined : answers?.get(`${section} ${question}`))
      return driveFrom(drive, found, volumes, told)
    })
    return fitted(SourceServer, {
      ...server,
      definition: { ...definition, drives, driveCount: named.length, snapshots },
    })
  })
}
