// Steps on the vm of a server that several jobs have. Those that put another disk, or another layer of it, under a
// server lead back to the vm as it was by their undo, and start it again if it ran.
import { nodeCommand, type Power, type Vm } from '../../../agent/protocol/wire.ts'

type On = { input: { serverId: string; nodeId: string } }
type Looked = { out: { look: { power: Power } } }
type Planned = { out: { plan: { before: Vm; after: Vm } } }

export const isOn = (power: Power): boolean => power === 'running' || power === 'paused'

const start = ({ input: { serverId, nodeId } }: On) => nodeCommand(nodeId, 'vm.start', { workload: serverId })
const stop = ({ input: { serverId, nodeId } }: On, graceSeconds: number) =>
  nodeCommand(nodeId, 'vm.stop', { workload: serverId, graceSeconds })
const startIfItRan = (job: On & Looked) => (isOn(job.out.look.power) ? start(job) : undefined)

/** The step `look`. */
export const lookAtPower = [
  'Checking whether it runs',
  {
    abandonable: true,
    do: ({ input }: On) => nodeCommand(input.nodeId, 'vm.look', { workload: input.serverId }),
  },
] as const

/** After `look`. `graceSeconds`: so long the system has to shut down. */
export const shutDown = (graceSeconds: number) => ({ do: (job: On) => stop(job, graceSeconds), undo: startIfItRan })

/** After the step `plan`, which answers the vm before and after. */
export const defineAfter = {
  do: ({ input, out }: On & Planned) => nodeCommand(input.nodeId, 'vm.define', out.plan.after),
  undo: ({ input, out }: On & Planned) => nodeCommand(input.nodeId, 'vm.define', out.plan.before),
}

const stopAtOnce = (job: On) => stop(job, 0)
/** After `look`: starts the vm only where it ran. */
export const startAgain = { do: startIfItRan, undo: stopAtOnce }

export const startVm = ['Starting it', { do: start, undo: stopAtOnce }] as const
