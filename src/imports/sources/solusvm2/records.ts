// Rows of SolusVM 2 as records. Memory comes in bytes, disks in GiB; a limit counts only where it is switched on.
import type {
  SourceAddress,
  SourceDisk,
  SourceOwner,
  SourcePackage,
  SourceRange,
  SourceServer,
  SourceServerAddress,
  SourceState,
  SourceVirtualization,
} from '../source.ts'
import { address, endsFrom, endsOf, network, networkOf, prefixLength } from '../values/addresses.ts'
import { isWindowsName, osName } from '../values/os-name.ts'
import {
  email,
  entriesOf,
  field,
  flag,
  id,
  type JsonObject,
  mac,
  reference,
  rowsOf,
  text,
  time,
  uuid,
} from '../values/scalars.ts'
import { diskGb, memoryMbOfBytes, speedMbps, swapMbOfBytes, trafficBytes, vcpus } from '../values/size.ts'

type Found<T> = { id: string; value: T } | null
const found = <T extends { id: string }>(value: T): { id: string; value: T } => ({ id: value.id, value })

export const virtualization = (value: unknown): SourceVirtualization => {
  const written = text(value)?.toLowerCase()
  if (written === undefined) return 'unknown'
  return written === 'kvm' ? 'kvm' : written === 'vz' || written === 'openvz' ? 'container' : 'other'
}

const trafficUnits: Readonly<Record<string, number>> = {
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
  tib: 1024 ** 4,
  pib: 1024 ** 5,
}
const speedUnits: Readonly<Record<string, number>> = { kbps: 0.001, mbps: 1, gbps: 1000 }

/** The amount of a limit with its unit; null where it is switched off, or has a unit that is not known. */
function limit(row: JsonObject, name: string, units: Readonly<Record<string, number>>) {
  const found = field(row, 'limits', name)
  const unit = units[text(field(found, 'unit'))?.toLowerCase() ?? '']
  return flag(field(found, 'is_enabled')) && unit ? { amount: field(found, 'limit'), unit } : null
}
const traffic = (row: JsonObject, name: string): number | null => {
  const found = limit(row, name, trafficUnits)
  return found && trafficBytes(found.amount, found.unit)
}
const speed = (row: JsonObject, name: string): number | null => {
  const found = limit(row, name, speedUnits)
  return found && speedMbps(found.amount, found.unit)
}

function trafficOf(row: JsonObject): Pick<SourcePackage, 'trafficBytes' | 'trafficCounts'> {
  const total = traffic(row, 'network_total_traffic')
  const out = traffic(row, 'network_outgoing_traffic')
  const into = traffic(row, 'network_incoming_traffic')
  if (field(row, 'network_traffic_limit_type') === 'total' || (out === null && into === null))
    return { trafficBytes: total, trafficCounts: 'both' }
  return out === null ? { trafficBytes: into, trafficCounts: 'in' } : { trafficBytes: out, trafficCounts: 'out' }
}

export function packageOf(row: JsonObject): Found<SourcePackage> {
  const own = id(field(row, 'id'))
  if (own === null) return null
  return found({
    id: own,
    name: text(field(row, 'name')) ?? own,
    virtualization: virtualization(field(row, 'virtualization_type')),
    vcpus: vcpus(field(row, 'params', 'vcpu')),
    memoryMb: memoryMbOfBytes(field(row, 'params', 'ram')),
    diskGb: diskGb(field(row, 'params', 'disk')),
    swapMb: swapMbOfBytes(field(row, 'params', 'swap')),
    ...trafficOf(row),
    speed: { inMbps: speed(row, 'network_incoming_bandwidth'), outMbps: speed(row, 'network_outgoing_bandwidth') },
    ipv4: null,
    billingId: own,
  })
}

/** The vendor's own programs spell the names of some lists with brackets. */
const listOf = (row: JsonObject, name: string) => field(row, name) ?? field(row, `${name}[]`)

export function rangeOf(row: JsonObject): Found<SourceRange> {
  const own = id(field(row, 'id'))
  if (own === null) return null
  const isSet = field(row, 'list_type') === 'set'
  const cidr = network(field(row, 'range'))
  const gateway = address(field(row, 'gateway'))
  const from = address(field(row, 'from')) ?? gateway
  const version = /6/.test(text(field(row, 'type')) ?? '') || cidr?.version === 6 ? 6 : 4
  const mask = version === 4 ? prefixLength(field(row, 'netmask'), 4) : null
  const ofMask = from?.version === 4 && mask !== null ? networkOf(from.address, mask) : null
  const ends = isSet ? null : cidr ? endsOf(cidr.cidr) : endsFrom(field(row, 'from'), field(row, 'to'))
  return found({
    id: own,
    name: text(field(row, 'name')) ?? own,
    version,
    first: ends?.first ?? null,
    last: ends?.last ?? null,
    network: cidr?.cidr ?? ofMask,
    isSet,
    gateway: gateway?.address ?? null,
    prefixLength: version === 6 ? prefixLength(field(row, 'subnet'), 6) : null,
    resolvers: ['ns_1', 'ns_2'].flatMap((name) => address(field(row, name))?.address ?? []),
    reach: 'public',
    hypervisorIds: rowsOf(listOf(row, 'compute_resources')).flatMap((one) => id(field(one, 'id')) ?? []),
  })
}

export function addressOf(row: JsonObject): Found<SourceAddress> {
  const own = id(field(row, 'id'))
  const parsed = address(field(row, 'ip')) ?? address(field(row, 'primary_ip'))
  if (own === null || !parsed) return null
  const serverId = reference(field(row, 'server', 'id'))
  return {
    id: own,
    value: {
      ...parsed,
      prefixLength: network(field(row, 'range'))?.length ?? null,
      serverId,
      isPrimary: flag(field(row, 'is_primary')),
      // An address that a server has is reserved too: for the server.
      isHeldBack: serverId === null && flag(field(row, 'is_reserved')),
      mac: null,
    },
  }
}

