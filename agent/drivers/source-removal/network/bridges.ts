// Whether the bridges of servers come back at the next boot without the panel's network service.
import { run } from '../../../host/exec.ts'
import type { RemovalBridge } from '../../../protocol/values/source-removal.ts'
import { bridgeExists } from '../domains.ts'
import { isThere, namesIn } from '../files.ts'
import { interfaces } from './interfaces.ts'
import { keyfiles } from './keyfiles.ts'
import { netplan } from './netplan.ts'
import { networkScripts } from './network-scripts.ts'
import { networkd } from './networkd.ts'
import type { LiveBridge, NetworkSettings } from './settings.ts'

/** In the order in which a host is asked which of them it uses. */
const ways: readonly NetworkSettings[] = [netplan, interfaces, networkScripts, networkd, keyfiles]
const QUIETLY = { mayFail: true, quietly: true, limitSeconds: 10 } as const

/** `servers`: how many servers use the bridge. `madeBy`: who else makes it, such as libvirt for one of its networks. */
export async function judgeBridge(name: string, servers: number, madeBy?: string): Promise<RemovalBridge> {
  const exists = await bridgeExists(name)
  const about = { name, servers, exists, settings: null, commands: null }
  if (madeBy) return { ...about, definedIn: madeBy, why: '' }
  const live = await liveBridge(name)
  let why = 'no network settings of this node define it'
  for (const way of ways) {
    const definition = (await way.bridges()).get(name)
    if (!definition) continue
    const unread = await way.unread()
    const hasPort = definition.ports.length > 0 || live.uplinks.length === 0
    if (unread === undefined && hasPort) return { ...about, definedIn: definition.file, why: '' }
    why = unread
      ? `${definition.file} defines it, but ${unread}`
      : `${definition.file} defines it without a port, and it has ${live.uplinks.join(', ')} now`
  }
  const way = await wayInUse()
  if (!way) return { ...about, definedIn: null, why: `${why}, and none that Berth knows are in use` }
  return { ...about, definedIn: null, why, settings: way.label, commands: await way.commands(live) }
}

async function wayInUse(): Promise<NetworkSettings | undefined> {
  for (const way of ways) if (await way.isInUse()) return way
  return undefined
}

type Shown = { addr_info?: { local: string; prefixlen: number; scope: string }[]; gateway?: string; dev?: string }
async function liveBridge(name: string): Promise<LiveBridge> {
  const ports = await namesIn(`/sys/class/net/${name}/brif`)
  // A port with these flags is the card of a vm.
  const taps = await Promise.all(ports.map((port) => isThere(`/sys/class/net/${port}/tun_flags`)))
  const shown = await answerOf('-j', 'address', 'show', 'dev', name)
  const routes = [
    ...(await answerOf('-j', '-4', 'route', 'show', 'default')),
    ...(await answerOf('-j', '-6', 'route', 'show', 'default')),
  ]
  return {
    name,
    uplinks: ports.filter((port, n) => !taps[n] && !/^(?:vnet|viifv|tap|veth)/.test(port)),
    addresses: shown
      .flatMap(({ addr_info = [] }) => addr_info)
      .filter(({ scope }) => scope === 'global')
      .map(({ local, prefixlen }) => `${local}/${prefixlen}`),
    gateways: routes.filter(({ dev }) => dev === name).flatMap(({ gateway }) => gateway ?? []),
  }
}
async function answerOf(...args: string[]): Promise<Shown[]> {
  const { code, out } = await run('ip', args, QUIETLY).catch(() => ({ code: 1, out: '' }))
  try {
    return code === 0 && out.trim() ? (JSON.parse(out) as Shown[]) : []
  } catch {
    return []
  }
}
