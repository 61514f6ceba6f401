// Looks at what a guest has after its installation: the addresses of its card, its name, how root signs in. An answer
// of the card says that the system took an address; the guest agent's words are its claim. The agent answers before
// SSH does, and before cloud-init has said how root signs in: both are waited for.
import { say } from '../../controller-link/job-log.ts'
import { Failure, wordsOf } from '../../failure.ts'
import type { Host } from '../../host/host.ts'
import type { GuestLook, GuestSeen } from '../../protocol/wire.ts'

const PAUSE_MS = 1000
const MOST = 100

/** Looks again until all of it is there, at most `limitSeconds`. A guest that lacks something is no failure. */
export async function lookAtGuest(host: Host, workload: string, wanted: GuestLook): Promise<GuestSeen> {
  const until = performance.now() + wanted.limitSeconds * 1000
  const answering = new Set<string>()
  const ask = askerOf(host, wanted)
  for (;;) {
    const missing = wanted.addresses.filter((address) => !answering.has(address))
    for (const address of await ask(missing)) answering.add(address)
    // Before its words, which may be older than the end of a stage otherwise.
    const wasSetUp = await isSetUp(host, workload)
    const said = await wordsOfAgent(host, workload, wanted.mac)
    const reached = wanted.addresses.find((address) => answering.has(address))
    const port = reached === undefined ? 'silent' : await host.network.sshAt(reached)
    const seen = {
      answering: wanted.addresses.filter((address) => answering.has(address)),
      ...said,
      ssh: port === 'greets',
    }
    // A node without a route to the server hears nothing at all from its port, and waits for nothing.
    const isComplete = isAll(wanted, seen) && port !== 'closed' && wasSetUp
    if (isComplete || performance.now() + PAUSE_MS > until) return seen
    await Bun.sleep(PAUSE_MS)
  }
}

/** A host that cannot ask says so once. It then knows of no address that answers, and the agent's words are left. */
function askerOf({ network }: Host, wanted: GuestLook) {
  let canAsk = true
  return async (addresses: readonly string[]): Promise<string[]> => {
    if (!canAsk) return []
    try {
      return await network.answering(wanted, addresses)
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      canAsk = false
      say('warning', `The host cannot ask the guest for its addresses: ${wordsOf(error)}`)
      return []
    }
  }
}

const isAll = ({ addresses, names }: GuestLook, { answering, inside, hostname }: GuestSeen) =>
  addresses.every((address) => answering.includes(address) || inside?.includes(address)) &&
  (hostname === null || !names.length || names.includes(hostname))

/** cloud-init's own account of its stages: the one of this name has set passwords and the SSH server. */
const STATUS = '/run/cloud-init/status.json'
const STAGE = 'modules-config'

/** False while cloud-init goes on with it. A system without it, or without a guest agent, is as it is. */
async function isSetUp({ guestAgent }: Host, workload: string): Promise<boolean> {
  try {
    const text = new TextDecoder().decode(await guestAgent.readFile(workload, STATUS))
    const stage = (JSON.parse(text) as { v1?: Record<string, { finished?: unknown } | undefined> }).v1?.[STAGE]
    return stage === undefined || typeof stage.finished === 'number'
  } catch (error) {
    if (error instanceof Failure || error instanceof SyntaxError) return true
    throw error
  }
}

/** All null where no agent answers, or one that cannot say it. */
async function wordsOfAgent({ guestAgent }: Host, workload: string, mac: string) {
  const silent = { inside: null, hostname: null, signIn: null }
  if (!(await guestAgent.ping(workload))) return silent
  try {
    const { hostname } = await guestAgent.info(workload)
    const card = (await guestAgent.interfaces(workload)).find((one) => one.mac.toLowerCase() === mac)
    const inside = card?.addresses.map((cidr) => cidr.split('/')[0]!).slice(0, MOST) ?? []
    return { inside, hostname: hostname.slice(0, 253), signIn: await signInOf(guestAgent, workload) }
  } catch (error) {
    if (error instanceof Failure) return silent
    throw error
  }
}

/** The settings in force of OpenSSH; null where the guest has another server, or refuses to say. */
async function signInOf(agent: Host['guestAgent'], workload: string): Promise<GuestSeen['signIn']> {
  try {
    const { code, output } = await agent.exec(workload, ['/usr/sbin/sshd', '-T'], { limitSeconds: 10 })
    const says = (setting: string, ...values: string[]) => {
      const value = output.match(new RegExp(`^${setting} (\\S+)$`, 'mi'))?.[1]?.toLowerCase()
      return value !== undefined && values.includes(value)
    }
    if (code !== 0 || !/^permitrootlogin /im.test(output)) return null
    const root = says('permitrootlogin', 'yes')
    return {
      password: root && says('passwordauthentication', 'yes'),
      keys:
        (root || says('permitrootlogin', 'without-password', 'prohibit-password')) &&
        says('pubkeyauthentication', 'yes'),
    }
  } catch (error) {
    if (error instanceof Failure) return null
    throw error
  }
}
