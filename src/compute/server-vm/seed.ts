// The data for a guest's first boot, for cloud-init's NoCloud source or, on Windows, for cloudbase-init. Values only:
// none of them is spliced into text.
import ipaddr from 'ipaddr.js'
import { guestAddressIn } from '../../../agent/protocol/guest-address.ts'
import { STARTUP_COMMAND, startupFiles } from '../../../agent/protocol/startup-script.ts'
import type { ConfigDrive, Seed } from '../../../agent/protocol/wire.ts'
import { type HeldAddress, isOwn } from '../../network/ip-pools/allocate.ts'
import type { Server } from '../server-records/model.ts'
import { configDriveFor } from './config-drive.ts'
import { type Card, networkConfigOf } from './network-config.ts'

/** `passwordHash`: of Windows the password itself, encrypted for the node. */
export type Access = { passwordHash: string | null; publicKeys: string[] }
/** A saved script with its name, and user-data for cloud-init: they run once, at the first boot. */
export type FirstBoot = { script?: { name: string; content: string }; userData?: string }

/** `instance` changes with every installation, so that the guest runs its first-boot work again. */
export function seedFor(
  server: Server,
  addresses: readonly HeldAddress[],
  access: Access,
  instance: string,
  firstBoot: FirstBoot = {},
): Seed | ConfigDrive {
  if (server.os === 'windows') return configDriveFor(server, addresses, access, instance, firstBoot.userData)
  return linuxSeed(server, addresses, access, instance, firstBoot)
}

function linuxSeed(
  server: Server,
  addresses: readonly HeldAddress[],
  access: Access,
  instance: string,
  firstBoot: FirstBoot,
): Seed {
  const files = [...(access.passwordHash ? [sshdFile] : []), ...(firstBoot.script ? [fileOf(firstBoot.script)] : [])]
  return {
    workload: server.id,
    metaData: { 'instance-id': instance, 'local-hostname': server.hostname },
    userData: {
      ...nameOf(server.hostname),
      manage_etc_hosts: true,
      disable_root: false,
      ...signInOf(access),
      ...(files.length ? { write_files: files } : {}),
      ...(firstBoot.script ? { runcmd: [STARTUP_COMMAND] } : {}),
    },
    networkConfig: networkFor(server, addresses),
    ...(firstBoot.userData !== undefined && { ownUserData: firstBoot.userData }),
  }
}

/**
 * Every cloud-init since 17.1 takes `hashed_passwd` for a user that exists; `chpasswd.users` is unknown before 22.3 and
 * `chpasswd.list` deprecated since 22.2. Schemas refuse an empty list of keys.
 */
const signInOf = ({ passwordHash, publicKeys }: Access) => ({
  ssh_pwauth: passwordHash !== null,
  users: [
    {
      name: 'root',
      lock_passwd: passwordHash === null,
      ...(passwordHash !== null && { hashed_passwd: passwordHash }),
      ...(publicKeys.length > 0 && { ssh_authorized_keys: publicKeys }),
    },
  ],
})

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
 * The modules of cloud-init that an instance runs, by stage. A seed for an installed guest names its own, because a new
 * instance otherwise repeats the whole first boot: package sources, host keys, users, what its owner has changed since.
 */
const onlyModules = (init: readonly string[], config: readonly string[] = []) => ({
  preserve_hostname: true,
  cloud_init_modules: init,
  cloud_config_modules: config,
  cloud_final_modules: [],
})

/**
 * The data for a boot that brings an installed guest its present addresses, and the root password that was reset for
 * that boot, and changes nothing else. It has an instance of its own, because guests read the network only with a new
 * one: an existing instance reads it again only where its first seed asked for that.
 */
export const networkSeed = (server: Server, held: readonly HeldAddress[], instance: string): Seed | ConfigDrive =>
  server.pendingPasswordHash === null
    ? networkAlone(server, held, instance)
    : passwordSeedFor(server, held, server.pendingPasswordHash, instance)

/**
 * Does a change of its network take effect by a seed? On Windows the guest agent makes it for good; a seed there has a
 * password, because cloudbase-init makes up one where it finds none.
 */
export const hasNetworkSeed = ({ os, pendingPasswordHash }: Pick<Server, 'os' | 'pendingPasswordHash'>) =>
  os === 'linux' || pendingPasswordHash !== null

