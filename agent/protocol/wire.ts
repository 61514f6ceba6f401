// The protocol between controller and agent; both import this file and nothing else of each other.
// PROTOCOL is raised when a message changes its meaning. A new command or an optional field does not raise it.
import { type Static, type TSchema, Type as t } from 'typebox'
import {
  BackupCheckResult,
  BackupForget,
  BackupMade,
  BackupsForgotten,
  BackupTarget,
  BackupTest,
  BackupTestResult,
  backupId,
  drillProofs,
  MOST_PARTS,
  snapshotId,
} from './backup.ts'
import { anyText, bridgeName, counter, line, megabytes, RestartPolicy, timestamp, workloadId } from './bounds.ts'
import { consoleKinds } from './console.ts'
import { FirewallReport, PortPolicy } from './firewall.ts'
import { ENCRYPTED } from './for-node.ts'
import {
  authorizedKeys,
  Card,
  CardCheck,
  CardSample,
  Container,
  ContainerEnd,
  ContainerEngine,
  ContainerImage,
  cardUuid,
  containerImageId,
  HttpNamesOfHost,
  httpScheme,
  MOST_CARDS,
  MOST_LOG_CHARACTERS,
  MOST_LOG_LINES,
} from './gpu.ts'
import { MOST_PINS, PIN } from './pin.ts'

export { RestartPolicy, restartPolicies, WORKLOAD_ID } from './bounds.ts'

/**
 * 1 (2026-11): challenge over HTTP, signed WebSocket upgrade, commands with keys, heartbeats, inventory. Frames,
 * commands and volumes name a workload of any kind; a node runs vms; a volume has a generation. The number stays 1
 * until the first release.
 */
export const PROTOCOL = 1

/** Paths on the controller that agents use. */
export const agentPaths = {
  enroll: '/agent/v1/enroll',
  challenge: '/agent/v1/challenge',
  connect: '/agent/v1/connect',
  /** One WebSocket per viewer of a console. Signed as the upgrade of `connect` is, with `agentHeaders.console`. */
  console: '/agent/v1/console/',
  /** One WebSocket per question about files of a backup. Signed likewise, with `agentHeaders.files`. */
  files: '/agent/v1/backup-files',
  /** `/agent/v1/images/{id}`: an image that was imported into the controller. Signed as the upgrade is. */
  images: '/agent/v1/images',
  /** `/agent/v1/program/{x64|aarch64}`: the program, for a machine that joins. Needs an enrolment token. */
  program: '/agent/v1/program',
} as const

/** Headers of an agent's signed requests: the WebSocket upgrade and image downloads. */
export const agentHeaders = {
  node: 'X-Berth-Node',
  nonce: 'X-Berth-Nonce',
  signature: 'X-Berth-Signature',
  protocol: 'X-Berth-Protocol',
  /** The session of a console, as the frame `console` named it. Works once. */
  console: 'X-Berth-Console',
  /** The session of files of a backup, as the frame `files` named it. Works once. */
  files: 'X-Berth-Files',
} as const

/** Codes with which an agent's socket is closed, by the controller but for the last, beside those of WebSocket. */
export const closeCodes = {
  /** The controller stops or restarts: connect again soon. */
  restarting: 1012,
  /** The node was removed or its credential revoked. */
  removed: 4401,
  /** The node's key opened another connection: two agents use it, or this one was thought dead. */
  replaced: 4409,
  /** The agent sent more than a node may, or frames that the controller does not understand. */
  tooMuch: 4429,
  /** From the agent: it has obeyed a controller with a higher epoch, so this one is the one from before. */
  outdated: 4410,
} as const

/** The most bytes of a frame. A longer one closes the socket with 1009. */
export const MOST_FRAME_BYTES = 1 << 20

/** The text that a node's Ed25519 key signs: bound to the purpose, the node and one nonce of the controller's. */
export const signedText = (nodeId: string, nonce: string) => `berth-agent-v1\n${nodeId}\n${nonce}`
/** The text with which the key that a machine has gives its node's place to a new key. */
export const successorText = (token: string, publicKey: string) => `berth-successor-v1\n${token}\n${publicKey}`

// ---------------------------------------------------------------- values
const imageId = t.String({ pattern: '^img_[0-9a-z]{26}$' })
const isoId = t.String({ pattern: '^iso_[0-9a-z]{26}$' })
const nothing = t.Object({})
const mac = t.String({ pattern: '^([0-9a-f]{2}:){5}[0-9a-f]{2}$' })
/** A tap is `bth<workload number>`; Linux allows 15 characters. Every interface with this prefix is Berth's. */
export const TAP_PREFIX = 'bth'
const tap = t.String({ pattern: '^bth[0-9]{1,11}$' })
const address = t.String({ maxLength: 45, pattern: '^[0-9a-fA-F.:]+$' })
const cidr = t.String({ maxLength: 49, pattern: '^[0-9a-fA-F.:]+/[0-9]{1,3}$' })

/**
 * A vm's disk in one of the node's storage pools. Its name on the host derives from workload and generation. A disk
 * that replaces another has a higher generation, so that both exist until the old one is removed; a generation is never
 * used twice. An extra volume belongs to no vm: it has its own id as `workload`, and the generation 0.
 */
export const Volume = t.Object({
  workload: workloadId,
  generation: t.Integer({ minimum: 0, maximum: 999_999 }),
  pool: t.String({ pattern: '^[a-z0-9][a-z0-9-]{0,31}$' }),
  format: t.Enum(['qcow2', 'raw']),
  /**
   * The layer in use, always qcow2; left out: the first, which was made from the image. A snapshot is a layer that
   * nothing writes any more, with the next one on top. All layers of a generation are deleted with it.
   */
  layer: t.Optional(t.Integer({ minimum: 1, maximum: 999_999 })),
})
export type Volume = Static<typeof Volume>

/** The characters of a serial number that virtio shows to a guest. */
const SERIAL_LENGTH = 20
/**
 * The serial number of an extra volume, from its id: the guest finds it as `/dev/disk/by-id/virtio-<serial>`. The end
 * of an id is its random part.
 */
export const serialOf = (volumeId: string): string => `vol_${volumeId.slice(-(SERIAL_LENGTH - 4))}`

