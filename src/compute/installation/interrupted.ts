// An installation that a suspension stops is undone, and begins again when the server is unsuspended: the customer has
// paid for a server, not for a failure.

import { changeWorkload } from '../../fleet/workloads/queries.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { openJobOf, stepNotes } from '../../kernel/jobs/queries.ts'
import { type NewJob, startJob } from '../../kernel/jobs/start.ts'
import { type Server, serverJob } from '../server-records/model.ts'
import { installing, settingUp } from './install.ts'
import { keepInterrupted, takeInterrupted } from './queries.ts'
import { reinstalling } from './reinstall.ts'

const installations = [installing, settingUp, reinstalling]

/** Remembers the installation that is open, in the transaction of what stops it. */
export function rememberInstallation(tx: Tx, { id }: Pick<Server, 'id'>) {
  const open = openJobOf(tx, id)
  if (open && installations.some(({ kind }) => kind === open.kind))
    keepInterrupted(tx, { serverId: id, kind: open.kind, input: stepNotes(tx, open.id).input as object })
}

/**
 * Begins the installation again that a suspension stopped; answers its job's id. Null where there was none, or where
 * the server has a system: then a reinstallation is not repeated.
 */
export function resumeInstallation(tx: Tx, target: Server, { by, now }: Pick<NewJob, 'by' | 'now'>): string | null {
  const stopped = takeInterrupted(tx, target.id)
  const saga = installations.find(({ kind }) => kind === stopped?.kind)
  if (!stopped || !saga || target.diskGeneration !== null) return null
  changeWorkload(tx, target.id, { lifecycle: 'provisioning', failure: null })
  const about = serverJob(target, { by, title: `Install ${target.hostname}`, now })
  return startJob(tx, saga as typeof installing, stopped.input as never, { ...about, supersedes: true })
}
