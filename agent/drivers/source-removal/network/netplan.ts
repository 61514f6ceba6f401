import { basename } from 'node:path'
import { textOf } from '../files.ts'
import {
  type BridgeDefinition,
  filesIn,
  hasOneOf,
  isIpv6,
  keepCopy,
  type LiveBridge,
  type NetworkSettings,
  writing,
} from './settings.ts'

const DIR = '/etc/netplan'
const VENDOR_DIR = '/usr/lib/netplan'
/** Sections whose devices can be ports of a bridge. */
const DEVICES = ['ethernets', 'bonds', 'vlans'] as const
/** Settings that a device gives to its bridge together with its addresses. */
const MOVES = [
  ...['addresses', 'dhcp4', 'dhcp6', 'dhcp4-overrides', 'dhcp6-overrides', 'gateway4', 'gateway6', 'routes'],
  ...['routing-policy', 'nameservers', 'accept-ra', 'link-local', 'ipv6-privacy'],
]

type Settings = Record<string, unknown>
type File = { path: string; network: Settings }

/** The files that count, in the order in which they do: one of /etc replaces one of the same name. */
async function files(): Promise<File[]> {
  const paths = new Map<string, string>()
  for (const dir of [VENDOR_DIR, DIR]) for (const path of await filesIn(dir, '.yaml')) paths.set(basename(path), path)
  const found: File[] = []
  for (const [, path] of [...paths].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const network = networkIn((await textOf(path)) ?? '')
    if (network) found.push({ path, network })
  }
  return found
}
function networkIn(text: string): Settings | undefined {
  try {
    return objectOf((Bun.YAML.parse(text) as Settings | null)?.['network'])
  } catch {
    // netplan refuses it too: nothing of it counts.
    return undefined
  }
}
const objectOf = (value: unknown): Settings | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Settings) : undefined

export const netplan: NetworkSettings = {
  label: 'netplan',

  async bridges() {
    const found = new Map<string, BridgeDefinition>()
    for (const { path, network } of await files())
      for (const [name, value] of Object.entries(objectOf(network['bridges']) ?? {})) {
        const ports = objectOf(value)?.['interfaces']
        const earlier = found.get(name)?.ports ?? []
        found.set(name, { file: path, ports: [...earlier, ...(Array.isArray(ports) ? ports.map(String) : [])] })
      }
    return found
  },

  unread: async () =>
    (await hasOneOf('/usr/sbin/netplan', '/sbin/netplan', '/usr/lib/systemd/system-generators/netplan'))
      ? undefined
      : 'netplan is not installed',

  isInUse: async () => (await netplan.unread()) === undefined && (await filesIn(DIR, '.yaml')).length > 0,

  /** The device's own addresses move to the bridge, in the file that has them. */
  async commands({ name, uplinks, addresses, gateways }) {
    const all = await files()
    const written: string[] = []
    const bridge: Settings = { interfaces: [] as string[], parameters: { stp: false, 'forward-delay': 0 } }
    let place: File | undefined
    for (const uplink of uplinks) {
      const at = all.flatMap((file) => {
        for (const section of DEVICES)
          for (const [id, device] of Object.entries(objectOf(file.network[section]) ?? {}))
            if (id === uplink || objectOf(device)?.['set-name'] === uplink)
              return [{ file, id, device: objectOf(device) }]
        return []
      })
      const [first] = at
      ;(bridge['interfaces'] as string[]).push(first?.id ?? uplink)
      for (const { file, device } of at) {
        if (!device) continue
        for (const key of MOVES) {
          if (device[key] === undefined) continue
          bridge[key] ??= device[key]
          delete device[key]
        }
        device['dhcp4'] = false
        device['dhcp6'] = false
        place ??= file
        if (!written.includes(file.path)) written.push(file.path)
      }
      if (!first) {
        place ??= { path: `${DIR}/60-${name}.yaml`, network: { version: 2 } }
        const ethernets = objectOf(place.network['ethernets']) ?? {}
        place.network['ethernets'] = { ...ethernets, [uplink]: { dhcp4: false, dhcp6: false } }
      }
    }
    place ??= { path: `${DIR}/60-${name}.yaml`, network: { version: 2 } }
    if (bridge['addresses'] === undefined && bridge['dhcp4'] !== true && addresses.length) {
      bridge['addresses'] = addresses
      if (gateways.length) bridge['routes'] = gateways.map((via) => ({ to: isIpv6(via) ? '::/0' : '0.0.0.0/0', via }))
    }
    place.network['bridges'] = { ...objectOf(place.network['bridges']), [name]: bridge }
    const changed = new Set([place, ...all.filter(({ path }) => written.includes(path))])
    return [
      keepCopy(name, DIR),
      ...[...changed].map(({ path, network }) =>
        writing(path.replace(VENDOR_DIR, DIR), Bun.YAML.stringify({ network }, null, 2), '600'),
      ),
      'netplan generate',
    ].join('\n')
  },
}
export type { LiveBridge }
