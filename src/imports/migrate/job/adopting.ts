// The job that adopts a server on the hypervisor on which it is: its disk gets a name of this platform, and it restarts
// once. Whatever fails before its guest has been started gives the disk its old name, and starts it as it was.
import { nodeCommand } from '../../../../agent/protocol/wire.ts'
import { saga } from '../../../kernel/jobs/saga.ts'
import {
  allow,
  define,
  keep,
  type Moving,
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

export const adopting = saga<Moving>('import_adopt', {
  title: 'Import in place',
  forStaff: true,
  lane: 'bulk',
  cancelWith: 'imports:write',
  neverStops: true,
  retry: () => 'retry',
  awayMs: ({ out }) => (out.off ? OFF_AWAY_MS : undefined),
})
  .record('plan', 'Reserving its addresses', { do: plan, undo: unmake })
  .command('save', 'Keeping its definition', {
    do: ({ input }) => nodeCommand(input.nodeId, 'source-host.save', ofDomain(input)),
  })
  .record('keep', 'Recording its definition', { do: keep })
  .record('off', 'Noting when it stops', noteOff)
  .command('stop', 'Shutting it down', stop)
  .command('adopt', 'Renaming its disk', {
    do: ({ input, out }) =>
      nodeCommand(input.nodeId, 'source-host.adopt', {
        ...{ domain: input.domain, drive: input.drive, volume: out.plan.volume, sizeBytes: out.plan.sizeBytes },
      }),
    undo: ({ input, out }) =>
      out.plan && out.keep
        ? nodeCommand(input.nodeId, 'source-host.give-back', {
            ...{ domain: input.domain, drive: input.drive, volume: out.plan.volume },
            definition: out.keep.definition,
          })
        : undefined,
  })
  .command('firewall', 'Loading its network rules', allow)
  .command('define', 'Defining the virtual machine', define)
  .record('wanted', 'Making sure that it is still wanted', { do: mustBeWanted })
  .pivotCommand('start', 'Starting it', start)
  .record('tell', 'Recording where it is', { do: tellMoved })
