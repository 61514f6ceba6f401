// A server as soon as it was read: who it is, and whether it can come at all.
import { createHash } from 'node:crypto'
import type { ImportRecord } from '../import-records/queries.ts'
import type { RefusedBecause } from '../import-records/refusals.ts'
import type { SourceServer } from '../sources/source.ts'

/** Why a server stays on the source, as far as the panel tells; undefined: nothing is known against it. */
export function refusalOf(
  { virtualization, isWindows, domain }: Pick<SourceServer, 'virtualization' | 'isWindows' | 'domain'>,
  isHypervisorUnknown: boolean,
): RefusedBecause | undefined {
  if (virtualization === 'container') return 'container'
  if (virtualization === 'other') return 'not_kvm'
  if (isWindows) return 'windows'
  if (isHypervisorUnknown) return 'no_hypervisor'
  return domain === null ? 'no_domain' : undefined
}

/**
 * The server among all servers of all panels. Both ids count: an id alone is given anew after a panel was installed
 * again, and what a panel calls a UUID need not be one.
 */
export const identityOf = (
  { kind, address }: Pick<ImportRecord, 'kind' | 'address'>,
  { id, uuid }: Pick<SourceServer, 'id' | 'uuid'>,
) =>
  createHash('sha256')
    .update(JSON.stringify(uuid === null ? [kind, address, id] : [kind, id, uuid]))
    .digest('base64url')

const fieldWords: Readonly<Record<string, string>> = {
  name: 'name',
  hostname: 'name',
  address: 'address',
  addresses: 'addresses',
  email: 'e-mail',
  vcpus: 'vCPUs',
  memoryMb: 'memory',
  diskGb: 'disk',
  trafficBytes: 'traffic',
  portMbps: 'speed',
  packageId: 'package',
  hypervisorId: 'hypervisor',
  ownerId: 'owner',
  billingId: 'billing id',
  osName: 'operating system',
  mac: 'MAC address',
  isSuspended: 'suspension',
  network: 'network',
  first: 'first address',
  last: 'last address',
  gateway: 'gateway',
  virtualization: 'virtualization',
  domain: 'domain',
}
/** The fields that differ, in words; fields that nobody knows by a name do not count. */
export function changesBetween(before: object, now: object): string[] {
  const old = before as Record<string, unknown>
  return Object.entries(now).flatMap(([name, value]) =>
    name in fieldWords && JSON.stringify(old[name] ?? null) !== JSON.stringify(value ?? null)
      ? [fieldWords[name]!]
      : [],
  )
}