export function ownerOf(row: JsonObject): Found<SourceOwner> {
  const own = id(field(row, 'id'))
  if (own === null) return null
  return found({
    id: own,
    email: email(field(row, 'email')),
    name: null,
    kind: rowsOf(field(row, 'roles')).some(isAdministrator) ? 'staff' : 'customer',
    parentId: null,
    isSuspended: ['locked', 'suspended'].includes(text(field(row, 'status')) ?? ''),
    billingId: reference(field(row, 'billing_user_id')) ?? own,
  })
}
export const isAdministrator = (role: JsonObject): boolean => /admin/i.test(text(field(role, 'name')) ?? '')

export function diskOf(row: JsonObject): SourceDisk {
  return {
    path: text(field(row, 'full_path'), 1000),
    sizeGb: diskGb(field(row, 'size')),
    isPrimary: flag(field(row, 'is_primary')),
  }
}

const states: Readonly<Record<string, SourceState>> = { started: 'running', running: 'running', stopped: 'stopped' }
function stateOf(row: JsonObject): SourceState {
  const real = text(field(row, 'real_status'))
  const written = flag(field(row, 'is_processing')) && real !== null ? real : text(field(row, 'status'))
  return (written !== null && Object.hasOwn(states, written) && states[written]) || 'unknown'
}

/** Old and new versions give the addresses of a server in four forms. */
function addressesOf(row: JsonObject): readonly SourceServerAddress[] {
  const v4 = rowsOf(field(row, 'ip_addresses', 'ipv4'))
  const six = field(row, 'ip_addresses', 'ipv6')
  const v6 = field(six, 'primary_ip') !== undefined || field(six, 'range') !== undefined ? [six] : rowsOf(six)
  const all = new Map<string, SourceServerAddress>()
  for (const one of [...v4, ...v6, ...rowsOf(field(row, 'ips'))]) {
    const prefix = network(field(one, 'range'))
    const own = address(field(one, 'ip')) ?? address(field(one, 'primary_ip')) ?? address(prefix?.cidr.split('/')[0])
    if (!own) continue
    all.set(own.address, {
      ...own,
      rangeId: reference(field(one, 'ip_block', 'id')),
      prefixLength: prefix?.version === own.version ? prefix.length : null,
      isPrimary: flag(field(one, 'is_primary')),
    })
  }
  return [...all.values()]
}

/** Has the row everything that a server needs? Lists may give short rows. */
export const isWhole = (row: JsonObject): boolean =>
  isCollectionOf(row, 'specifications') && (isCollectionOf(row, 'ip_addresses') || isCollectionOf(row, 'ips'))
const isCollectionOf = (row: JsonObject, name: string): boolean => typeof (field(row, name) ?? undefined) === 'object'

/** The hypervisor in the row itself: not all versions tell. */
export const hypervisorIn = (row: JsonObject): string | null =>
  reference(field(row, 'compute_resource', 'id')) ?? reference(field(row, 'compute_resource_id'))

/** `windows`: names of templates, in small letters, that the panel starts with the program for Windows. */
export function serverOf(
  row: JsonObject,
  hypervisorId: string | null,
  windows: ReadonlySet<string>,
): Found<SourceServer> {
  const own = id(field(row, 'id'))
  if (own === null) return null
  const image = field(row, 'settings', 'os_image')
  const template = text(field(image, 'name'))
  const domain = uuid(field(row, 'uuid'))
  return found({
    id: own,
    uuid: domain,
    domain,
    name: text(field(row, 'name')) ?? domain ?? own,
    hypervisorId,
    ownerId: reference(field(row, 'user', 'id')),
    ownerEmail: email(field(row, 'user', 'email')),
    packageId: reference(field(row, 'plan', 'id')),
    packageName: text(field(row, 'plan', 'name')),
    virtualization: virtualization(field(row, 'virtualization_type')),
    vcpus: vcpus(field(row, 'specifications', 'vcpu')),
    memoryMb: memoryMbOfBytes(field(row, 'specifications', 'ram')),
    diskGb: diskGb(field(row, 'specifications', 'disk')),
    addresses: addressesOf(row),
    mac: mac(field(row, 'mac_address')),
    osName: osName(template),
    isWindows:
      /^windows/i.test(text(field(row, 'os_type')) ?? '') ||
      isWindowsName(template) ||
      isWindowsName(text(field(image, 'icon'), 1000)) ||
      field(image, 'cloud_init_version') === 'cloudbase' ||
      (template !== null && windows.has(template.toLowerCase())),
    isSuspended: flag(field(row, 'is_suspended')),
    isInRescue: field(row, 'boot_mode') === 'rescue',
    state: stateOf(row),
    createdAt: time(field(row, 'created_at')),
    billingId: own,
  })
}

/** The names by which servers may call an image: alone, and with each of its versions. */
export function windowsNamesOf(row: JsonObject): { id: string; value: readonly string[] } | null {
  const own = id(field(row, 'id'))
  if (own === null) return null
  const name = text(field(row, 'name')) ?? ''
  const versions = entriesOf(field(row, 'versions')).map(([, version]) => version)
  const forWindows = versions.filter((version) => field(version, 'cloud_init_version') === 'cloudbase')
  const names = forWindows.map((version) => `${name} ${text(field(version, 'version')) ?? ''}`.trim())
  if (versions.length > 0 && forWindows.length === versions.length) names.push(name)
  return { id: own, value: names.filter((one) => one !== '').map((one) => one.toLowerCase()) }
}
