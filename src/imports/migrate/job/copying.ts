// The job that copies a server to a node of this platform. Nothing is changed at the source but its power, and it is
// started there again whatever fails before its guest has been started here.
import { nodeCommand } from '../../../../agent/protocol/wire.ts'
import type { CommandSource } from '../../../kernel/jobs/saga.ts'
import { saga } from '../../../kernel/jobs/saga.ts'
import { importServerById } from '../../import-records/inventory/queries.ts'
import { changeMove } from '../../import-records/moves/queries.ts'
import { importById } from '../../import-records/queries.ts'
import {
  allow,
  define,
  keep,
  type Moving,
  type MovingPlan,
  mustBeWanted,
  noteOff,
  OFF_AWAY_MS,
  ofDomain,
  plan,
  start,
  stop,
  tellMoved,
  unmake,
} from './moving.ts'

type In = { input: Moving }
type Planned = { out: { plan: MovingPlan } }

/** As it is now, also where the copy is sent again. */
const limitOf = ({ db }: CommandSource, { importServerId }: Moving): number | null => {
  const server = importServerById(db, importServerId)
  return (server && importById(db, server.importId)?.limits.maxMbps) ?? null
}
const copy = ({ input, out }: In & Planned, source: CommandSource, pass: 'running' | 'off') =>
  nodeCommand(input.nodeId, 'source-host.copy', {
    ...{ copy: input.serverId, ...ofDomain(input), drive: input.drive, volume: out.plan.volume },
    ...{ sizeBytes: out.plan.sizeBytes, pass, maxMbps: limitOf(source, input) },
  })
/** Deletes on the node what has arrived. Where the plan never was, nothing has. */
const discard = ({ input, out }: In & { out: { plan?: MovingPlan } }) =>
  out.plan && nodeCommand(input.nodeId, 'source-host.discard', { copy: input.serverId, volume: out.plan.volume })

export const copying = saga<Moving>('import', {
  title: 'Import',
  forStaff: true,
  lane: 'bulk',
  cancelWith: 'imports:write',
  neverStops: true,
  retry: () => 'retry',
  awayMs: ({ out }) => (out.off ? OFF_AWAY_MS : undefined),
})
  .record('plan', 'Reserving space and addresses', { do: plan, undo: unmake })
  .command('save', 'Keeping its definition at the source', {
    do: ({ input }) => nodeCommand(input.nodeId, 'source-host.save', ofDomain(input)),
  })
  .record('keep', 'Recording its definition', { do: keep })
  .command('copy-running', 'Copying its disk while it runs', {
    abandonable: true,
    do: (job, source) => (job.input.short && job.out.keep.wasRunning ? copy(job, source, 'running') : undefined),
    undo: discard,
  })
  .record('off', 'Noting when it stops', noteOff)
  .command('stop', 'Shutting it down at the source', stop)
  .command('copy', 'Copying the last changes', {
    abandonable: true,
    do: (job, source) => copy(job, source, 'off'),
    undo: discard,
  })
  .record('sum', 'Recording what was copied', {
    do: (tx, { input, out }) => {
      const running = out['copy-running']
      changeMove(tx, input.importServerId, {
        bytesTotal: out.copy.totalBytes,
        bytesCopied: (running?.copiedBytes ?? 0) + out.copy.copiedBytes,
      })
    },
  })
  .command('firewall', 'Loading its network rules', allow)
  .command('define', 'Defining the virtual machine', define)
  .record('wanted', 'Making sure that it is still wanted', { do: mustBeWanted })
  .pivotCommand('start', 'Starting it', start)
  .record('tell', 'Recording where it is', { do: tellMoved })