/** Checksum of a downloaded file; distributions publish one of the two kinds. */
const checksum = t.String({ pattern: '^(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$' })
/** The source of an image and its checksum. A `url` that starts with `/` is on the controller. */
export const ImageSource = t.Object({
  id: imageId,
  url: t.String({ maxLength: 2048 }),
  format: t.Enum(['qcow2', 'raw']),
  checksum,
  /** A customer chose the address: it is downloaded from public addresses alone. */
  publicOnly: t.Optional(t.Boolean()),
})
export type ImageSource = Static<typeof ImageSource>

/** The source of an ISO and the checksum of its file, which may have `mostBytes`. */
export const IsoSource = t.Object({
  ...ImageSource.properties,
  id: isoId,
  format: t.Literal('raw'),
  mostBytes: counter,
})
export type IsoSource = Static<typeof IsoSource>

export const machines = ['q35', 'pc'] as const
/** `uefi_secure` is UEFI with Secure Boot and Microsoft's keys. */
export const firmwares = ['bios', 'uefi', 'uefi_secure'] as const
/** Windows expects another clock and other devices than Linux, and reads another seed. */
export const osFamilies = ['linux', 'windows'] as const
export type OsFamily = (typeof osFamilies)[number]
/**
 * The machine that a system was installed on. UEFI needs `q35`, the newer machine. `tpm`: it has a TPM 2.0. `os` is the
 * family of the system, Linux where it is left out.
 */
export const Hardware = t.Object(
  { machine: t.Enum(machines), firmware: t.Enum(firmwares), tpm: t.Boolean(), os: t.Optional(t.Enum(osFamilies)) },
  { title: 'Hardware' },
)
export type Hardware = Static<typeof Hardware>
/** The device that a vm tries first when it starts; the other one follows. */
export const bootFirsts = ['disk', 'cd'] as const
export type BootFirst = (typeof bootFirsts)[number]

/** The hardware of a vm whose image asks for nothing else. */
export const usualHardware: Hardware = { machine: 'q35', firmware: 'bios', tpm: false }
/** The fields of a vm with that hardware, without ISO, and not in rescue. */
export const usualMachine = { hardware: usualHardware, bootFirst: 'disk', iso: null, rescue: null } as const

const mbps = t.Union([t.Integer({ minimum: 1, maximum: 10_000_000 }), t.Null()])
const perSecond = t.Union([t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), t.Null()])
/** The limits of each disk of a vm, per second; null: none. */
export const DiskSpeed = t.Object({
  reads: perSecond,
  writes: perSecond,
  readBytes: perSecond,
  writtenBytes: perSecond,
})
export type DiskSpeed = Static<typeof DiskSpeed>
/**
 * The limits of a running vm; null: none. `inMbps` is traffic to the vm and `outMbps` from it, in megabit per second;
 * `cpuPercent` is processor time, 100 for one processor. Without `disk` its disks are not limited.
 */
export const Speed = t.Object({
  inMbps: mbps,
  outMbps: mbps,
  cpuPercent: t.Union([t.Integer({ minimum: 1, maximum: 51_200 }), t.Null()]),
  disk: t.Optional(DiskSpeed),
})
export type Speed = Static<typeof Speed>

/** A layer of a disk by its number; 0 is the one that was made from the image. */
const layerNumber = t.Integer({ minimum: 0, maximum: 999_999 })

const MANY = { maxItems: 1000 }
/** The frames that a vm may send. Addresses are the controller's allocation and are never learned. */
export const PortRules = t.Object({
  workload: workloadId,
  tap,
  mac,
  ipv4: t.Array(address, MANY),
  ipv6: t.Array(cidr, MANY),
  /** Left out: the node keeps the policy that it has for the workload. */
  policy: t.Optional(PortPolicy),
})
export type PortRules = Static<typeof PortRules>

/** A private tap is `btp<number>`. */
const privateTap = t.String({ pattern: '^btp[0-9]{1,11}$' })
const networkId = t.String({ pattern: '^net_[0-9a-z]{26}$' })
/**
 * A private network on one node, all of it: its ports there, and the other nodes that have ports, with the MAC
 * addresses behind each. `vni` is unique over all networks; `local` is this node's address between the nodes.
 */
export const PrivateNetwork = t.Object({
  network: networkId,
  vni: t.Integer({ minimum: 1, maximum: 2 ** 24 - 1 }),
  local: address,
  peers: t.Array(t.Object({ address, macs: t.Array(mac, MANY) }), { maxItems: 500 }),
  /** `addresses` are the vm's own in the network, with its prefix length. */
  ports: t.Array(t.Object({ workload: workloadId, tap: privateTap, mac, addresses: t.Array(cidr, { maxItems: 8 }) }), {
    maxItems: 500,
  }),
})
export type PrivateNetwork = Static<typeof PrivateNetwork>

/** A vm's hardware, independent of the hypervisor, and what the node does when it ends by itself. */
export const Vm = t.Object({
  workload: workloadId,
  hostname: t.String({ maxLength: 253 }),
  vcpus: t.Integer({ minimum: 1, maximum: 512 }),
  memoryMb: t.Integer({ minimum: 32, maximum: 2 ** 30 }),
  volume: Volume,
  hardware: Hardware,
  bootFirst: t.Enum(bootFirsts),
  /** The ISO in its CD drive. */
  iso: t.Union([isoId, t.Null()]),
  /** The disk of a rescue system: the vm boots from it, and its own disk is the second. */
  rescue: t.Union([Volume, t.Null()]),
  network: t.Object({
    bridge: bridgeName,
    tap,
    mac,
  }),
  speed: Speed,
  /** True until the guest has booted once: the seed is attached as a CD-ROM. */
  seeded: t.Boolean(),
  /** In force at once, also for a running vm. */
  restartPolicy: RestartPolicy,
})
export type Vm = Static<typeof Vm>

const jsonObject = t.Record(t.String({ pattern: '^.{0,100}$' }), t.Unknown(), {
  maxProperties: 100,
  additionalProperties: false,
})
/** cloud-init's NoCloud seed, each part a JSON value. It holds hashes of passwords, never passwords. */
export const Seed = t.Object({
  workload: workloadId,
  metaData: jsonObject,
  userData: jsonObject,
  networkConfig: jsonObject,
  /** The owner's own cloud-config or script, beside `userData`, whose single values win. */
  ownUserData: t.Optional(anyText(32 << 10)),
})
export type Seed = Static<typeof Seed>

