// Guests in the protocol: the seed that sets one up, and what is seen of it.
import { type Static, Type as t } from 'typebox'
import { anyText, counter, ENCRYPTED, line, workloadId } from '../bounds.ts'
import { address, cidr, mac, tap } from './ports.ts'

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

export const encryptedPassword = t.String({ pattern: ENCRYPTED })
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

/**
 * The addresses that a guest's interface is to have, with its gateways and resolvers, in place of those of `leave`.
 * `isOnLink`: the gateway answers on its link, though no network of the interface has it.
 */
export const GuestNetwork = t.Object({
  mac,
  addresses: t.Array(cidr, { minItems: 1, maxItems: 100 }),
  gateways: t.Array(t.Object({ version: t.Enum([4, 6]), via: address, isOnLink: t.Boolean() }), { maxItems: 2 }),
  resolvers: t.Array(address, { maxItems: 8 }),
  leave: t.Array(address, { maxItems: 100 }),
})
export type GuestNetwork = Static<typeof GuestNetwork>

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

/** The system of a guest in its own words; empty where it names none. */
export const GuestSystem = t.Object({ osId: line(40), osName: line(100), osVersion: line(100), kernel: line(100) })
export type GuestSystem = Static<typeof GuestSystem>
/** A guest lists no more of its file systems. */
export const MOST_FILE_SYSTEMS = 16
/** A file system of a guest's disks in its own words: `/`, `vda1`, `ext4`. */
export const GuestFileSystem = t.Object({
  path: line(200),
  device: line(64),
  kind: line(40),
  usedBytes: counter,
  totalBytes: counter,
})
export type GuestFileSystem = Static<typeof GuestFileSystem>
/** The result of a startup script: its exit code and the beginning of what it wrote, which may be any text. */
export const StartupResult = t.Object({
  exitCode: t.Integer({ minimum: 0, maximum: 255 }),
  output: anyText(64 << 10),
  truncated: t.Boolean(),
})
export type StartupResult = Static<typeof StartupResult>
