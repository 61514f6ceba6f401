// Putting an ISO into the CD drive of a server, and taking it out. The node downloads it first, unless it has it.
import { Type as t } from 'typebox'
import { type IsoSource, nodeCommand } from '../../../../agent/protocol/wire.ts'
import { withRefused } from '../../../fleet/nodes/addresses/platform.ts'
import { everybody } from '../../../kernel/api/access.ts'
import { invalid } from '../../../kernel/api/errors.ts'
import { described, fields, nullable, operation, see } from '../../../kernel/api/operation.ts'
import { CommandFailed } from '../../../kernel/jobs/failures.ts'
import { type CommandSource, saga } from '../../../kernel/jobs/saga.ts'
import { startJob } from '../../../kernel/jobs/start.ts'
import { iso, isoSource } from '../../isos/model.ts'
import { isoById, noteCopy } from '../../isos/queries.ts'
import { jobResponse, server, serverJob } from '../../server-records/model.ts'
import { updateServer } from '../../server-records/queries.ts'
import { mustAllowFor, refusalsOf } from '../states.ts'

export const setIso = operation({
  id: 'servers.set-iso',
  method: 'PUT',
  path: '/servers/{id}/iso',
  summary: 'Change the ISO in the CD drive of a server, or take it out; a running server sees it at once',
  past: 'Changed the ISO',
  access: everybody('servers:settings'),
  on: server,
  body: fields({ isoId: described(nullable(t.String({ minLength: 1, maxLength: 40 })), 'Null takes it out.') }),
  response: jobResponse,
  status: 202,
  idempotent: true,
  refuses: [...refusalsOf('iso'), 'server_busy'],
  example: { isoId: null },
  run({ tx, actor, target, body: { isoId }, clock }) {
    const chosen = isoId === null ? null : see(tx, actor, iso, isoId, 'isoId')
    // A reseller sees the ISOs of all its customers: one customer's never comes into the server of another.
    if (chosen && ![null, target.ownerId, actor.accountId].includes(chosen.ownerId))
      throw invalid({ field: 'isoId', message: 'No such ISO.' })
    mustAllowFor(tx, actor, target, 'iso')
    if (isoId === target.isoId) return { jobId: null, serverId: target.id }
    const title = chosen ? `Insert ${chosen.name} in ${target.hostname}` : `Empty the CD drive of ${target.hostname}`
    const input = {
      serverId: target.id,
      nodeId: target.nodeId,
      isoId,
      source: chosen && isoSource(chosen),
      before: target.isoId,
    }
    return {
      jobId: startJob(tx, settingIso, input, serverJob(target, { by: actor, title, now: clock() })),
      serverId: target.id,
    }
  },
})

type Input = {
  serverId: string
  nodeId: string
  isoId: string | null
  source: IsoSource | null
  before: string | null
}

export const settingIso = saga<Input>('iso', { title: 'ISO change', lane: 'build', cancelWith: 'servers:settings' })
  // Before the download, so that a copy that a job leaves behind is deleted with the ISO.
  .record('copy', 'Choosing the ISO', {
    do: (tx, { input }) => {
      if (input.isoId) noteCopy(tx, input.isoId, input.nodeId)
    },
  })
  .command('fetch', 'Fetching the ISO, unless it is there already', {
    abandonable: true,
    do: ({ input: { source, nodeId } }, { db }: CommandSource) =>
      source ? nodeCommand(nodeId, 'iso.ensure', withRefused(db, source)) : undefined,
  })
  .command('insert', 'Changing the CD drive', {
    do: ({ input }) => nodeCommand(input.nodeId, 'vm.set-iso', { workload: input.serverId, iso: input.isoId }),
    undo: ({ input }) => nodeCommand(input.nodeId, 'vm.set-iso', { workload: input.serverId, iso: input.before }),
  })
  .record('note', 'Recording it', {
    do: (tx, { input: { serverId, isoId } }) => {
      if (isoId && isoById(tx, isoId)?.removedAt !== null)
        throw new CommandFailed('no_iso', 'The ISO was removed meanwhile.')
      updateServer(tx, serverId, { isoId })
    },
  })