/** The network of a guest's main card, and its name. `names`: short or whole; empty: any. */
export const GuestLook = t.Object({
  tap,
  mac,
  addresses: t.Array(address, { maxItems: 100 }),
  names: t.Array(t.String({ maxLength: 253 }), { maxItems: 2 }),
  limitSeconds: t.Integer({ minimum: 1, maximum: 120 }),
})
export type GuestLook = Static<typeof GuestLook>
/**
 * The state of a guest as it was seen. `answering`: its card answered for these addresses by ARP or neighbour
 * discovery. The rest is what its guest agent says, null where none does: `inside` are addresses of the card, `signIn`
 * is how its SSH server lets root in.
 */
export const GuestSeen = t.Object({
  answering: t.Array(address, { maxItems: 100 }),
  inside: t.Union([t.Array(address, { maxItems: 100 }), t.Null()]),
  hostname: t.Union([line(253), t.Null()]),
  signIn: t.Union([t.Object({ password: t.Boolean(), keys: t.Boolean() }), t.Null()]),
  ssh: t.Boolean(),
})
export type GuestSeen = Static<typeof GuestSeen>

const encryptedPassword = t.String({ pattern: ENCRYPTED })
/**
 * The seed of Windows, which cloudbase-init reads: OpenStack's config drive. The password of its administrator is
 * encrypted for the node (`purposeOf`), because Windows takes none but in the clear.
 */
export const ConfigDrive = t.Object({
  form: t.Literal('config-drive'),
  workload: workloadId,
  metaData: jsonObject,
  networkData: jsonObject,
  /** The owner's own script or cloud-config. */
  userData: t.Optional(anyText(32 << 10)),
  adminPassword: t.Optional(encryptedPassword),
})
export type ConfigDrive = Static<typeof ConfigDrive>
/** The purpose for which passwords of a workload's guest are encrypted. */
export const purposeOf = (workload: string) => `password in ${workload}`

/** A workload's power as the node reports it; `absent`: not defined on the node. A container is never paused. */
export const Power = t.Enum(['running', 'stopped', 'paused', 'crashed', 'absent'])
export type Power = Static<typeof Power>

/** The system of a guest in its own words; empty where it names none. */
export const GuestSystem = t.Object({ osId: line(40), osName: line(100), osVersion: line(100), kernel: line(100) })
export type GuestSystem = Static<typeof GuestSystem>
/** The result of a startup script: its exit code and the beginning of what it wrote, which may be any text. */
export const StartupResult = t.Object({
  exitCode: t.Integer({ minimum: 0, maximum: 255 }),
  output: anyText(64 << 10),
  truncated: t.Boolean(),
})
export type StartupResult = Static<typeof StartupResult>

// ---------------------------------------------------------------- commands
const command = <I extends TSchema, O extends TSchema>(input: I, output: O) => ({ input, output })

/**
 * A command either reads or acts, never both. One that acts converges: sent again, or sent when the host is already in
 * that state, it has the same effect and the same answer. A job therefore reads the earlier state in a step of its own.
 */