const networkAlone = (server: Server, held: readonly HeldAddress[], instance: string): Seed => ({
  workload: server.id,
  // Without a name: cloud-init sets one that the medium has before it reads what it is to preserve.
  metaData: { 'instance-id': instance },
  userData: onlyModules([]),
  networkConfig: networkFor(server, held),
})

/**
 * The data for the first boot of a copied system that becomes a server of its own: beside the network its name, new
 * keys of its SSH server, and a new machine id. Users, passwords and package sources stay.
 */
export const identitySeed = (server: Server, held: readonly HeldAddress[], instance: string): Seed => ({
  workload: server.id,
  metaData: { 'instance-id': instance, 'local-hostname': server.hostname },
  userData: {
    ...onlyModules(['bootcmd', 'set-hostname', 'update-etc-hosts', 'ssh']),
    ...nameOf(server.hostname),
    preserve_hostname: false,
    // Its line alone: the rest of the file is the owner's.
    manage_etc_hosts: 'localhost',
    ssh_deletekeys: true,
    disable_root: false,
    // The module for keys otherwise warns of a default user that the system does not have.
    users: [{ name: 'root' }],
    // A line for the guest's own shell, once.
    bootcmd: [`cloud-init-per instance machine-id sh -c '${NEW_MACHINE_ID}'`],
  },
  networkConfig: networkFor(server, held),
})

/** The copy that D-Bus has is a file of its own on some systems. A system without a machine id gets none. */
const NEW_MACHINE_ID =
  '[ -e /etc/machine-id ] || exit 0; tr -d - </proc/sys/kernel/random/uuid >/etc/machine-id; ' +
  'cd /var/lib/dbus 2>/dev/null || exit 0; [ -L machine-id ] || [ ! -e machine-id ] || cp /etc/machine-id machine-id'

const nameOf = (hostname: string) => ({
  hostname: hostname.split('.')[0]!,
  ...(hostname.includes('.') && { fqdn: hostname }),
})

/** The address inside the guest, with its prefix length. A floating address has no network of its own there. */
export function guestCidr(a: Pick<HeldAddress, 'address' | 'prefixLength' | 'version' | 'holderId'>): string {
  if (!isOwn(a)) return `${a.address}/${a.version === 4 ? 32 : 128}`
  if (a.version === 4 || a.prefixLength === 128) return `${a.address}/${a.prefixLength}`
  return `${guestAddressIn(a.address)}/${a.prefixLength}`
}

/** The seed of a password reset. Its `instance` is new; beside the network it changes root and how root signs in. */
export function passwordSeedFor(
  server: Server,
  addresses: readonly HeldAddress[],
  hash: string,
  instance: string,
): Seed | ConfigDrive {
  const access = { passwordHash: hash, publicKeys: [] }
  if (server.os === 'windows') return configDriveFor(server, addresses, access, instance)
  return {
    workload: server.id,
    metaData: { 'instance-id': instance },
    userData: {
      ...onlyModules(['write-files', 'users-groups'], ['set-passwords']),
      ...signInOf(access),
      write_files: [sshdFile],
    },
    networkConfig: networkFor(server, addresses),
  }
}

/** The network of the server's main card, as its seed says it. */
export const networkFor = (server: Pick<Server, 'mac' | 'networkConfig'>, held: readonly HeldAddress[]) =>
  networkConfigOf(server.networkConfig, [cardOf(server, held)])

/** The server's main card. Each version has one default route, from its first own address. */
export function cardOf({ mac }: Pick<Server, 'mac'>, held: readonly HeldAddress[]): Card {
  const own = held.filter(isOwn)
  const gateways = ([4, 6] as const).flatMap((version) => {
    const ofVersion = own.filter((a) => a.version === version)
    const via = ofVersion[0]?.pool.gateway
    return via === undefined ? [] : [{ version, via, isOnLink: !ofVersion.some((a) => reaches(a, via)) }]
  })
  const resolvers = [...new Set(held.flatMap((a) => a.pool.resolvers))]
  return { name: 'eth0', mac, addresses: held.map(guestCidr), gateways, resolvers }
}

/** Is the gateway in the network of the address, or an address that every link has? */
function reaches({ address, prefixLength }: HeldAddress, gateway: string): boolean {
  const via = ipaddr.parse(gateway)
  return via.range() === 'linkLocal' || via.match(ipaddr.parse(address), prefixLength)
}
