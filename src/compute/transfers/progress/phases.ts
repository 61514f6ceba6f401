// The job of a move has more steps than a person follows. Those that stand together are shown as one phase, which
// begins with the first of them and lasts until the next phase begins.

import { nodeById } from '../../../fleet/node-records/queries.ts'
import { isoOrNull } from '../../../kernel/db/clock.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { linesAfter } from '../../../kernel/jobs/log.ts'
import { jobFacts, type StepNote, stepNotes } from '../../../kernel/jobs/queries.ts'
import { moving } from '../job/moving.ts'
import type { phaseStates } from '../model.ts'
import type { Transfer } from '../tables.ts'

type Told = { mode: Transfer['mode']; from: string; to: string }
/** `begins`: the name of the step with which it begins. `title` undefined: a move of this kind has no such phase. */
type Phase = { begins: string; title(told: Told): string | undefined; note?(told: Told): string | null }
const phases: readonly Phase[] = [
  { begins: 'plan', title: ({ to }) => `Reserve space on ${to}` },
  { begins: 'firewall', title: ({ to }) => `Prepare network and virtual machine on ${to}` },
  {
    begins: 'mirror',
    title: ({ mode }) => (mode === 'cold' ? undefined : 'Copy its disks'),
    note: ({ from }) => `It runs on ${from}.`,
  },
  { begins: 'switching', title: ({ mode }) => (mode === 'live' ? undefined : 'Shut it down') },
  {
    begins: 'copy',
    title: ({ mode }) =>
      ({ live: undefined, near_live: 'Copy what changed, and compare', cold: 'Copy its disks, and compare' })[
        mode as Exclude<typeof mode, 'reassigned'>
      ],
    note: () => 'It is off.',
  },
  {
    begins: 'hand-over',
    title: ({ mode }) => (mode === 'live' ? 'Send its memory, and switch over' : 'Switch over'),
    note: () => 'From here on there is no return.',
  },
  { begins: 'give', title: ({ mode, to }) => (mode === 'live' ? `Let it run on ${to}` : `Start it on ${to}`) },
  { begins: 'close', title: () => 'Clean up' },
]

type Shown = {
  title: string
  note: string | null
  state: (typeof phaseStates)[number]
  startedAt: string | null
  seconds: number | null
}

/** The phases of a transfer with a job that is still kept. */
export function phasesOf(tx: Db, row: Transfer): Shown[] {
  const { jobId, mode, fromNodeId, toNodeId, finishedAt } = row
  if (jobId === null || !jobFacts(tx, jobId)) return []
  const told = { mode, from: nodeById(tx, fromNodeId)?.name ?? '', to: nodeById(tx, toNodeId)?.name ?? '' }
  const stateOf = new Map(stepNotes(tx, jobId).notes.map(({ name, state }) => [name, state]))
  const saidAt = new Map<string, number>()
  for (const { text, at } of linesAfter(tx, jobId, 0)) if (!saidAt.has(text)) saidAt.set(text, at)
  const all = grouped(told).map((phase) => {
    const begun = phase.steps.flatMap(({ name, words }) => (stateOf.has(name) ? (saidAt.get(words) ?? []) : []))
    const states = phase.steps.flatMap(({ name }) => stateOf.get(name) ?? [])
    return { ...phase, states, startedAt: begun.length ? Math.min(...begun) : null }
  })
  return all.map(({ title, note, steps, states, startedAt }, i) => {
    const later = all.slice(i + 1)
    const isBehind = later.some((one) => one.states.length > 0)
    const isDone = isBehind || (steps.length > 0 && states.length === steps.length && !states.includes('started'))
    const next = later.find((one) => one.startedAt !== null)?.startedAt ?? finishedAt
    return {
      title,
      note,
      state: hasFailed(states, row) ? 'undone' : isDone ? 'done' : states.length ? 'running' : 'waiting',
      startedAt: isoOrNull(startedAt),
      seconds: startedAt === null || next === null ? null : Math.max(0, Math.round((next - startedAt) / 1000)),
    }
  })
}
const hasFailed = (states: readonly StepNote['state'][], { state }: Transfer) =>
  states.includes('undone') || ((state === 'failed' || state === 'cancelled') && states.includes('started'))

/** Each phase with its steps of the job; those of a phase that a move of this kind lacks belong to the one before. */
function grouped(told: Told) {
  const groups: { title: string; note: string | null; steps: { name: string; words: string }[] }[] = []
  for (const step of moving.steps) {
    const phase = phases.find(({ begins }) => begins === step.name)
    const title = phase?.title(told)
    if (title !== undefined) groups.push({ title, note: phase?.note?.(told) ?? null, steps: [] })
    groups.at(-1)!.steps.push(step)
  }
  return groups
}
