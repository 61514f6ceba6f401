// The outcome of a job, from what its steps noted: how far each step is, and whether data was lost.
import type { Db } from '../../kernel/db/open.ts'
import { type StepNote, stepNotes } from '../../kernel/jobs/queries.ts'
import type { Saga } from '../../kernel/jobs/saga.ts'
import type { JobRow } from './queries.ts'

/** A started step of a failed job whose undo has not run is `started`. */
export const stepStates = ['waiting', 'started', 'done', 'undone'] as const

type Outcome = {
  steps: { name: string; state: (typeof stepStates)[number] }[]
  dataLost: boolean | null
  retry: string | null
}

/** `saga`: undefined for a kind of job that this version does not have; nothing is known of its steps then. */
export function outcomeOf(tx: Db, row: JobRow, saga: Saga | undefined): Outcome {
  if (!saga) return { steps: [], dataLost: null, retry: null }
  const { notes, input } = stepNotes(tx, row.id)
  const noteOf = new Map<string, StepNote>(notes.map((note) => [note.name, note]))
  const steps = saga.steps.map(({ name, words }) => ({
    name: words,
    state: noteOf.get(name)?.state ?? ('waiting' as const),
  }))
  const dataLost = saga.losingSteps.some(({ name }) => noteOf.get(name)?.answered === 1)
  return {
    steps,
    dataLost: row.state === 'failed' ? dataLost : null,
    retry: row.state === 'failed' ? (saga.options.retry?.(input) ?? null) : null,
  }
}
