// The data for a boot of Windows, in OpenStack's form, which cloudbase-init reads from a config drive.
import { guestAddressIn } from '../../../agent/protocol/guest-address.ts'
import type { ConfigDrive } from '../../../agent/protocol/wire.ts'
import { administratorOf } from '../../catalog/images/hardware.ts'
import { type HeldAddress, isOwn } from '../../network/ip-pools/allocate.ts'
import { toText } from '../../network/ip-pools/ranges.ts'
import type { Server } from '../server-records/model.ts'

/** A prefix length as `255.255.255.0` or `ffff:ffff::`. */
export function netmask(version: 4 | 6, bits: number): string {
  const width = BigInt(version === 4 ? 32 : 128)
  const ones = BigInt(bits)
  return toText(version, ((1n << ones) - 1n) << (width - ones))
}

/**
 * `instance` changes with every installation and every reset of the password: cloudbase-init does its work once for
 * each. `access.passwordHash` is the encrypted password.
 */
export const configDriveFor = (
  server: Server,
  held: readonly HeldAddress[],
  access: { passwordHash: string | null; publicKeys: readonly string[] },
  instance: string,
  userData?: string,
): ConfigDrive => ({
  form: 'config-drive',
  workload: server.id,
  metaData: {
    uuid: instance,
    hostname: server.hostname,
    name: server.hostname,
    meta: { admin_username: administratorOf('windows') },
    ...(access.publicKeys.length && {
      public_keys: Object.fromEntries(access.publicKeys.map((key, i) => [`key${i}`, key])),
    }),
  },
  networkData: networkDataFor(server, held),
  ...(userData !== undefined && { userData }),
  ...(access.passwordHash !== null && { adminPassword: access.passwordHash }),
})

/** One address of each version: of several cloudbase-init leaves only the last in place. */
function networkDataFor(server: Server, held: readonly HeldAddress[]) {
  const own = held.filter(isOwn)
  const first = ([4, 6] as const).flatMap((version) => own.find((a) => a.version === version) ?? [])
  return {
    links: [{ id: 'eth0', type: 'phy', ethernet_mac_address: server.mac }],
    networks: first.map((a) => networkOf(a, 'eth0')),
    services: [...new Set(held.flatMap((a) => a.pool.resolvers))].map((address) => ({ type: 'dns', address })),
  }
}

function networkOf({ address, prefixLength, version, pool }: HeldAddress, link: string) {
  const v4 = version === 4
  const none = v4 ? '0.0.0.0' : '::'
  return {
    id: `${link}-ipv${version}`,
    type: v4 ? 'ipv4' : 'ipv6',
    link,
    ip_address: v4 || prefixLength === 128 ? address : guestAddressIn(address),
    netmask: netmask(v4 ? 4 : 6, prefixLength),
    routes: [{ network: none, netmask: none, gateway: pool.gateway }],
  }
}
