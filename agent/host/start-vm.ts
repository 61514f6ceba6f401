import { say } from '../controller-link/job-log.ts'
import { wordsOf } from '../failure.ts'
import type { Port } from '../state.ts'
import type { Host } from './host.ts'

/** Loads the rules, starts the vm and limits its port. Used by `vm.start` and after a boot of the host. */
export async function startVm(host: Host, workload: string) {
  await host.portSecurity.ensure()
  await host.hypervisor.start(workload)
  const port = host.state.port(workload)
  if (port) await limitOrWarn(host, port)
}

/** Not every kernel can limit a port, and a vm without a limit is better than a vm that does not start. */
async function limitOrWarn(host: Host, port: Port) {
  try {
    await host.network.limit(port)
  } catch (error) {
    say('warning', `The port's speed could not be limited: ${wordsOf(error)}`)
  }
}
