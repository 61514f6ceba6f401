// Vms on a Linux bridge, which the operator configures and Berth never changes. Speed limits are set here and not by
// libvirt, whose <bandwidth> needs queue disciplines that not every kernel has.

import { Failure } from '../../failure.ts'
import { run } from '../../host/exec.ts'
import { BRIDGE_NAME } from '../../protocol/bounds.ts'
import type { Facts } from '../../protocol/wire.ts'
import type { Port } from '../../state.ts'
import { announceOnBridge } from './announce.ts'
import { answeringAt } from './neighbours.ts'
import type { Network, RoutedPrefix, SshState } from './network.ts'
import { pinged } from './ping.ts'
import { setRoutes } from './routes.ts'

const SSH_PORT = 22
const CONNECT_LIMIT_MS = 1000
const SSH_LIMIT_MS = 1000
/** A bucket of 10 ms of traffic, never less than a few full frames with offloading. */
const BURST_SECONDS = 0.01
const LEAST_BURST_BYTES = 128 << 10
/** Under load a frame waits this long at most. 20 to 30 ms hold the limit as well as 100 do. */
const QUEUE = ['latency', '25ms']
const EVERY_FRAME = ['protocol', 'all', 'u32', 'match', 'u32', '0', '0']
const isUsable = new RegExp(`^${BRIDGE_NAME}$`)
const bucketOf = (mbps: number) => {
  const burst = Math.max(LEAST_BURST_BYTES, Math.round((mbps * 1e6 * BURST_SECONDS) / 8))
  return ['tbf', 'rate', `${mbps}mbit`, 'burst', `${burst}`, ...QUEUE]
}
/** The bridges of private networks and of VLANs, which Berth makes itself, are none to choose from. */
const OWN = /^b[pv]b[0-9]+$/
const redirectedTo = (device: string) => ['action', 'mirred', 'egress', 'redirect', 'dev', device]

export class Bridges implements Network {
  async mustHaveBridge(name: string) {
    const bridges = (await interfaces()).filter(({ isBridge }) => isBridge)
    if (bridges.some((bridge) => bridge.name === name)) return
    const there = bridges.map(({ name }) => name).join(', ') || 'none'
    throw new Failure('no_bridge', `this node has no bridge ${name}; bridges here: ${there}`)
  }

  /**
   * Limits traffic to the vm on the tap's queue, and traffic from it on an intermediate device, where it is egress
   * again. `replace` changes a queue of the same kind in place: nothing is lost, and nothing passes unlimited.
   */
  async limit({ tap, speed: { inMbps, outMbps } }: Port) {
    const names = new Set((await interfaces()).map(({ name }) => name))
    await this.limitQueue(tap, inMbps)
    const middle = middleOf(tap)
    if (outMbps === null) return this.removeMiddle(tap, names)
    if (!names.has(middle)) await run('ip', ['link', 'add', middle, 'type', 'ifb'])
    await run('ip', ['link', 'set', middle, 'up'])
    await this.limitQueue(middle, outMbps)
    const { out: queues } = await run('tc', ['qdisc', 'show', 'dev', tap, 'ingress'], { quietly: true })
    if (!/\bingress\b/.test(queues)) await run('tc', ['qdisc', 'add', 'dev', tap, 'ingress'])
    const { out: filters } = await run('tc', ['filter', 'show', 'dev', tap, 'parent', 'ffff:'], { quietly: true })
    if (!filters.includes(`Redirect to device ${middle})`))
      await run('tc', ['filter', 'add', 'dev', tap, 'parent', 'ffff:', ...EVERY_FRAME, ...redirectedTo(middle)])
  }

  async unlimit(tap: string) {
    const names = new Set((await interfaces()).map(({ name }) => name))
    if (names.has(tap)) await this.limitQueue(tap, null)
    await this.removeMiddle(tap, names)
  }

  private async limitQueue(device: string, mbps: number | null) {
    if (mbps === null) await run('tc', ['qdisc', 'del', 'dev', device, 'root'], { mayFail: true, quietly: true })
    else await run('tc', ['qdisc', 'replace', 'dev', device, 'root', ...bucketOf(mbps)])
  }

  private async removeMiddle(tap: string, names: ReadonlySet<string>) {
    if (names.has(tap)) await run('tc', ['qdisc', 'del', 'dev', tap, 'ingress'], { mayFail: true, quietly: true })
    if (names.has(middleOf(tap))) await run('ip', ['link', 'del', middleOf(tap)])
  }