export const commands = {
  /** Downloads the image unless the node has it, checks its checksum and header, and stores it for later volumes. */
  'image.ensure': command(ImageSource, t.Object({ virtualSizeBytes: counter })),
  'image.remove': command(t.Object({ id: imageId }), nothing),
  /** Downloads the ISO unless the node has it, and checks its checksum. */
  'iso.ensure': command(IsoSource, t.Object({ sizeBytes: counter })),
  /** Deletes the ISO; without one it does nothing. A vm whose definition names it does not start any more. */
  'iso.remove': command(t.Object({ id: isoId }), nothing),
  /** The disk's size as the guest sees it; null: there is no such volume. */
  'volume.look': command(Volume, t.Object({ sizeBytes: t.Union([counter, t.Null()]) })),
  /**
   * Makes a disk from an image that `image.ensure` brought, grown to `sizeBytes`. A disk that exists is never
   * overwritten. Fails with `no_image`, `disk_too_small` or `volume_differs`, and with `pool_full` when the image does
   * not fit. Answers the checksum of the image's file; agents of earlier releases leave it out.
   */
  'volume.create': command(
    t.Object({
      volume: Volume,
      image: imageId,
      sizeBytes: t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    }),
    t.Object({ checksum: t.Optional(checksum) }),
  ),
  /**
   * Enlarges the disk, also under a running vm, which sees it at once. A disk that is that large or larger stays as it
   * is: none ever shrinks. Of an extra volume the vm is the one that has it. Fails with `no_volume`.
   */
  'volume.grow': command(
    t.Object({ volume: Volume, sizeBytes: t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }) }),
    nothing,
  ),
  /**
   * Makes an empty disk, which shows zeros everywhere. One that exists stays as it is. Fails with `volume_differs`
   * where that is smaller, `pool_full`, `pool_unsafe`.
   */
  'volume.make': command(
    t.Object({ volume: Volume, sizeBytes: t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }) }),
    nothing,
  ),
  /**
   * Gives the vm an extra volume, in its definition and at once when it runs; it keeps it over every later definition
   * until `volume.detach`. A vm that is not defined has it from its definition on. The guest knows it by `serialOf`.
   * Fails with `no_volume`, and `volume_in_use` while another vm has it.
   */
  'volume.attach': command(t.Object({ workload: workloadId, volume: Volume }), nothing),
  /**
   * Takes it from the vm again; without it, or without the vm, nothing happens. Fails with `volume_held` when the
   * running guest does not release it: it keeps it then.
   */
  'volume.detach': command(t.Object({ workload: workloadId, volume: Volume }), nothing),
  /**
   * Deletes the disk of this generation with all its layers; without one it does nothing. Fails with `volume_in_use`
   * for an extra volume that a vm has.
   */
  'volume.remove': command(Volume, nothing),
  /**
   * Takes a snapshot of the layer `from`, on which `vm.volume` becomes a new one, and defines the vm with it. The vm
   * may run: where its guest agent answers, file systems are frozen meanwhile. `consistent`: they were, or the
   * guest had shut down. `usedBytes`: what the snapshot takes on the host. Fails with `no_volume`.
   */
  'volume.snapshot': command(
    t.Object({ vm: Vm, from: layerNumber }),
    t.Object({ consistent: t.Boolean(), usedBytes: counter }),
  ),
  /**
   * Makes the layer of `volume` on the layer `from`, whose state it has, with `sizeBytes` as its size. No vm uses it
   * yet. Fails with `no_volume`.
   */
  'volume.fork': command(
    t.Object({
      volume: Volume,
      from: layerNumber,
      sizeBytes: t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    }),
    nothing,
  ),
  /**
   * Writes the layer `from` into the layer `into` below it and deletes it, also under a running vm, and defines the vm
   * as `vm`. Layers on `from` stand on `into` afterwards, and the state that `into` had before is gone. Without `from`
   * only the definition is set. `usedBytes`: of `into`. Fails with `no_volume`.
   */
  'volume.merge': command(
    t.Object({ vm: Vm, from: t.Integer({ minimum: 1, maximum: 999_999 }), into: layerNumber }),
    t.Object({ usedBytes: counter }),
  ),
  /** Deletes one layer, which must not be in use. Without it nothing happens. Fails with `layer_in_use`. */
  'volume.remove-layer': command(t.Object({ volume: Volume, layer: layerNumber }), nothing),
  /** Writes the seed of a vm and replaces an earlier one. Fails with `encrypted_for_another`. */
  'seed.write': command(t.Union([ConfigDrive, Seed]), nothing),
  /** Ejects the seed from the vm and deletes it. Without vm or seed it does nothing. */
  'seed.remove': command(t.Object({ workload: workloadId }), nothing),
  /** Loads the vm's rules, which replace its earlier ones, and stores them for reboots of the host. */
  'firewall.allow': command(PortRules, nothing),
  /**
   * Puts the policy of the vm's port into force. A policy older than the one in force changes nothing, nor does one of
   * a vm without rules: `firewall.allow` brings it.
   */
  'firewall.set-policy': command(t.Object({ workload: workloadId, policy: PortPolicy }), nothing),
  /** The counters of the vm's firewall. Fails with `no_port_rules`. */
  'firewall.look': command(t.Object({ workload: workloadId }), FirewallReport),
  /** Removes the vm's rules: its tap then sends nothing. */
  'firewall.forget': command(t.Object({ workload: workloadId }), nothing),
  /**
   * Lets the vm use floating addresses beside those of its `firewall.allow`, or not any more; they last until they are
   * taken away, also while the vm has no rules. On: another vm of this node that had one loses it, and the neighbours
   * learn where the address is. Fails with `no_port_rules`.
   */
  'firewall.float': command(
    t.Object({ workload: workloadId, addresses: t.Array(address, { maxItems: 100 }), on: t.Boolean() }),
    nothing,
  ),
  /**
   * Adds addresses to the running guest's interface with this MAC address and removes others, by its guest agent, until
   * its next boot. `silent`: no agent answers or it refuses; `off`: the vm does not run.
   */
  'guest.addresses': command(
    t.Object({
      workload: workloadId,
      mac,
      add: t.Array(cidr, MANY),
      remove: t.Array(cidr, MANY),
      /** Left out: Linux. Windows keeps the change over its boots. */
      os: t.Optional(t.Enum(osFamilies)),
    }),
    t.Object({ guest: t.Enum(['applied', 'silent', 'off']) }),
  ),
  /**
   * Sets a private network on this node, or replaces it: devices, rules, and the cards of its vms, also of running
   * ones. `waiting`: vms whose card comes or goes at their next start, because they cannot change while they run.
   */
  'network.set': command(PrivateNetwork, t.Object({ waiting: t.Array(workloadId, { maxItems: 500 }) })),
  /** Removes a private network from this node, and the cards of its vms. Without it nothing happens. */
  'network.remove': command(t.Object({ network: networkId }), nothing),
  /**
   * Creates the definition or replaces it for the next start; a running vm is not touched. Fails with `no_seed`,
   * `no_iso`, `no_bridge`, and with `no_firmware` when the node cannot run the hardware.
   */
  'vm.define': command(Vm, nothing),
  /** From now on the node does this when the vm ends by itself. Fails with `no_vm`. */
  'vm.set-restart-policy': command(t.Object({ workload: workloadId, restartPolicy: RestartPolicy }), nothing),
  /**
   * Puts the ISO into the CD drive or, with null, empties it, in the definition and at once in a running vm. Fails with
   * `no_vm`, `no_iso`.
   */
  'vm.set-iso': command(t.Object({ workload: workloadId, iso: t.Union([isoId, t.Null()]) }), nothing),
  /** Limits the vm from now on: at once when it runs, without a gap in its traffic. Fails with `no_vm`. */
  'vm.set-speed': command(t.Object({ workload: workloadId, speed: Speed }), nothing),
  /** The vm's power. */
  'vm.look': command(t.Object({ workload: workloadId }), t.Object({ power: Power })),
  /**
   * Starts the vm, now and after reboots of the host. From then on the node starts it again when it ends by itself, as
   * its `restartPolicy` says. Fails with `no_port_rules` before `firewall.allow`, with `no_vm`.
   */
  'vm.start': command(t.Object({ workload: workloadId }), nothing),
  /**
   * Asks the guest to shut down, waits up to `graceSeconds`, then switches the vm off; 0: at once. The definition
   * stays.
   */
  'vm.stop': command(
    t.Object({ workload: workloadId, graceSeconds: t.Integer({ minimum: 0, maximum: 600 }) }),
    nothing,
  ),
  /** Switches the vm off and deletes definition and seed; the disk stays. Without a vm it does nothing. */
  'vm.remove': command(t.Object({ workload: workloadId }), nothing),
  /**
   * Waits until the guest answers by its agent or by SSH at `address`, at most `limitSeconds`. `off`: the vm is no
   * longer running, so it will not answer.
   */
  'vm.await': command(
    t.Object({
      workload: workloadId,
      address: t.Union([address, t.Null()]),
      limitSeconds: t.Integer({ minimum: 1, maximum: 900 }),
      /** Once it answered, looks at what it has, until that is all or for so long. */
      look: t.Optional(GuestLook),
    }),
    t.Object({ answered: t.Enum(['agent', 'ssh', 'no', 'off']), seen: t.Optional(GuestSeen) }),
  ),
  /**
   * Sets the password of a user of the running guest, from its crypt(3) hash or, for Windows, from the password that is
   * encrypted for the node. `set` is false where no guest agent does it: none answers, it is frozen or refuses. Fails
   * with `encrypted_for_another`.
   */
  'guest.set-password': command(
    t.Object({
      workload: workloadId,
      user: t.String({ pattern: '^[A-Za-z_][a-z0-9_-]{0,31}$' }),
      hash: t.Union([t.String({ pattern: '^\\$[0-9a-zA-Z]{1,16}\\$[^:\\s]{1,200}$' }), encryptedPassword]),
    }),
    t.Object({ set: t.Boolean() }),
  ),
  /**
   * Asks the running guest for its system, and with `script` for the result of its startup script. All of it is the
   * guest's claim. `answers` is false where no guest agent does; `script` is null until the script has ended.
   */
  'guest.look': command(
    t.Object({ workload: workloadId, script: t.Boolean() }),
    t.Object({
      answers: t.Boolean(),
      system: t.Union([GuestSystem, t.Null()]),
      script: t.Union([StartupResult, t.Null()]),
    }),
  ),
  /**
   * Tries a place for backups as a backup does, and looks for what it is said to hold. What is wrong with it is the
   * answer and no failure. It leaves a few bytes in a repository of its own there.
   */
  'backup-target.test': command(BackupTest, BackupTestResult),
  /**
   * Saves the disk as it is at one moment, while its vm runs on; where the guest agent answers, file systems are frozen
   * at that moment. Sent again, it answers what it made before. Other commands of the workload do not wait for it.
   * Fails with `no_volume`, `pool_full`, and `backup_…`: see `BackupTrouble`.
   */
  'backup.make': command(
    t.Object({
      backup: backupId,
      volume: Volume,
      target: BackupTarget,
      limitBytesPerSecond: t.Optional(t.Integer({ minimum: 1024, maximum: 2 ** 40 })),
    }),
    BackupMade,
  ),
  /**
   * Makes a disk of `sizeBytes` with what a snapshot holds. A disk that exists stays as it is. Fails with
   * `disk_too_small`, `pool_full`, `volume_differs`, `backup_no_snapshot`, `backup_damaged` and others of `backup_…`.
   */
  'backup.restore': command(
    t.Object({
      snapshot: snapshotId,
      volume: Volume,
      sizeBytes: t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
      target: BackupTarget,
    }),
    nothing,
  ),
  /**
   * Defines a vm without any network card on a disk that was restored, and starts it. It is not started again when it
   * ends. Fails with `no_volume`, `no_firmware`, `no_virtualisation`.
   */
  'drill.start': command(
    t.Object({
      workload: workloadId,
      vcpus: t.Integer({ minimum: 1, maximum: 64 }),
      memoryMb: t.Integer({ minimum: 32, maximum: 65_536 }),
      volume: Volume,
      hardware: Hardware,
    }),
    nothing,
  ),
  /**
   * Waits for a proof that the system of that vm works, at most `limitSeconds`. Fails with `drill_no_answer`,
   * `drill_off` and `drill_panic`.
   */
  'drill.await': command(
    t.Object({ workload: workloadId, limitSeconds: t.Integer({ minimum: 1, maximum: 900 }) }),
    t.Object({ proof: t.Enum([...drillProofs]) }),
  ),
  /** Forgets snapshots; what they alone took is free after `backup.prune`. Fails with `backup_…`. */
  'backup.forget': command(BackupForget, BackupsForgotten),
  /** Frees what no snapshot needs any more. Fails with `backup_append_only` and others of `backup_…`. */
  'backup.prune': command(t.Object({ target: BackupTarget }), t.Object({ freedBytes: counter })),
  /** Reads the part `part` of `of` of all that the repository holds. What is wrong is the answer and no failure. */
  'backup.check': command(
    t.Object({
      target: BackupTarget,
      part: t.Integer({ minimum: 1, maximum: MOST_PARTS }),
      of: t.Integer({ minimum: 1, maximum: MOST_PARTS }),
    }),
    BackupCheckResult,
  ),
  /**
   * Clears the memory of these cards, proves it, and checks that each can be sold. What is wrong with a card is the
   * answer and no failure. No program may use them meanwhile.
   */
  'cards.check': command(
    t.Object({ cards: t.Array(cardUuid, { minItems: 1, maxItems: MOST_CARDS }) }),
    t.Object({ cards: t.Array(CardCheck, { maxItems: MOST_CARDS }) }),
  ),
  /**
   * Brings the image unless the node has it. `sizeBytes`: the sum of its compressed layers. Fails with
   * `image_too_large`, `registry_refused`, `no_image`, `registry_unreachable`, `download_refused`, `pool_full`,
   * `encrypted_for_another`.
   */
  'container-image.ensure': command(ContainerImage, t.Object({ sizeBytes: counter })),
  /** Deletes the image; without one it does nothing. An instance that was made from it goes on. */
  'container-image.remove': command(t.Object({ id: containerImageId }), nothing),
  /**
   * Makes the file system of the instance's /workspace, which may hold `sizeBytes`. One that exists is kept, and grows
   * if it is smaller. Fails with `pool_full`.
   */
  'workspace.create': command(
    t.Object({
      workload: workloadId,
      number: t.Integer({ minimum: 1, maximum: 2 ** 31 - 1 }),
      sizeBytes: t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    }),
    nothing,
  ),
  /** Deletes /workspace and all that is in it; without one it does nothing. */
  'workspace.remove': command(t.Object({ workload: workloadId }), nothing),
  /**
   * Makes the container, which is not started. One that differs is stopped and made anew; /workspace stays. Fails with
   * `no_container_image`, `no_workspace`, `no_card`, `port_taken`, `no_container_engine`, `encrypted_for_another`.
   */
  'container.create': command(Container, nothing),
  /**
   * Starts the container, now and after reboots of the host. From then on the node starts it again when it ends by
   * itself, as its `restartPolicy` says. Fails with `no_container`, `no_card`, `no_workspace`, `container_not_started`.
   */
  'container.start': command(t.Object({ workload: workloadId }), nothing),
  /** Asks the command to end, waits up to `graceSeconds`, then kills it; 0: at once. */
  'container.stop': command(
    t.Object({ workload: workloadId, graceSeconds: t.Integer({ minimum: 0, maximum: 600 }) }),
    nothing,
  ),
  /** Deletes the container, its network and ports; /workspace stays. Without a container it does nothing. */
  'container.remove': command(t.Object({ workload: workloadId }), nothing),
  /** The container's power, and why it ended; null where it runs, never ran, or was stopped by a command. */
  'container.look': command(
    t.Object({ workload: workloadId }),
    t.Object({ power: Power, end: t.Union([ContainerEnd, t.Null()]) }),
  ),
  /** Waits until the instance's SSH answers, at most `limitSeconds`. `off`: the container does not run. */
  'container.await': command(
    t.Object({ workload: workloadId, limitSeconds: t.Integer({ minimum: 1, maximum: 900 }) }),
    t.Object({ answered: t.Enum(['ssh', 'no', 'off']) }),
  ),
  /** From now on these keys may log in, and no others. Fails with `no_container`. */
  'container.set-keys': command(t.Object({ workload: workloadId, authorizedKeys }), nothing),
  /**
   * From now on these HTTP ports have names under the domain, and no others. A name leads to its instance while that
   * runs. Fails with `no_http_proxy`, `http_proxy_refused`.
   */
  'http-names.set': command(HttpNamesOfHost, t.Object({ scheme: httpScheme })),
  /** The last lines that the container has written. Fails with `no_container`. */
  'container.logs': command(
    t.Object({ workload: workloadId, lines: t.Integer({ minimum: 1, maximum: MOST_LOG_LINES }) }),
    t.Object({ text: anyText(MOST_LOG_CHARACTERS), truncated: t.Boolean() }),
  ),
}

