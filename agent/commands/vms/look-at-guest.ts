// Looks at what a guest has after its installation: the addresses of its card, its name, how root signs in. An answer
// of the card says that the system took an address; the guest agent's words are its claim.
import { Failure } from '../../failure.ts'
import type { Host } from '../../host/host.ts'
import type { GuestLook, GuestSeen } from '../../protocol/wire.ts'

const PAUSE_MS = 1000
const MOST = 100

/** Looks again until all of it is there, at most `limitSeconds`. A guest that lacks something is no failure. */
export async function lookAtGuest(host: Host, workload: string, wanted: GuestLook): Promise<GuestSeen> {
  const until = performance.now() + wanted.limitSeconds * 1000
  const answering = new Set<string>()
  for (;;) {
    const missing = wanted.addresses.filter((address) => !answering.has(address))
    for (const address of await host.network.answering(wanted, missing)) answering.add(address)
    const said = await wordsOfAgent(host, workload, wanted.mac)
    const reached = wanted.addresses.find((address) => answering.has(address))
    const ssh = reached !== undefined && (await host.network.sshAnswers(reached))
    const seen = { answering: wanted.addresses.filter((address) => answering.has(address)), ...said, ssh }
    if (isAll(wanted, seen) || performance.now() + PAUSE_MS > until) return seen
    await Bun.sleep(PAUSE_MS)
  }
}

const isAll = ({ addresses, names }: GuestLook, { answering, inside, hostname }: GuestSeen) =>
  addresses.every((address) => answering.includes(address) || inside?.includes(address)) &&
  (hostname === null || !names.length || names.includes(hostname))

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
