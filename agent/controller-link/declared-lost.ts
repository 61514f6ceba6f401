// A node that its controller has declared lost, or removed, stops everything: its servers may run elsewhere by now, and
// their addresses may be those of others.

import { parseCommand } from '../commands/index.ts'
import { wordsOf } from '../failure.ts'
import type { Host } from '../host/host.ts'
import { log } from '../log.ts'

const GRACE_SECONDS = 30

/**
 * Stops every vm and container, and nothing starts one again before a command does: that is written down before the
 * first is stopped. Disks stay. What cannot be stopped is logged; the next call tries it again. True: all are off.
 */
export async function stopAll(
  host: Host,
  inTurn: (workload: string, work: () => Promise<void>) => Promise<void>,
): Promise<boolean> {
  for (const { workload } of host.state.wanted()) host.state.wantStopped(workload)
  const [vms, containers] = await Promise.allSettled([host.hypervisor.look(), host.containers.look()])
  const running = [
    ...(vms.status === 'fulfilled' ? vms.value.ours.map((vm) => ({ ...vm, stop: 'vm.stop' as const })) : []),
    ...(containers.status === 'fulfilled'
      ? containers.value.map((c) => ({ ...c, stop: 'container.stop' as const }))
      : []),
  ].filter(({ off }) => !off)
  const stopped = await Promise.allSettled(
    running.map(({ id, stop }) =>
      inTurn(id, async () => {
        await parseCommand(stop, { workload: id, graceSeconds: GRACE_SECONDS }).work(host)
        log('warning', 'a workload was stopped, because this node was declared lost or removed', { workload: id })
      }),
    ),
  )
  const failed = [vms, containers, ...stopped].filter((each) => each.status === 'rejected')
  for (const { reason } of failed)
    log('error', 'a workload of this node, which was declared lost or removed, cannot be stopped yet', {
      error: wordsOf(reason),
    })
  return !failed.length
}