export type CommandName = keyof typeof commands
export type Input<N extends CommandName> = Static<(typeof commands)[N]['input']>
export type Output<N extends CommandName> = Static<(typeof commands)[N]['output']>

/**
 * The start of the key of a command that looks and for whose answer somebody waits now: it is asked once, and the node
 * stores no answer.
 */
export const READ_KEY = 'read/'

/** A command for a node. The runner gives it its key, `<job>/<step>` or `<job>/<step>/undo`. */
export type NodeCommand<N extends CommandName = CommandName> = { nodeId: string; name: N; input: Input<N> }
export const nodeCommand = <N extends CommandName>(nodeId: string, name: N, input: Input<N>): NodeCommand<N> => ({
  nodeId,
  name,
  input,
})

// ---------------------------------------------------------------- facts and reports
/** Facts about the host, sent when the agent connects and whenever one changes. */
export const Facts = t.Object({
  hostname: line(253),
  agentVersion: line(64),
  fake: t.Boolean(),
  os: line(200),
  kernel: line(200),
  bootedAt: timestamp,
  cpu: t.Object({ model: line(200), threads: t.Integer({ minimum: 1, maximum: 65_536 }) }),
  memoryMb: megabytes,
  /** `kvm` only if a probe guest ran with it; `reason` is the finding in words. */
  virtualisation: t.Object(
    { kind: t.Enum(['kvm', 'emulation', 'none']), reason: line(500) },
    { title: 'Virtualisation' },
  ),
  /** The firmware that vms can have here, and whether they can have a TPM; left out: BIOS only. */
  hardware: t.Optional(
    t.Object({ firmware: t.Array(t.Enum(firmwares), { maxItems: 8 }), tpm: t.Boolean() }, { title: 'NodeHardware' }),
  ),
  versions: t.Record(t.String({ pattern: '^[a-z0-9._-]{1,40}$' }), line(100), {
    maxProperties: 50,
    additionalProperties: false,
  }),
  bridges: t.Array(t.Object({ name: bridgeName, addresses: t.Array(cidr, { maxItems: 64 }) }), { maxItems: 256 }),
  /** Addresses of the host itself, with prefix lengths. */
  addresses: t.Array(cidr, { maxItems: 256 }),
  /** The host's address between the nodes: that from which it reaches its controller. */
  managementAddress: t.Optional(address),
  /** Left out by a host that has no container engine. */
  containers: t.Optional(ContainerEngine),
  cards: t.Optional(t.Array(Card, { maxItems: MOST_CARDS })),
})
export type Facts = Static<typeof Facts>

