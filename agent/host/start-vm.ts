import { say } from '../controller-link/job-log.ts'
import { wordsOf } from '../failure.ts'
import type { Port } from '../state.ts'
import type { Host } from './host.ts'

/** Starts a guest behind its rules and with its speed limit. Also what happens after a reboot of the host. */
export async function startVm(host: Host, workload: string) {
  await host.portSecurity.ensure()
  await host.hypervisor.start(workload)
  const port = host.state.port(workload)
  if (port) await limitOrWarn(host, port)
}

/** A guest without its speed limit is better than no guest: hosts differ in what their kernels can shape. */
async function limitOrWarn(host: Host, port: Port) {
  try {
    await host.network.limit(port)
  } catch (error) {
    say('warning', `The port's speed could not be limited: ${wordsOf(error)}`)
  }
}
