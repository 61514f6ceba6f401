// The start of the agent, before it connects to the controller: first the rules, then the vms. The hypervisor starts no
// vm by itself, so no vm ever runs without its rules.
import { wordsOf } from '../failure.ts'
import { log } from '../log.ts'
import type { Host } from './host.ts'
import { startVm } from './start-vm.ts'

const AT_ONCE = 2
const AGAIN_AFTER_MS = 5000

/**
 * Loads the rules and, after a boot of the host, starts the vms that ran before it. After a restart of the agent alone
 * the vms stay as they are: one that its owner shut down from inside stays off. Retries until it succeeds or `signal`
 * aborts, because the hypervisor may start later than the agent.
 */
export async function startVms(host: Host, signal: AbortSignal) {
  while (!signal.aborted) {
    try {
      await host.portSecurity.ensure()
      if (host.state.bootId() !== host.bootId) await startWanted(host)
      host.state.keepBootId(host.bootId)
      return
    } catch (error) {
      log('error', 'the vms of this host cannot be started yet; trying again in 5 s', { error: wordsOf(error) })
      await Bun.sleep(AGAIN_AFTER_MS)
    }
  }
}

/** Checks every `everyMs` that the rules are in force, because other programs may flush them, and loads them again. */
export async function watchFirewall(host: Host, signal: AbortSignal, everyMs = 60_000) {
  while (!signal.aborted) {
    await sleep(everyMs, signal)
    if (signal.aborted) return
    try {
      if (await host.portSecurity.ensure())
        log('warning', 'another program changed the port rules; they are loaded again')
    } catch (error) {
      log('error', 'the port rules cannot be checked or loaded', { error: wordsOf(error) })
    }
  }
}

async function startWanted(host: Host) {
  const { ours } = await host.hypervisor.look()
  const off = new Set(ours.filter((it) => it.power === 'stopped' || it.power === 'crashed').map((it) => it.id))
  const waiting = host.state.wantedRunning().filter((workload) => off.has(workload))
  if (waiting.length) log('info', 'the host has booted; starting its vms', { vms: waiting.length })
  const worker = async () => {
    for (let workload = waiting.shift(); workload; workload = waiting.shift()) await startOrLog(host, workload)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

/** A vm that does not start does not prevent the others from starting. */
async function startOrLog(host: Host, workload: string) {
  try {
    await startVm(host, workload)
    log('info', 'vm started after the boot of the host', { workload })
  } catch (error) {
    log('error', 'a vm did not start after the boot of the host', { workload, error: wordsOf(error) })
  }
}

/** Sleeps for `ms` milliseconds, or until `signal` aborts. */
export const sleep = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done, { once: true })
  })
