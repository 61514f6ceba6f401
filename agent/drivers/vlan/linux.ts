// VLANs by the kernel's own devices (8021q). The interface of a VLAN and its bridge have no addresses, and the host
// answers nobody in the VLAN: only vms and the switch are there.
import { existsSync, readFileSync } from 'node:fs'
import { run } from '../../host/exec.ts'
import { hasVlan, type Uplink, withoutVlans } from '../../protocol/wire.ts'
import { block, chain, dropped } from '../firewall/nft-text.ts'
import { bondIn } from './bonding.ts'
import { deviceOf, type UplinkSettings, type Vlans, vlanBridgeOf } from './vlans.ts'

const TABLE = 'berth_vlan'
const BRIDGE = /^bvb([0-9]{1,4})$/
const OURS = /^bv[lb][0-9]{1,4}$/
type Link = {
  ifname: string
  /** The device below it. */
  link?: string
  master?: string
  flags?: string[]
  operstate?: string
  linkinfo?: { info_kind?: string; info_data?: { id?: number } }
}
type Links = ReadonlyMap<string, Link>

/** The line for `ip -batch` that makes the interface of a VLAN; tests on a kernel without VLANs have another. */
export type DeviceLine = (uplink: string, vlan: number) => string
const vlanDevice: DeviceLine = (uplink, vlan) => `link add link ${uplink} name ${deviceOf(vlan)} type vlan id ${vlan}`

export class LinuxVlans implements Vlans {
  /** The rules in force as the kernel listed them right after they were loaded. */
  private listing: string | undefined

  constructor(private deviceLine: DeviceLine = vlanDevice) {}

  async look({ name, vlans }: UplinkSettings): Promise<Uplink> {
    const links = await linksOfHost()
    const link = links.get(name)
    const without = (problem: string): Uplink => ({ name, up: false, vlans: [], problem })
    if (!link) return without(`this node has no interface ${name}`)
    const bond = bondOf(name)
    const uplink = { name, up: hasLink(link), ...(bond && { bond }) }
    if (!vlans.length) return { ...uplink, vlans: [] }
    const missing = await vlanSupport()
    if (missing) return { ...uplink, vlans: [], problem: missing }
    const foreign = foreignIn(links, name).filter(({ id }) => hasVlan(vlans, id))
    const left = withoutVlans(
      vlans,
      foreign.map(({ id }) => id),
    )
    const used = foreign.map(({ id, ifname }) => `VLAN ${id} is ${ifname} of the host itself`).join(', ')
    return { ...uplink, vlans: left, ...(used && { problem: used.slice(0, 300) }) }
  }

  async apply(uplink: string | undefined, vlans: readonly number[]) {
    const links = await linksOfHost()
    const problems = new Map<number, string>()
    // Rules first: nothing of a VLAN ever reaches the host.
    await this.load(vlans.length > 0 || [...links.keys()].some((name) => OURS.test(name)))
    await ipBatch(obsolete(links, vlans))
    if (uplink === undefined) return problems
    for (const vlan of vlans) {
      const problem = await this.make(links, uplink, vlan)
      if (problem !== undefined) problems.set(vlan, problem)
    }
    return problems
  }

  private async make(links: Links, uplink: string, vlan: number): Promise<string | undefined> {
    if (!links.has(uplink)) return `this node has no interface ${uplink}`
    const foreign = foreignIn(links, uplink).find(({ id }) => id === vlan)
    if (foreign) return `VLAN ${vlan} of ${uplink} is ${foreign.ifname}, which belongs to the host itself`
    const lines = missing(links, { uplink, vlan, deviceLine: this.deviceLine })
    if (!lines.length) return undefined
    const { code, err } = await run('ip', ['-batch', '-'], { stdin: `${lines.join('\n')}\n`, mayFail: true })
    return code === 0 ? undefined : `VLAN ${vlan} of ${uplink} cannot be set up: ${err.trim().slice(0, 200)}`
  }

  private async load(isNeeded: boolean) {
    if (!isNeeded) return
    if (this.listing !== undefined && this.listing === (await listing())) return
    await run('nft', ['-f', '-'], { stdin: rules() })
    this.listing = await listing()
  }
}