/** The kinds of storage pools that an agent of this version can have; `fake` is that of a fake node. */
export const poolKinds = ['file', 'lvm-thin', 'zfs', 'rbd', 'fake'] as const
export type PoolKind = (typeof poolKinds)[number]
/** A label of the operator's for how fast a pool is, such as `nvme` or `hdd`. */
export const POOL_CLASS = '^[a-z0-9][a-z0-9-]{0,19}$'

/**
 * Size and free space of a storage pool, in bytes, and what is wrong with it in words. `kind` is one of `poolKinds`, or
 * one that a newer agent has. Disks in pools of the kinds `lvm-thin`, `zfs` and `rbd` are always raw. `path` is where
 * the pool is on the host: a directory, a thin pool, a data set, or a pool of Ceph's.
 */
export const PoolCapacity = t.Object(
  {
    name: line(32),
    kind: line(20),
    path: line(400),
    totalBytes: counter,
    freeBytes: counter,
    class: t.Optional(line(20)),
    /** Of a thin pool, whose metadata can be full before its data is. */
    metadataTotalBytes: t.Optional(counter),
    metadataFreeBytes: t.Optional(counter),
    warnings: t.Optional(t.Array(line(300), { maxItems: 8 })),
    /** It does not answer since then: the figures are the last that are known, or 0. */
    silentSince: t.Optional(timestamp),
  },
  { title: 'StoragePool' },
)
export type PoolCapacity = Static<typeof PoolCapacity>

/** The workloads that a report names at most. */
export const MOST_WORKLOADS = 5000
/** They may be long, and a heartbeat has to fit its frame. */
export const MOST_ENDS = 100

