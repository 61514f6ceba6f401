// Freezing a guest while its disk is cut. A guest that stays frozen hangs, so it is noted before it is asked to freeze,
// and thawed until it says that it writes again: at once, and by the supervision for as long as it takes.
import { say } from '../../controller-link/job-log.ts'
import { Failure, wordsOf } from '../../failure.ts'
import { log } from '../../log.ts'
import type { State } from '../../state.ts'
import type { Hypervisor } from '../hypervisor/hypervisor.ts'
import type { GuestAgent } from './guest-agent.ts'

type Host = {
  hypervisor: Pick<Hypervisor, 'guestAnswers' | 'power'>
  guestAgent: Pick<GuestAgent, 'freeze' | 'thaw'>
  state: Pick<State, 'noteFrozen' | 'noteThawed' | 'frozen' | 'freezing'>
}

/**
 * Does `work` while the running guest's file systems are frozen. `consistent` is false where no guest agent did that:
 * the guest then finds its disk as after a power failure.
 */
export async function whileFrozen(host: Host, workload: string, work: () => Promise<void>): Promise<boolean> {
  if (!(await host.hypervisor.guestAnswers(workload))) {
    say('warning', 'No guest agent answers, so the file systems were not frozen.')
    await work()
    return false
  }
  host.state.freezing.add(workload)
  host.state.noteFrozen(workload)
  let froze = false
  let thawed = 0
  try {
    await host.guestAgent.freeze(workload)
    froze = true
  } catch (error) {
    say('warning', `The file systems were not frozen: ${wordsOf(error)}`)
  }
  try {
    await work()
  } finally {
    thawed = await thaw(host, workload).catch((error) => {
      say('warning', `The guest does not say that it writes again; it is asked until it does: ${wordsOf(error)}`)
      return 0
    })
    host.state.freezing.delete(workload)
  }
  // A guest that thawed by itself meanwhile has no frozen file system left.
  return froze && thawed > 0
}

/**
 * Did the guest of a vm that is off not shut it down? Its file systems are then as after a power failure. False where
 * the hypervisor does not know it any more.
 */
export async function brokeOff(hypervisor: Pick<Hypervisor, 'look'>, workload: string): Promise<boolean> {
  const { ours } = await hypervisor.look()
  const off = ours.find(({ id }) => id === workload)?.off
  return off === 'destroyed' || off === 'crashed'
}

/** Thaws guests that were not yet, except those that a command or a backup is working on. */
export async function thawLeftOver(host: Host, inTurn: (workload: string, work: () => Promise<void>) => Promise<void>) {
  for (const workload of host.state.frozen())
    await inTurn(workload, async () => {
      if (host.state.freezing.has(workload)) return
      await thaw(host, workload).catch((error) =>
        log('warning', 'a guest that was frozen does not answer', { workload, error: wordsOf(error) }),
      )
    })
}

/** A guest that is off is frozen no more, nor is one whose agent cannot freeze. */
async function thaw(host: Host, workload: string): Promise<number> {
  const power = await host.hypervisor.power(workload)
  let thawed = 0
  if (power === 'running' || power === 'paused')
    thawed = await host.guestAgent.thaw(workload).catch((error: unknown) => {
      if (error instanceof Failure && error.code === 'guest_refused') return 0
      throw error
    })
  host.state.noteThawed(workload)
  return thawed
}