/** The host answers for all of its addresses on every interface, also on one that has none. */
const rules = () =>
  [
    `table bridge ${TABLE}`,
    `delete table bridge ${TABLE}`,
    ...block(
      `table bridge ${TABLE}`,
      chain('host', [
        'type filter hook input priority -290; policy accept;',
        `iifname "bvl*" ${dropped('no business with the host')}`,
      ]),
    ),
    '',
  ].join('\n')

async function listing(): Promise<string> {
  const { code, out } = await run('nft', ['--stateless', 'list', 'table', 'bridge', TABLE], {
    mayFail: true,
    quietly: true,
  })
  return code === 0 ? out : ''
}

/** The interfaces of VLANs on this uplink that are none of Berth's. */
const foreignIn = (links: Links, uplink: string): { id: number; ifname: string }[] =>
  [...links.values()].flatMap(({ ifname, link, linkinfo }) =>
    link === uplink && linkinfo?.info_kind === 'vlan' && linkinfo.info_data?.id !== undefined && !OURS.test(ifname)
      ? [{ id: linkinfo.info_data.id, ifname }]
      : [],
  )

/** Bridges of other VLANs on which no vm is, with the interfaces in them. */
function obsolete(links: Links, vlans: readonly number[]): string[] {
  const wanted = new Set(vlans)
  return [...links.keys()].flatMap((name) => {
    const id = Number(BRIDGE.exec(name)?.[1])
    if (Number.isNaN(id) || wanted.has(id)) return []
    const own = deviceOf(id)
    const isUsed = [...links.values()].some(({ ifname, master }) => master === name && ifname !== own)
    return isUsed ? [] : [...(links.has(own) ? [`link del ${own}`] : []), `link del ${name}`]
  })
}

type Wanted = { uplink: string; vlan: number; deviceLine: DeviceLine }
function missing(links: Links, { uplink, vlan, deviceLine }: Wanted): string[] {
  const [bridge, device] = [vlanBridgeOf(vlan), deviceOf(vlan)]
  const known = links.get(device)
  // On another uplink than before it is made anew; vms stay on the bridge.
  const isMisplaced = known !== undefined && known.link !== uplink
  const isThere = known !== undefined && !isMisplaced
  const isUp = (link: Link | undefined) => link?.flags?.includes('UP') === true
  return [
    ...(links.has(bridge) ? [] : [`link add name ${bridge} type bridge stp_state 0 mcast_snooping 0`]),
    // Each in a line of its own: with `up` beside it, the kernel makes a link-local address first.
    ...(isUp(links.get(bridge)) ? [] : [`link set dev ${bridge} addrgenmode none`, `link set dev ${bridge} up`]),
    ...(isMisplaced ? [`link del ${device}`] : []),
    ...(isThere ? [] : [deviceLine(uplink, vlan)]),
    ...(isThere && isUp(known) && known.master === bridge
      ? []
      : [`link set dev ${device} addrgenmode none master ${bridge}`, `link set dev ${device} up`]),
  ]
}

async function linksOfHost(): Promise<Links> {
  const { out } = await run('ip', ['-json', '-details', 'link', 'show'], { quietly: true, outputCapBytes: 32 << 20 })
  return new Map((JSON.parse(out || '[]') as Link[]).map((link) => [link.ifname, link]))
}

/** Of some drivers the kernel does not know the state. */
const hasLink = ({ flags = [], operstate }: Link) =>
  operstate === 'UP' || (operstate === 'UNKNOWN' && flags.includes('UP'))

function bondOf(name: string): Uplink['bond'] {
  const file = `/proc/net/bonding/${name}`
  return existsSync(file) ? bondIn(readFileSync(file, 'utf8')) : undefined
}

/** Undefined: the kernel has VLANs. Else the reason why not. */
async function vlanSupport(): Promise<string | undefined> {
  if (existsSync('/proc/net/vlan')) return undefined
  await run('modprobe', ['8021q'], { mayFail: true, quietly: true }).catch(() => {})
  return existsSync('/proc/net/vlan') ? undefined : 'the kernel of this node has no VLANs: it lacks the module 8021q'
}

async function ipBatch(lines: readonly string[]) {
  if (lines.length) await run('ip', ['-batch', '-'], { stdin: `${lines.join('\n')}\n` })
}
