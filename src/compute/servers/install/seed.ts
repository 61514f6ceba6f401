// The data for a guest's first boot, for cloud-init's NoCloud source or, on Windows, for cloudbase-init. Values only:
// none of them is spliced into text.
import { guestAddressIn } from '../../../../agent/protocol/guest-address.ts'
import { STARTUP_COMMAND, startupFiles } from '../../../../agent/protocol/startup-script.ts'
import type { ConfigDrive, Seed } from '../../../../agent/protocol/wire.ts'
import { type HeldAddress, isOwn } from '../../../network/ip-pools/allocate.ts'
import type { Server } from '../model.ts'
import { configDriveFor } from './config-drive.ts'

/** `passwordHash`: of Windows the password itself, encrypted for the node. */
export type Access = { passwordHash: string | null; publicKeys: string[] }
/** A saved script with its name, and user-data for cloud-init: they run once, at the first boot. */
export type FirstBoot = { script?: { name: string; content: string }; userData?: string }

/** `instance` changes with every installation, so that the guest runs its first-boot work again. */
export function seedFor(
  it: Server,
  addresses: readonly HeldAddress[],
  access: Access,
  instance: string,
  firstBoot: FirstBoot = {},
): Seed | ConfigDrive {
  if (it.os === 'windows') return configDriveFor(it, addresses, access, instance, firstBoot.userData)
  return linuxSeed(it, addresses, access, instance, firstBoot)
}

function linuxSeed(
  it: Server,
  addresses: readonly HeldAddress[],
  access: Access,
  instance: string,
  firstBoot: FirstBoot,
): Seed {
  const [short = it.hostname] = it.hostname.split('.')
  const files = [...(access.passwordHash ? [sshdFile] : []), ...(firstBoot.script ? [fileOf(firstBoot.script)] : [])]
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
      ...(files.length ? { write_files: files } : {}),
      ...(firstBoot.script ? { runcmd: [STARTUP_COMMAND] } : {}),
    },
    networkConfig: networkFor(it, addresses),
    ...(firstBoot.userData !== undefined && { ownUserData: firstBoot.userData }),
  }
}

/** Distributions let root in by key only; who ordered a password expects that it works. */
const sshdFile = {
  path: '/etc/ssh/sshd_config.d/10-berth.conf',
  content: 'PermitRootLogin yes\nPasswordAuthentication yes\n',
  permissions: '0600',
}
const fileOf = ({ content }: { content: string }) => ({
  path: startupFiles.script,
  content: Buffer.from(content).toString('base64'),
  encoding: 'b64',
  permissions: '0700',
})

/**
 * The data for a boot that brings an installed guest its present addresses, and the root password that was reset for
 * that boot, and changes nothing else. It has an instance of its own, because guests read the network only with a new
 * one.
 */
export const networkSeed = (it: Server, held: readonly HeldAddress[], instance: string): Seed | ConfigDrive =>
  it.pendingPasswordHash === null
    ? networkAlone(it, held, instance)
    : passwordSeedFor(it, held, it.pendingPasswordHash, instance)

/**
 * Does a change of its network take effect by a seed? On Windows the guest agent makes it for good; a seed there has a
 * password, because cloudbase-init makes up one where it finds none.
 */
export const hasNetworkSeed = ({ os, pendingPasswordHash }: Pick<Server, 'os' | 'pendingPasswordHash'>) =>
  os === 'linux' || pendingPasswordHash !== null

const networkAlone = (it: Server, held: readonly HeldAddress[], instance: string): Seed => ({
  workload: it.id,
  metaData: { 'instance-id': instance, 'local-hostname': it.hostname },
  // Without these a new instance makes new host keys, a default user, and closes root's login.
  userData: { preserve_hostname: true, ssh_deletekeys: false, disable_root: false, users: [] },
  networkConfig: networkFor(it, held),
})

/** The address inside the guest, with its prefix length. A floating address has no network of its own there. */
export function guestCidr(a: Pick<HeldAddress, 'address' | 'prefixLength' | 'version' | 'holderId'>): string {
  if (!isOwn(a)) return `${a.address}/${a.version === 4 ? 32 : 128}`
  if (a.version === 4 || a.prefixLength === 128) return `${a.address}/${a.prefixLength}`
  return `${guestAddressIn(a.address)}/${a.prefixLength}`
}

/**
 * The seed of a password reset. Its `instance` is new, so the guest runs its first-boot work again; its name and the
 * keys of its SSH server stay.
 */
export function passwordSeedFor(
  it: Server,
  addresses: readonly HeldAddress[],
  hash: string,
  instance: string,
): Seed | ConfigDrive {
  const access = { passwordHash: hash, publicKeys: [] }
  if (it.os === 'windows') return configDriveFor(it, addresses, access, instance)
  const seed = linuxSeed(it, addresses, access, instance, {})
  return { ...seed, userData: { ...seed.userData, preserve_hostname: true, ssh_deletekeys: false } }
}

export function networkFor(it: Server, held: readonly HeldAddress[]) {
  const routes: { to: string; via: string; 'on-link'?: boolean }[] = []
  for (const a of held.filter(isOwn)) {
    const [to, inside] = a.version === 4 ? ['0.0.0.0/0', a.prefixLength < 31] : ['::/0', false]
    if (!routes.some((r) => r.to === to))
      routes.push({ to, via: a.pool.gateway, ...(inside ? {} : { 'on-link': true }) })
  }
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
        addresses: held.map(guestCidr),
        routes,
        ...(resolvers.length ? { nameservers: { addresses: resolvers } } : {}),
      },
    },
  }
}
