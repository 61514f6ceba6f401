// The start of the agent, before it connects to the controller: first the rules, then the vms and containers.

import { sweepBackups } from '../drivers/backup/backup-runs.ts'
import { reopenTransfers } from '../drivers/transfer/opening.ts'
import { wordsOf } from '../failure.ts'
import { log } from '../log.ts'
import { sleep } from '../sleep.ts'
import type { Host } from './host.ts'
import type { Supervision } from './supervision.ts'

const AGAIN_AFTER_MS = 5000

/**
 * Loads the rules and starts the vms that should run and do not, once `mayStart` has resolved. Retries until it
 * succeeds or `signal` aborts, because the hypervisor may start later than the agent.
 */
export async function startVms(
  host: Host,
  supervision: Supervision,
  signal: AbortSignal,
  mayStart: Promise<unknown> = Promise.resolve(),
) {
  while (!signal.aborted) {
    try {
      await host.portSecurity.ensure()
      await host.privateNetworking.ensure()
      await host.access.ensure()
      await ensureVlans(host)
      await ensureRoutes(host)
      await reload('the names of HTTP ports', () => host.httpNames.ensure())
      void sweepBackups(host)
      void reopenTransfers(host, Date.now())
      await mayStart
      return await supervision.check()
    } catch (error) {
      log('error', 'the vms of this host cannot be started yet; trying again in 5 s', { error: wordsOf(error) })
      await sleep(AGAIN_AFTER_MS, signal)
    }
  }
}

/** Servers start also where a route cannot be set. */
const ensureRoutes = (host: Host) =>
  host.routing
    .ensure()
    .catch((error) => log('error', 'the IPv6 prefixes of vms cannot be routed', { error: wordsOf(error) }))

/** Servers in other networks start also where the bridge of a VLAN cannot be made. */
const ensureVlans = (host: Host) =>
  host.vlans
    .ensure()
    .catch((error) => log('error', 'the VLANs of vms cannot be set up; trying again', { error: wordsOf(error) }))

/** Checks every `everyMs` that the rules are in force, because other programs may flush them, and loads them again. */
export async function watchFirewall(host: Host, signal: AbortSignal, everyMs = 60_000) {
  while (!signal.aborted) {
    await sleep(everyMs, signal)
    if (signal.aborted) return
    await ensureVlans(host)
    await ensureRoutes(host)
    // Each on its own: one that is changed or cannot be checked must not keep the other from being checked.
    await reload('the port rules', () => host.portSecurity.ensure())
    await reload('the rules of the instances', () => host.access.ensure())
    await reload('the names of HTTP ports', () => host.httpNames.ensure())
  }
}

async function reload(what: string, ensure: () => Promise<boolean>) {
  try {
    if (await ensure()) log('warning', `another program changed ${what}; they are loaded again`)
  } catch (error) {
    log('error', `${what} cannot be checked or loaded`, { error: wordsOf(error) })
  }
}
