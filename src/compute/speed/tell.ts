// Telling the node of a server how fast it may be.
import { nodeCommand, type Speed } from '../../../agent/protocol/wire.ts'
import { saga } from '../../kernel/jobs/saga.ts'
import { speedOf } from '../server-records/limits.ts'
import { load } from '../server-records/model.ts'
import { updateServer } from '../server-records/queries.ts'

/** The command that gives the vm of a server its limits. */
export const setSpeed = ({ serverId, nodeId }: { serverId: string; nodeId: string }, speed: Speed) =>
  nodeCommand(nodeId, 'vm.set-speed', { workload: serverId, speed })

/** Tells the node the limits of a server that are recorded already, such as those of a server over its traffic. */
export const tellingSpeed = saga<{ serverId: string; nodeId: string }>('tell_speed', { title: 'Speed limit update' })
  .record('plan', 'Working out its limits', {
    do: (tx, { input }) => speedOf(load(tx, input.serverId)),
    // A turn of the clock starts another.
    undo: (tx, { input }) => updateServer(tx, input.serverId, { speedUntold: true }),
  })
  .command('tell', 'Telling its node', { do: ({ input, out }) => setSpeed(input, out.plan) })
