import { say } from '../controller-link/job-log.ts'
import { Failure, wordsOf } from '../failure.ts'
import type { Port } from '../state.ts'
import type { Host } from './host.ts'

/**
 * Loads the rules, starts the vm and limits it. Used by `startWanted` and after a boot of the host. Throws
 * `pool_silent` where a disk is in a pool that hangs: the hypervisor would hang with it. Throws `not_owned` for a vm
 * that a transfer has given, or not given yet, to this node, and `disk_in_use` while another host has a disk of it
 * open: two nodes never run it.
 */
export async function startVm(host: Host, workload: string) {
  if (host.state.isElsewhere(workload))
    throw new Failure('not_owned', `${workload} is another node's by a transfer, so it is not started here`)
  for (const pool of host.state.poolsOf(workload)) await host.storage.answering(pool)
  await mustBeClosedElsewhere(host, workload)
  await host.portSecurity.ensureFor(workload)
  await host.backupRuns.whileStarting(workload, () => host.hypervisor.start(workload))
  const port = host.state.port(workload)
  if (port) {
    await limitOrWarn(() => host.network.limit(port))
    const { cpuPercent } = port.speed
    if (cpuPercent !== null) await limitOrWarn(() => host.hypervisor.limitCpu(workload, cpuPercent))
  }
  await announceAddresses(host, workload, host.state.floating(workload))
}

/** Starts the vm, now and after reboots of the host. Throws `no_port_rules`, and as `startVm`. */
export async function startWanted(host: Host, workload: string) {
  if (!host.state.hasPortRules(workload))
    throw new Failure('no_port_rules', `${workload} has no firewall rules on this node yet, so it is not started`)
  await startVm(host, workload)
  // Last, so that a start that failed is not repeated at every boot. After a crash before it the command runs again.
  host.state.wantRunning(workload)
}

const LOOK_AGAIN_MS = 2000

/**
 * Ceph lets two hosts write one image in turn, so it keeps nobody from starting a vm twice. A host that has died counts
 * for a while as having its images open, and that is waited for.
 */
async function mustBeClosedElsewhere({ hypervisor, state, storage }: Host, workload: string) {
  const pools = state.poolsOf(workload).map(storage.pool)
  const shared = pools.filter((pool) => pool.openedBy)
  if (!shared.length || (await hypervisor.power(workload)) === 'running') return
  const disks = [workload, ...state.attachedTo(workload).map((volume) => volume.workload)]
  const opened = async () =>
    (await Promise.all(shared.flatMap((pool) => disks.map((disk) => pool.openedBy!(disk))))).flat()
  const until = performance.now() + Math.max(...shared.map(({ forgetsMs = 0 }) => forgetsMs))
  let others = await opened()
  if (others.length) say('info', `Its disk is open on ${others[0]}; the start waits until it is closed there`)
  for (; others.length && performance.now() < until; others = await opened()) await Bun.sleep(LOOK_AGAIN_MS)
  if (others.length)
    throw new Failure(
      'disk_in_use',
      `${[...new Set(others)].join(', ')} has a disk of ${workload} open, so it is not started here. Switch that ` +
        'host off, or let the cluster refuse it: ceph osd blocklist add ADDRESS',
    )
}

/** Limits the port, the processor time and the disks of a running vm. Throws `tool_failed` where the kernel cannot. */
export async function limitVm(host: Pick<Host, 'hypervisor' | 'network'>, workload: string, port: Port) {
  const results = await Promise.allSettled([
    host.network.limit(port),
    host.hypervisor.limitCpu(workload, port.speed.cpuPercent),
    host.hypervisor.limitDisks(workload, port.speed.disk),
  ])
  for (const result of results) if (result.status === 'rejected') throw result.reason
}

/** Not every kernel can limit a port, and a vm without a limit is better than a vm that does not start. */
async function limitOrWarn(limit: () => Promise<void>) {
  try {
    await limit()
  } catch (error) {
    say('warning', `Its speed could not be limited: ${wordsOf(error)}`)
  }
}

/**
 * Tells the neighbours that these addresses of the vm are here. Without it they find it out when their caches
 * end, so a failure is a warning.
 */
export async function announceAddresses(host: Host, workload: string, addresses: readonly string[]) {
  const rules = host.state.portRulesOf(workload)
  if (!rules || !addresses.length) return
  try {
    await host.network.announce(rules, addresses)
  } catch (error) {
    say('warning', `The address is in force but could not be announced: ${wordsOf(error)}`)
  }
}
