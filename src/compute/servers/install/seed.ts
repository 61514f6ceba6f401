// The data for a guest's first boot, for cloud-init's NoCloud source. Values only: none of them is spliced into text.
import type { Seed } from '../../../../agent/protocol/wire.ts'
import type { HeldAddress } from '../../../network/ip-pools/allocate.ts'
import { guestIpv6, type Server } from '../model.ts'

export type Access = { passwordHash: string | null; publicKeys: string[] }

/** `instance` changes with every installation, so that the guest runs its first-boot work again. */
export function seedFor(it: Server, addresses: readonly HeldAddress[], access: Access, instance: string): Seed {
  const [short = it.hostname] = it.hostname.split('.')
  return {
    workload: it.id,
    metaData: { 'instance-id': instance, 'local-hostname': it.hostname },
    userData: {
      hostname: short,
      ...(it.hostname.includes('.') ? { fqdn: it.hostname } : {}),
      manage_etc_hosts: true,
      disable_root: false,
      ssh_pwauth: access.passwordHash !== null,
      users: [{ name: 'root', lock_passwd: access.passwordHash === null, ssh_authorized_keys: access.publicKeys }],
      ...(access.passwordHash
        ? { chpasswd: { expire: false, users: [{ name: 'root', password: access.passwordHash, type: 'hash' }] } }
        : {}),
      // Distributions let root in by key only; who ordered a password expects that it works.
      ...(access.passwordHash
        ? {
            write_files: [
              {
                path: '/etc/ssh/sshd_config.d/10-berth.conf',
                content: 'PermitRootLogin yes\nPasswordAuthentication yes\n',
                permissions: '0600',
              },
            ],
          }
        : {}),
    },
    networkConfig: networkFor(it, addresses),
  }
}

export function networkFor(it: Server, held: readonly HeldAddress[]) {
  const routes: { to: string; via: string; 'on-link'?: boolean }[] = []
  const addresses = held.map((a) => {
    const [to, inside] = a.version === 4 ? ['0.0.0.0/0', a.prefixLength < 31] : ['::/0', false]
    if (!routes.some((r) => r.to === to))
      routes.push({ to, via: a.pool.gateway, ...(inside ? {} : { 'on-link': true }) })
    return a.version === 4
      ? `${a.address}/${a.prefixLength}`
      : `${a.prefixLength === 128 ? a.address : guestIpv6(a.address)}/${a.prefixLength}`
  })
  const resolvers = [...new Set(held.flatMap((a) => a.pool.resolvers))]
  return {
    version: 2,
    ethernets: {
      eth0: {
        match: { macaddress: it.mac },
        'set-name': 'eth0',
        dhcp4: false,
        dhcp6: false,
        'accept-ra': false,
        addresses,
        routes,
        ...(resolvers.length ? { nameservers: { addresses: resolvers } } : {}),
      },
    },
  }
}
