// Private networks by VXLAN and Linux bridges. The kernel learns nothing: the controller knows on which node each MAC
// address is, and a frame to all goes to every peer.
import { run } from '../../host/exec.ts'
import type { PrivateNetwork } from '../../protocol/wire.ts'
import { bridgeOf, mtuOf, type PrivateNetworks, vxlanOf } from './private-network.ts'
import { privateRuleset, TABLE, VXLAN_PORT } from './ruleset.ts'

const EVERYBODY = '00:00:00:00:00:00'
const OURS = /^bp[xb][0-9]{1,8}$/
type Device = { ifname: string; linkinfo?: { info_data?: { local?: string; local6?: string } } }
type Entry = { mac: string; dst?: string }

export class Vxlans implements PrivateNetworks {
  /** The rules that were loaded last, and the kernel's listing right after. */
  private loaded: { rules: string; listing: string } | undefined

  async apply(networks: readonly PrivateNetwork[]) {
    const devices = await ours()
    // Rules first: a port never sends without them.
    await this.load(networks)
    await ipBatch([...obsolete(devices, networks), ...networks.flatMap((network) => missing(devices, network))])
    for (const network of networks) await this.setPeers(network)
  }

  private async load(networks: readonly PrivateNetwork[]) {
    const rules = networks.length ? privateRuleset(networks) : ''
    if (this.loaded?.rules === rules && this.loaded.listing === (await listing())) return
    if (rules) await run('nft', ['-f', '-'], { stdin: rules })
    else
      for (const family of ['bridge', 'inet'])
        await run('nft', ['delete', 'table', family, TABLE], { mayFail: true, quietly: true })
    this.loaded = { rules, listing: await listing() }
  }

  /** The forwarding entries of the device: those that lack are added and others removed, so that no frame is lost. */
  private async setPeers({ vni, peers }: PrivateNetwork) {
    const device = vxlanOf(vni)
    const { out } = await run('bridge', ['-json', 'fdb', 'show', 'dev', device], { quietly: true })
    const there = new Set(
      (JSON.parse(out || '[]') as Entry[]).flatMap(({ mac, dst }) => (dst ? [`${mac} ${dst}`] : [])),
    )
    const wanted = new Set(peers.flatMap(({ address, macs }) => [EVERYBODY, ...macs].map((mac) => `${mac} ${address}`)))
    const change = (what: string, entry: string) => {
      const [mac, dst] = entry.split(' ')
      return `fdb ${what} ${mac} dev ${device} dst ${dst} self permanent`
    }
    const lines = [
      ...[...there].filter((entry) => !wanted.has(entry)).map((entry) => change('del', entry)),
      ...[...wanted].filter((entry) => !there.has(entry)).map((entry) => change('append', entry)),
    ]
    if (lines.length) await run('bridge', ['-batch', '-'], { stdin: lines.join('\n') + '\n' })
  }
}

/** Devices of networks that are not wanted, or whose node has another address now. */
const obsolete = (devices: ReadonlyMap<string, Device>, networks: readonly PrivateNetwork[]) => {
  const wanted = new Map(networks.flatMap(({ vni, local }) => [[vxlanOf(vni), local] as const, [bridgeOf(vni), '']]))
  return [...devices].flatMap(([name, { linkinfo }]) => {
    const local = wanted.get(name)
    const { local: v4, local6: v6 } = linkinfo?.info_data ?? {}
    return local === undefined || (local !== '' && local !== (v4 ?? v6)) ? [`link del ${name}`] : []
  })
}

function missing(devices: ReadonlyMap<string, Device>, network: PrivateNetwork): string[] {
  const { vni, local } = network
  const [vxlan, bridge, mtu] = [vxlanOf(vni), bridgeOf(vni), mtuOf(local)]
  const { local: v4, local6: v6 } = devices.get(vxlan)?.linkinfo?.info_data ?? {}
  const isThere = devices.has(vxlan) && (v4 ?? v6) === local
  return [
    // The host itself takes no part: without addresses of its own it is no neighbour of the guests.
    ...(devices.has(bridge)
      ? []
      : [
          `link add name ${bridge} type bridge stp_state 0 mcast_snooping 0`,
          // Each in a line of its own: with `up` beside it, the kernel makes a link-local address first.
          `link set dev ${bridge} addrgenmode none mtu ${mtu}`,
          `link set dev ${bridge} up`,
        ]),
    ...(isThere
      ? []
      : [
          `link add name ${vxlan} type vxlan id ${vni} local ${local} dstport ${VXLAN_PORT} nolearning`,
          `link set dev ${vxlan} addrgenmode none mtu ${mtu} master ${bridge}`,
          `link set dev ${vxlan} up`,
        ]),
  ]
}

async function ours(): Promise<Map<string, Device>> {
  const { out } = await run('ip', ['-json', '-details', 'link', 'show'], { quietly: true, outputCapBytes: 32 << 20 })
  const devices = (JSON.parse(out || '[]') as Device[]).filter(({ ifname }) => OURS.test(ifname))
  return new Map(devices.map((device) => [device.ifname, device]))
}

async function ipBatch(lines: readonly string[]) {
  if (lines.length) await run('ip', ['-batch', '-'], { stdin: lines.join('\n') + '\n' })
}

async function listing(): Promise<string> {
  const texts = await Promise.all(
    ['bridge', 'inet'].map((family) =>
      run('nft', ['--stateless', 'list', 'table', family, TABLE], { mayFail: true, quietly: true }),
    ),
  )
  return texts.map(({ code, out }) => (code === 0 ? out : '')).join('\n')
}
