// What happens at every start of the agent, before the controller is asked anything: first the rules, then the guests. The
// hypervisor starts none by itself, so no guest ever runs without its rules.
import { wordsOf } from '../failure.ts'
import { log } from '../log.ts'
import type { Host } from './host.ts'
import { startVm } from './start-vm.ts'

const AT_ONCE = 2
const AGAIN_AFTER_MS = 5000

/**
 * Loads the rules and, after a boot of the host, starts the guests that ran before it. After a mere restart of the agent
 * guests stay as they are: one that its owner shut down from inside must not come back by itself.
 * Goes on until it is done or `signal` ends it; a hypervisor that starts later than the agent is waited for.
 */
export async function startVms(host: Host, signal: AbortSignal) {
  while (!signal.aborted) {
    try {
      await host.portSecurity.ensure()
      if (host.state.bootId() !== host.bootId) await startWanted(host)
      host.state.keepBootId(host.bootId)
      return
    } catch (error) {
      log('error', 'the guests of this host cannot be brought up yet; trying again in 5 s', { error: wordsOf(error) })
      await Bun.sleep(AGAIN_AFTER_MS)
    }
  }
}

/** Keeps the rules in force: whatever else manages this host's firewall may flush them at any time. */
export async function watchFirewall(host: Host, signal: AbortSignal, everyMs = 60_000) {
  while (!signal.aborted) {
    await sleep(everyMs, signal)
    if (signal.aborted) return
    try {
      if (await host.portSecurity.ensure())
        log('warning', 'the guest rules were changed by somebody else; they are loaded again')
    } catch (error) {
      log('error', 'the guest rules cannot be checked or loaded', { error: wordsOf(error) })
    }
  }
}

async function startWanted(host: Host) {
  const { ours } = await host.hypervisor.look()
  const off = new Set(ours.filter((it) => it.power === 'stopped' || it.power === 'crashed').map((it) => it.id))
  const waiting = host.state.wantedRunning().filter((workload) => off.has(workload))
  if (waiting.length) log('info', 'the host has booted; starting its guests', { guests: waiting.length })
  const worker = async () => {
    for (let workload = waiting.shift(); workload; workload = waiting.shift()) await startOrLog(host, workload)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

/** One guest that does not start must not keep the others off. */
async function startOrLog(host: Host, workload: string) {
  try {
    await startVm(host, workload)
    log('info', 'guest started after the boot of the host', { workload })
  } catch (error) {
    log('error', 'a guest did not start after the boot of the host', { workload, error: wordsOf(error) })
  }
}

/** Sleeps, or wakes at once when `signal` aborts. */
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
