// Hostname, access and refusals that orders, setups and reinstallations have in common.

import { Type as t } from 'typebox'
import type { OsFamily } from '../../../agent/protocol/wire.ts'
import { type Image, image } from '../../catalog/images/model.ts'
import { imageById } from '../../catalog/images/queries.ts'
import { publicKeysOf } from '../../identity/ssh-keys/model.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { described, see } from '../../kernel/api/operation.ts'
import { newRootPassword, sha512Crypt } from '../../kernel/crypto/sha512-crypt.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { bytes, exactGb } from '../../kernel/words.ts'
import { scriptOf } from '../scripts/model.ts'
import { passwordOn, type RootPassword } from '../server-vm/root-password.ts'
import type { Access, FirstBoot } from '../server-vm/seed.ts'

/** Letters, numbers and hyphens; short or full. */
export const hostname = t.String({
  minLength: 1,
  maxLength: 253,
  pattern: '^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$',
  title: 'letters, numbers and hyphens, like web01 or web01.example.com',
})
export const access = t.Object(
  {
    mode: t.Enum(['password', 'ssh_keys']),
    sshKeyIds: t.Optional(t.Array(t.String({ minLength: 1, maxLength: 40 }), { maxItems: 100 })),
  },
  { additionalProperties: false },
)

/** In `prepare`: hashing takes milliseconds that no transaction should wait for. */
export function rootPasswordFor(wanted: { mode: string } | undefined): RootPassword {
  if (wanted?.mode !== 'password') return undefined
  const tell = newRootPassword()
  return { tell, hash: sha512Crypt(tell) }
}

export function accessFrom(
  tx: Db,
  /** Accounts whose SSH keys may be chosen. */
  whose: readonly [string, ...string[]],
  wanted: { mode: string; sshKeyIds?: string[] | undefined },
  password: RootPassword,
): Access {
  if (wanted.mode === 'password' && !wanted.sshKeyIds?.length) return { passwordHash: password!.hash, publicKeys: [] }
  return {
    passwordHash: password?.hash ?? null,
    publicKeys: publicKeysOf(tx, whose, wanted.sshKeyIds ?? [], 'access.sshKeyIds'),
  }
}

/** `passwordHash` of Windows is the password, encrypted for the node: Windows takes no hash. */
export const accessOn = (
  tx: Db,
  os: OsFamily,
  at: { id: string; nodeId: string },
  access: Access,
  password: RootPassword,
): Access => (os === 'windows' && password ? { ...access, passwordHash: passwordOn(tx, os, at, password) } : access)

/** Throws `validation_failed` for what Windows cannot have. */
export function mustSuit({ os }: Pick<Image, 'os'>, wanted: { access?: { mode: string } | undefined } & FirstBootBody) {
  if (os !== 'windows') return
  if (wanted.access?.mode === 'ssh_keys')
    throw invalid({ field: 'access.mode', message: 'must be password: Windows is signed in to with one.' })
  if (wanted.scriptId !== undefined)
    throw invalid({ field: 'scriptId', message: 'is for Linux. For Windows send userData that begins with #ps1.' })
}

const MOST_USER_DATA_BYTES = 32 << 10
/** Fields of an installation beside image and access: they run at the first boot. */
export const firstBootFields = {
  scriptId: t.Optional(
    described(
      t.String({ minLength: 1, maxLength: 40 }),
      'A startup script of the owner. It runs as it is now: a later change of it changes nothing.',
    ),
  ),
  userData: t.Optional(
    described(
      t.String({ minLength: 1, maxLength: MOST_USER_DATA_BYTES }),
      `For cloud-init: begins with #cloud-config or #!, for Windows with #ps1 or rem cmd; at most ` +
        `${bytes(MOST_USER_DATA_BYTES)}. Name, access and network stay those of the order.`,
    ),
  ),
}
export type FirstBootBody = { scriptId?: string | undefined; userData?: string | undefined }

/** `whose`: the accounts whose scripts may be chosen. Throws `validation_failed`. */
export function firstBootFrom(
  tx: Db,
  whose: readonly string[],
  { scriptId, userData }: FirstBootBody,
  os: OsFamily,
): FirstBoot {
  return {
    ...(scriptId !== undefined && { script: scriptOf(tx, whose, scriptId) }),
    ...(userData !== undefined && { userData: readUserData(userData, os) }),
  }
}

/** The first lines that tell cloudbase-init what it is. */
const forWindows = /^(#cloud-config|#ps1|#ps1_sysnative|#ps1_x86|rem cmd)\s*$/

function readUserData(text: string, os: OsFamily): string {
  const userData = text.replaceAll('\r\n', '\n')
  const wrong = (message: string) => invalid({ field: 'userData', message })
  if (os === 'windows') {
    if (!forWindows.test(userData.split('\n')[0] ?? ''))
      throw wrong('must begin with the line #ps1, rem cmd or #cloud-config for Windows.')
  } else if (!userData.startsWith('#!') && userData.split('\n')[0]?.trim() !== '#cloud-config')
    throw wrong('must begin with the line #cloud-config, or with #! and an interpreter.')
  if (userData.includes('\0')) throw wrong('must be text.')
  if (Buffer.byteLength(userData) > MOST_USER_DATA_BYTES)
    throw wrong(`must have at most ${bytes(MOST_USER_DATA_BYTES)}.`)
  return userData
}

/** Throws `disk_too_small`. */
export function mustFit(chosen: Image, diskGb: number) {
  if (chosen.minDiskGb > diskGb)
    throw new ApiError(
      'disk_too_small',
      `${chosen.name} needs a disk of ${exactGb(chosen.minDiskGb)}; this package has ${exactGb(diskGb)}. ` +
        'Choose another image or a bigger package.',
    )
}
/**
 * The image of this id: one that staff published, or an own one of these accounts. Throws `validation_failed`, with the
 * same words for another's image and for one that never existed.
 */
export function imageOf(tx: Tx, actor: Actor, whose: readonly string[], imageId: string): Image {
  const own = imageById(tx, imageId)
  if (own?.ownerId && own.removedAt === null && whose.includes(own.ownerId)) return own
  const chosen = see(tx, actor, image, imageId, 'imageId')
  mustBePublished(chosen)
  return chosen
}

function mustBePublished({ published }: Image) {
  if (!published) throw invalid({ field: 'imageId', message: 'is not published. Choose another image.' })
}