/** The parts of a host that know its workloads. Each may hang. */
export const silentParts = ['hypervisor', 'containers'] as const
export type SilentPart = (typeof silentParts)[number]

/** Sent every 10 s. Counters are totals since the vm's start, seen from the vm (`rx` is received by it). */
export const Heartbeat = t.Object({
  type: t.Literal('heartbeat'),
  at: timestamp,
  cpuPercent: t.Number({ minimum: 0, maximum: 100 }),
  load1: t.Number({ minimum: 0, maximum: 1_000_000 }),
  memoryFreeMb: megabytes,
  pools: t.Array(PoolCapacity, { maxItems: 64 }),
  workloads: t.Array(
    // Processor time in ms: in nanoseconds a large vm passes the safe integers within two days.
    t.Object({
      ...{ id: workloadId, power: Power, cpuMs: counter, rxBytes: counter, txBytes: counter },
      /** Of a container that ended by itself, for at most `MOST_ENDS` of them. */
      end: t.Optional(ContainerEnd),
    }),
    { maxItems: MOST_WORKLOADS },
  ),
  /** The parts that do not answer: nothing is known of their workloads, which are not named. */
  silent: t.Optional(
    t.Array(t.Object({ part: t.Enum(silentParts), since: timestamp, why: line(300) }), {
      maxItems: silentParts.length,
    }),
  ),
})
export type Heartbeat = Static<typeof Heartbeat>

/**
 * Everything on the host with Berth's mark, so that the controller can compare the wanted with the actual state. The
 * agent only reports; it never deletes what it finds.
 */
export const Inventory = t.Object({
  type: t.Literal('inventory'),
  vms: t.Array(t.Object({ workload: workloadId, power: Power }), { maxItems: MOST_WORKLOADS }),
  volumes: t.Array(Volume, { maxItems: MOST_WORKLOADS }),
  /** Names of vms without Berth's mark: shown, never changed. */
  foreign: t.Array(line(200), { maxItems: 500 }),
  containers: t.Optional(t.Array(t.Object({ workload: workloadId, power: Power }), { maxItems: MOST_WORKLOADS })),
  /** The instances that have a /workspace here. */
  workspaces: t.Optional(t.Array(workloadId, { maxItems: MOST_WORKLOADS })),
  /** The parts and pools that did not answer: nothing follows from what is not named of them. */
  silent: t.Optional(t.Array(t.Enum(silentParts), { maxItems: silentParts.length })),
  silentPools: t.Optional(t.Array(line(32), { maxItems: 64 })),
})
export type Inventory = Static<typeof Inventory>

/** Addresses that one frame names at most: with the longest ones it is half as long as a frame may be. */
export const MOST_ADDRESSES = 5000
/** Frames of one report of addresses at most. */
export const MOST_ADDRESS_PARTS = 4
/**
 * The addresses that workloads on this host may use, with their floating ones: an IPv4 address alone, an IPv6 prefix
 * with its length. Sent before each inventory, in `parts` frames one after the other, of which the first is 1. A report
 * is about what the inventory names, and about disks whose vm is not defined, too.
 */
export const Addresses = t.Object({
  type: t.Literal('addresses'),
  part: t.Integer({ minimum: 1, maximum: MOST_ADDRESS_PARTS }),
  parts: t.Integer({ minimum: 1, maximum: MOST_ADDRESS_PARTS }),
  held: t.Array(
    t.Object({
      workload: workloadId,
      address: t.String({ maxLength: 49, pattern: '^[0-9a-fA-F.:]+(/[0-9]{1,3})?$' }),
    }),
    { maxItems: MOST_ADDRESSES },
  ),
})
export type Addresses = Static<typeof Addresses>

/** A change of power, by a command, by the guest or by hand: sent at once. */
export const PowerChange = t.Object({
  type: t.Literal('power'),
  workload: workloadId,
  power: Power,
  at: timestamp,
  reason: line(200),
  /** Of a container that ended although no command stopped it. */
  end: t.Optional(ContainerEnd),
})

export const crashCauses = ['ended', 'out_of_memory', 'shutdown', 'not_started'] as const

/**
 * A vm or container ended, or did not start, although it should run. Sent at once, and those of the last 24 hours again
 * after each connection: `workload` and `at` identify it.
 */
export const Crash = t.Object({
  type: t.Literal('crash'),
  workload: workloadId,
  at: timestamp,
  /**
   * `ended`: its process was killed or broke off. `shutdown`: by its guest, under the policy `always`; of a container:
   * its command ended with exit code 0.
   */
  cause: t.Enum(crashCauses),
  /** The host's own words, for staff; empty where `cause` says all. */
  detail: line(300),
  /** `restarts`: the node starts it again. `left_off`: its policy or too many tries keep it off. */
  outcome: t.Enum(['restarts', 'left_off']),
  /** Of a container. */
  end: t.Optional(ContainerEnd),
})
export type Crash = Static<typeof Crash>

/** Days of vms that one report of traffic names at most: to store them takes some 10 ms. */
export const MOST_TRAFFIC_DAYS = 250
/** 1.1 PB: what 100 Gbit/s carry in a day. Sums of a year of such days still fit the database. */
const bytesOfDay = t.Integer({ minimum: 0, maximum: 2 ** 50 })
/** More than a year: a node that was not looked at for long has one sum for all of it. */
const secondsMeasured = t.Integer({ minimum: 0, maximum: 40_000_000 })

/**
 * The traffic of vms by day in UTC, as seen from the vm, since the node began to count on that day: sent again until
 * the controller says `traffic-stored` with this `seq`. `meter` names the counting itself: a node that lost its data
 * begins another one, whose sums count beside the earlier ones. `measuredSeconds`: how much of the day it covers,
 * `estimatedSeconds` of it while nobody counted, such as an absence of the agent: that traffic is spread evenly.
 */
