// The node's identity: an Ed25519 key that never leaves the host, and the id and name that the controller gave it.
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { UplinkSettings } from '../drivers/vlan/vlans.ts'
import { Failure } from '../failure.ts'
import { makePassage } from '../host/directories.ts'
import { BRIDGE_NAME } from '../protocol/bounds.ts'
import { signedText, successorText, vlanRangesOf } from '../protocol/wire.ts'

/** The content of `agent.json`. */
export type Settings = {
  controller: string
  nodeId: string
  name: string
  fake: boolean
  /** The keys that the controller's certificate may have (pin.ts); none: every key. */
  pins?: readonly string[]
  /** The bridge that the operator named at enrolment; `doctor` checks that it exists. */
  bridge?: string
  /** The interface that leads out of the node, and the list of VLANs on it: `20,100-199`, `all` or ``. */
  uplink?: string
  vlans?: string
}
export type Identity = Settings & { key: KeyObject }

const INTERFACE = new RegExp(`^${BRIDGE_NAME}$`)
const KEY = 'node.key'
const SETTINGS = 'agent.json'

/** Makes the data directory. The hypervisor's user can reach the disks below it; only root can read the other files. */
export function makeDataDir(dataDir: string) {
  process.umask(0o077)
  makePassage(dataDir)
}

/** A new key beside the present one, which `keep` replaces: an enrolment that is refused changes nothing. */
export function newKey(dataDir: string) {
  const { privateKey } = generateKeyPairSync('ed25519')
  const path = join(dataDir, `${KEY}.new`)
  writeFileSync(path, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  return {
    publicKey: rawPublicKey(privateKey),
    keep(settings: Settings) {
      renameSync(path, join(dataDir, KEY))
      keepSettings(dataDir, settings)
    },
  }
}

/** The whole file or the former one, whatever happens meanwhile. */
function keepSettings(dataDir: string, settings: Settings) {
  writeFileSync(join(dataDir, `${SETTINGS}.new`), JSON.stringify(settings, null, 2) + '\n', { mode: 0o600 })
  renameSync(join(dataDir, `${SETTINGS}.new`), join(dataDir, SETTINGS))
}

/** From the next connection on the controller's certificate must have one of these keys. */
export function keepPins(dataDir: string, pins: readonly string[]) {
  const settings = readSettings(dataDir)
  keepSettings(dataDir, { ...settings, pins })
}

/** The uplink that the operator named; null: none is named any more. In force without a restart of the agent. */
export function keepUplink(dataDir: string, given: { uplink: string; vlans: string } | null) {
  const { uplink: _, vlans: __, ...settings } = readSettings(dataDir)
  keepSettings(dataDir, { ...settings, ...given })
}

/** The uplink as the operator says it now; undefined where none is named, also before this host is enrolled. */
export function uplinkIn(dataDir: string): UplinkSettings | undefined {
  if (!existsSync(join(dataDir, SETTINGS))) return undefined
  const { uplink, vlans = '' } = readSettings(dataDir)
  return uplink === undefined ? undefined : uplinkFrom(uplink, vlans)
}

/** Undefined: one of the two is not what it should be. */
export function uplinkFrom(name: string, vlans: string): UplinkSettings | undefined {
  const ranges = vlans.trim() === '' ? [] : vlanRangesOf(vlans)
  return ranges && INTERFACE.test(name) ? { name, vlans: ranges } : undefined
}

const readSettings = (dataDir: string) => JSON.parse(readFileSync(join(dataDir, SETTINGS), 'utf8')) as Settings

/** Throws `not_enrolled` when this host has never been enrolled. */
export function readIdentity(dataDir: string): Identity {
  if (!isEnrolled(dataDir)) {
    throw new Failure(
      'not_enrolled',
      `${dataDir} holds no node identity; run: berth agent enroll --controller URL --token-file FILE`,
    )
  }
  return { ...readSettings(dataDir), key: createPrivateKey(readFileSync(join(dataDir, KEY))) }
}

export const isEnrolled = (dataDir: string) => existsSync(join(dataDir, SETTINGS)) && existsSync(join(dataDir, KEY))

/** The signature of one request, base64url, over `signedText` of the wire. */
export const signatureOf = ({ key, nodeId }: Identity, nonce: string) =>
  sign(null, Buffer.from(signedText(nodeId, nonce)), key).toString('base64url')

/** The consent of this host's present key to a new one; undefined where it was never enrolled. */
export function consentTo(dataDir: string, token: string, publicKey: string): string | undefined {
  if (!isEnrolled(dataDir)) return undefined
  return sign(null, Buffer.from(successorText(token, publicKey)), readIdentity(dataDir).key).toString('base64url')
}

/** The 32 bytes of the public key, base64url. */
function rawPublicKey(key: KeyObject): string {
  const { x } = createPublicKey(key).export({ format: 'jwk' })
  if (!x) throw new Error('an Ed25519 key without x')
  return x
}
