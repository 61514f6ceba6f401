// Rows of Virtualizor as records. Every number may be text, 0 stands for no limit, and 0 is the id of the panel's host.
import type {
  SourceHypervisor,
  SourceOwner,
  SourcePackage,
  SourceServer,
  SourceState,
  SourceVirtualization,
} from '../source.ts'
import { isWindowsName, osName } from '../values/os-name.ts'
import {
  email,
  entriesOf,
  field,
  flag,
  id,
  isObject,
  type JsonObject,
  mac,
  reference,
  text,
  time,
} from '../values/scalars.ts'
import { countOf, diskGb, memoryMb, speedMbps, swapMb, trafficBytes, vcpus } from '../values/size.ts'

type Found<T> = { id: string; value: T } | null
const found = <T extends { id: string }>(value: T): { id: string; value: T } => ({ id: value.id, value })

const containers: ReadonlySet<string> = new Set(['openvz', 'vzo', 'proxo', 'lxc', 'proxl'])
export const virtualization = (value: unknown): SourceVirtualization => {
  const written = text(value)?.toLowerCase()
  if (written === undefined) return 'unknown'
  return written === 'kvm' ? 'kvm' : containers.has(written) ? 'container' : 'other'
}

/** The panel counts traffic in gigabytes, and speed in kilobytes a second. */
const TRAFFIC_UNIT_BYTES = 1e9
const MBPS_OF_KBYTES = 8 / 1000

/** The host of the panel itself. */
export const PANEL_HOST = '0'

/** `hosts`: the addresses in the panel, of which one may be "localhost". */
export type HypervisorDraft = Omit<SourceHypervisor, 'addresses' | 'isPanel'> & { hosts: readonly (string | null)[] }

export function hypervisorOf(row: JsonObject): Found<HypervisorDraft> {
  const own = id(field(row, 'serid'))
  if (own === null) return null
  const main = text(field(row, 'virt'))
  const kinds = entriesOf(field(row, 'virts')).map(([, one]) => virtualization(one))
  const status = text(field(row, 'status'))
  return found({
    id: own,
    name: text(field(row, 'server_name')) ?? own,
    address: text(field(row, 'ip')) ?? '',
    hosts: [text(field(row, 'ip')), text(field(row, 'internal_ip'))],
    virtualizations: kinds.length > 0 ? kinds : main === null ? [] : [virtualization(main)],
    network: null,
    bridges: [],
    location: text(field(row, 'location')),
    isReachable: status === null ? null : flag(status),
    servers: countOf(field(row, 'numvps')),
  })
}

export function packageOf(row: JsonObject): Found<SourcePackage> {
  const own = id(field(row, 'plid'))
  if (own === null) return null
  const speedOf = (name: string) => speedMbps(field(row, name), MBPS_OF_KBYTES)
  return found({
    id: own,
    name: text(field(row, 'plan_name')) ?? own,
    virtualization: virtualization(field(row, 'virt')),
    vcpus: vcpus(field(row, 'cores')),
    memoryMb: memoryMb(field(row, 'ram')),
    diskGb: diskGb(field(row, 'space')),
    swapMb: swapMb(field(row, 'swap')),
    trafficBytes: trafficBytes(field(row, 'bandwidth'), TRAFFIC_UNIT_BYTES),
    trafficCounts: 'both',
    // The speed of the network limits both directions; one for uploads may be set beside it.
    speed: { inMbps: speedOf('network_speed'), outMbps: speedOf('upload_speed') ?? speedOf('network_speed') },
    ipv4: countOf(field(row, 'ips')),
    billingId: own,
  })
}

const kinds: Readonly<Record<string, SourceOwner['kind']>> = { '1': 'staff', '2': 'reseller' }
export function ownerOf(row: JsonObject): Found<SourceOwner> {
  const own = id(field(row, 'uid'))
  if (own === null) return null
  const type = text(field(row, 'type')) ?? ''
  return found({
    id: own,
    email: email(field(row, 'email')),
    name: nameIn(field(row, 'preferences')),
    kind: (Object.hasOwn(kinds, type) && kinds[type]) || 'customer',
    parentId: reference(field(row, 'pid')),
    isSuspended: isSuspended(field(row, 'suspended')),
    billingId: own,
  })
}
const isSuspended = (value: unknown): boolean => {
  const written = text(value)
  return written !== null && written !== '0'
}

/** The name in the preferences, which are an object or text of PHP's own form. */
function nameIn(preferences: unknown): string | null {
  const part = (name: string): string | null => {
    if (isObject(preferences)) return text(field(preferences, name))
    if (typeof preferences !== 'string') return null
    const at = preferences.slice(0, 10_000).indexOf(`s:5:"${name}";s:`)
    return at < 0 ? null : text(/^s:5:"\w{5}";s:\d{1,4}:"([^"]{0,100})"/.exec(preferences.slice(at, at + 150))?.[1])
  }
  const parts = [part('fname'), part('lname')].filter((one) => one !== null)
  return parts.length > 0 ? parts.join(' ') : null
}

const DOMAIN = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/
const states: Readonly<Record<string, SourceState>> = { '0': 'stopped', '1': 'running' }
/** In old versions the state stands alone, in newer ones in an object. 2 is suspended: it may do both. */
export function stateOf(value: unknown): SourceState {
  const written = text(isObject(value) ? field(value, 'status') : value) ?? ''
  return (Object.hasOwn(states, written) && states[written]) || 'unknown'
}

export type Template = { name: string | null; isWindows: boolean }
export const templateOf = (row: JsonObject): Template => ({
  name: text(field(row, 'name')),
  isWindows: text(field(row, 'distro'))?.toLowerCase() === 'windows' || isWindowsName(field(row, 'name')),
})

/** A server without its addresses and its state, which other answers tell. */
export function serverOf(
  row: JsonObject,
  templates: ReadonlyMap<string, Template>,
  plans: ReadonlyMap<string, string>,
): Found<Omit<SourceServer, 'hypervisorId'> & { hypervisorId: string | null }> {
  const own = id(field(row, 'vpsid'))
  if (own === null) return null
  const domain = text(field(row, 'vps_name'))
  const template = templates.get(text(field(row, 'osid')) ?? '')
  const written = text(field(row, 'os_name')) ?? template?.name ?? null
  const packageId = reference(field(row, 'plid'))
  return found({
    id: own,
    uuid: text(field(row, 'uuid'), 64),
    // The number in it is another than the id: no other name may stand in its place.
    domain: domain !== null && DOMAIN.test(domain) ? domain : null,
    name: text(field(row, 'hostname')) ?? domain ?? own,
    hypervisorId: id(field(row, 'serid')),
    ownerId: reference(field(row, 'uid')),
    ownerEmail: email(field(row, 'email')),
    packageId,
    packageName: packageId === null ? null : (plans.get(packageId) ?? null),
    virtualization: virtualization(field(row, 'virt')),
    vcpus: vcpus(field(row, 'cores')),
    memoryMb: memoryMb(field(row, 'ram')),
    diskGb: diskGb(field(row, 'space')),
    addresses: [],
    mac: mac(field(row, 'mac')),
    osName: osName(written),
    isWindows:
      text(field(row, 'os_distro'))?.toLowerCase() === 'windows' ||
      isWindowsName(written) ||
      (template?.isWindows ?? false) ||
      (flag(field(row, 'rdp')) && written === null),
    isSuspended: isSuspended(field(row, 'suspended')) || isSuspended(field(row, 'nw_suspended')),
    isInRescue: flag(field(row, 'rescue')),
    state: 'unknown',
    createdAt: time(field(row, 'time')),
    billingId: own,
  })
}