export const Traffic = t.Object({
  type: t.Literal('traffic'),
  meter: t.String({ pattern: '^[0-9a-f]{16}$' }),
  seq: counter,
  days: t.Array(
    t.Object({
      workload: workloadId,
      /** Days since 1970. */
      day: t.Integer({ minimum: 0, maximum: 2_932_896 }),
      rxBytes: bytesOfDay,
      txBytes: bytesOfDay,
      measuredSeconds: secondsMeasured,
      estimatedSeconds: t.Optional(secondsMeasured),
    }),
    { maxItems: MOST_TRAFFIC_DAYS },
  ),
})
export type Traffic = Static<typeof Traffic>

/** Vms that one frame of metrics names at most; a node with more sends several frames. */
export const MOST_SAMPLES = 1000
/** The longest time that one sample covers, in ms. The agent drops a longer one: it becomes a gap. */
export const LONGEST_SAMPLE_MS = 120_000
const sampleMs = t.Integer({ minimum: 1, maximum: LONGEST_SAMPLE_MS })

/**
 * The use of one vm since the sample before, as increments: a lost frame, a restart of the vm or of the agent is a gap
 * and never a negative value. `ms` is the time that the increments cover.
 */
const sample = {
  ms: sampleMs,
  /** Processor time in ms; bytes received and sent; packets received and sent, as seen from the vm. */
  fast: t.Array(counter, { minItems: 5, maxItems: 5 }),
  /** Each 60 s: bytes read and written; reads and writes. */
  disk: t.Optional(t.Object({ ms: sampleMs, sums: t.Array(counter, { minItems: 4, maxItems: 4 }) })),
  /** Each 60 s: memory in use, as the guest's balloon driver tells it. */
  memory: t.Optional(t.Object({ ms: sampleMs, usedMb: megabytes })),
}
export const MetricsSample = t.Object({ id: workloadId, ...sample })
export type MetricsSample = Static<typeof MetricsSample>
/** The use of the host itself: its processors, all its network devices and all its drives together. */
export const HostSample = t.Object(sample)
export type HostSample = Static<typeof HostSample>

/** Sent each 10 s for the vms that run, and for the host. Nothing of it is sent again. */
export const Metrics = t.Object({
  type: t.Literal('metrics'),
  host: t.Optional(HostSample),
  cards: t.Optional(t.Array(CardSample, { maxItems: MOST_CARDS })),
  samples: t.Array(MetricsSample, { maxItems: MOST_SAMPLES }),
})
export type Metrics = Static<typeof Metrics>

export const LogLevel = t.Enum(['info', 'command', 'warning', 'error'])
export type LogLevel = Static<typeof LogLevel>

const key = line(120)

/** Frames from the agent, one JSON text each, at most `MOST_FRAME_BYTES`. */
export const FromAgent = t.Union([
  t.Object({ type: t.Literal('facts'), facts: Facts }),
  Heartbeat,
  Addresses,
  Inventory,
  PowerChange,
  Crash,
  Traffic,
  Metrics,
  t.Object({ type: t.Literal('log'), key, level: LogLevel, text: anyText(4096), at: timestamp }),
  t.Object({ type: t.Literal('progress'), key, percent: t.Integer({ minimum: 0, maximum: 100 }) }),
  t.Object({ type: t.Literal('done'), key, output: t.Unknown() }),
  t.Object({
    type: t.Literal('failed'),
    key,
    error: t.Object({ code: t.String({ pattern: '^[a-z0-9_]{1,60}$' }), message: anyText(2000) }),
  }),
])
export type FromAgent = Static<typeof FromAgent>

const session = t.String({ pattern: '^[A-Za-z0-9_-]{43}$' })

/** Frames to the agent. */
export const ToAgent = t.Union([
  /** The first frame after the upgrade. `now` lets the agent measure its clock's skew. */
  t.Object({
    type: t.Literal('welcome'),
    nodeId: line(60),
    controllerVersion: line(64),
    now: timestamp,
    /**
     * Raised when a takeover or a restore puts another database in place; left out: 0. A node that obeyed a higher one
     * closes the connection with `closeCodes.outdated`.
     */
    epoch: t.Optional(counter),
    /** The keys that the node accepts of the controller's certificate from now on. */
    pins: t.Optional(t.Array(t.String({ pattern: `^${PIN}$` }), { minItems: 1, maxItems: MOST_PINS })),
  }),
  t.Object({ type: t.Literal('command'), key, name: line(60), input: t.Unknown() }),
  /** Requests facts, a heartbeat and the inventory at once. */
  t.Object({ type: t.Literal('report') }),
  /** The days of a report of traffic are in the database, up to this number. */
  t.Object({ type: t.Literal('traffic-stored'), seq: counter }),
  /** A viewer waits: the node opens `agentPaths.console` for this session at once. */
  t.Object({
    type: t.Literal('console'),
    session,
    workload: workloadId,
    kind: t.Enum(consoleKinds),
  }),
  /** Somebody asks for files of a backup: the node opens `agentPaths.files` for this session, and is asked there. */
  t.Object({ type: t.Literal('files'), session }),
])
export type ToAgent = Static<typeof ToAgent>

// ---------------------------------------------------------------- enrolment (plain HTTP calls, JSON both ways)
const protocol = t.Integer({ minimum: 0, maximum: 65_535 })

export const EnrollRequest = t.Object({
  token: line(200),
  protocol,
  /** Ed25519, raw 32 bytes, base64url. */
  publicKey: t.String({ pattern: '^[A-Za-z0-9_-]{43}$' }),
  facts: Facts,
  /** SHA-256 of the machine's id and host name, hex: the same machine is not made a second node. */
  machineId: t.Optional(t.String({ pattern: '^[0-9a-f]{64}$' })),
  /** `successorText`, signed by the key that this machine had until now: it agrees that the new one takes its place. */
  consent: t.Optional(t.String({ pattern: '^[A-Za-z0-9_-]{86}$' })),
})
export type EnrollRequest = Static<typeof EnrollRequest>
/** Errors have the API's form `{ error: { code, message } }`; 401 for a token that is expired or invalid. */
export const EnrollResponse = t.Object({ nodeId: line(60), name: line(253) })
export type EnrollResponse = Static<typeof EnrollResponse>

/** 401 when the node was removed or its key revoked; 426 for another protocol, with what to update. */
export const ChallengeRequest = t.Object({ nodeId: line(60), protocol })
export const ChallengeResponse = t.Object({ nonce: line(200) })