  async announce(vm: { tap: string; mac: string }, addresses: readonly string[]) {
    announceOnBridge(vm, addresses)
    await forgetNeighbours(addresses)
  }

  async route(prefixes: readonly RoutedPrefix[]) {
    const bridges = new Set((await interfaces()).filter(({ isBridge }) => isBridge).map(({ name }) => name))
    await setRoutes(prefixes, (device) => bridges.has(device) && !OWN.test(device))
  }

  answering = (vm: { tap: string; mac: string }, addresses: readonly string[]) => answeringAt(vm, addresses)

  pinged = (addresses: readonly string[]) => pinged(addresses)

  accepts = (address: string, port: number) => accepts(address, port)

  sshAt = (address: string) => sshAt(address)
}

/** `bth17` → `bti17`: no longer than the tap's name, and with a prefix of our own too. */
const middleOf = (tap: string) => tap.replace(/^bth/, 'bti')

/** The host's bridges with their addresses, and all global addresses, in the form of `Facts`. */
export async function addressesOfHost(): Promise<Pick<Facts, 'bridges' | 'addresses'>> {
  const all = await interfaces()
  return {
    bridges: all
      .filter(({ isBridge, name }) => isBridge && isUsable.test(name) && !OWN.test(name))
      .map(({ name, addresses }) => ({ name, addresses })),
    addresses: all.flatMap(({ addresses }) => addresses),
  }
}

type Interface = { name: string; isBridge: boolean; addresses: string[] }
type IpLine = {
  ifname?: string
  linkinfo?: { info_kind?: string }
  addr_info?: { local?: string; prefixlen?: number; scope?: string }[]
}

async function interfaces(): Promise<Interface[]> {
  const { out } = await run('ip', ['-json', '-details', 'address', 'show'], { quietly: true, outputCapBytes: 32 << 20 })
  return (JSON.parse(out || '[]') as IpLine[]).map((line) => ({
    name: line.ifname ?? '',
    isBridge: line.linkinfo?.info_kind === 'bridge',
    addresses: (line.addr_info ?? [])
      .filter(({ scope, local }) => scope === 'global' && local)
      .map(({ local, prefixlen }) => `${local}/${prefixlen}`),
  }))
}

/** True when a TCP connection to the port comes about within a second; it is closed at once. */
export function accepts(address: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(false), CONNECT_LIMIT_MS)
  const opened = Bun.connect({
    hostname: address,
    port,
    socket: { open: () => resolve(true), data() {}, connectError: () => resolve(false), error: () => resolve(false) },
  })
  opened.catch(() => resolve(false))
  return promise.finally(() => {
    clearTimeout(timer)
    opened.then((socket) => socket.terminate()).catch(() => {})
  })
}

/** True when a TCP connection is greeted with an SSH banner within a second. */
export const greetsAsSsh = async (address: string, port = SSH_PORT) => (await sshAt(address, port)) === 'greets'

function sshAt(address: string, port = SSH_PORT): Promise<SshState> {
  const { promise, resolve } = Promise.withResolvers<SshState>()
  let greeting = ''
  let isOpen = false
  const timer = setTimeout(() => resolve(isOpen ? 'closed' : 'silent'), SSH_LIMIT_MS)
  const opened = Bun.connect({
    hostname: address,
    port,
    socket: {
      open() {
        isOpen = true
      },
      data(_socket, bytes) {
        greeting += bytes.toString('latin1')
        if (greeting.length >= 4) resolve(greeting.startsWith('SSH-') ? 'greets' : 'closed')
      },
      close: () => resolve('closed'),
      error: () => resolve('closed'),
      connectError: (_socket, error) => resolve(isRefusal(error) ? 'closed' : 'silent'),
    },
  })
  opened.catch((error) => resolve(isRefusal(error) ? 'closed' : 'silent'))
  return promise.finally(() => {
    clearTimeout(timer)
    opened.then((socket) => socket.terminate()).catch(() => {})
  })
}

/**
 * The host itself hears none of these frames. It would believe for up to half a minute that the addresses are where
 * they were before; now it asks for them again.
 */
async function forgetNeighbours(addresses: readonly string[]) {
  const lines = addresses.map((address) => `neighbour flush to ${address}`)
  if (lines.length) await run('ip', ['-batch', '-'], { stdin: `${lines.join('\n')}\n`, quietly: true })
}

const isRefusal = (error: unknown) => (error as { code?: string }).code === 'ECONNREFUSED'
