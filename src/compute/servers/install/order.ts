// Hostname, access and refusals that orders, setups and reinstallations have in common.

import { Type as t } from 'typebox'
import type { Image } from '../../../catalog/images/model.ts'
import { publicKeysOf } from '../../../identity/ssh-keys/model.ts'
import type { Actor } from '../../../kernel/api/actor.ts'
import { ApiError, invalid } from '../../../kernel/api/errors.ts'
import { line } from '../../../kernel/api/operation.ts'
import { newRootPassword, sha512Crypt } from '../../../kernel/crypto/sha512-crypt.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { exactGb } from '../../../kernel/words.ts'
import type { Access } from './seed.ts'

/** Letters, numbers and hyphens; short or full. */
export const hostname = t.String({
  minLength: 1,
  maxLength: 253,
  pattern: '^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$',
  title: 'letters, numbers and hyphens, like web01 or web01.example.com',
})
export const displayName = line(64)
/** The billing system's own identifier of a server; empty for none. */
export const billingServiceId = line(100, 0)
/**
 * Throws `validation_failed` for a reseller that names a server of its own: there the identifier is the house's, whose
 * billing system would take it for one of its services.
 */
export function mustNameOwnService(actor: Actor, ownerId: string, given: string | null | undefined) {
  if (given && actor.kind === 'reseller' && ownerId === actor.accountId)
    throw invalid({ field: 'billingServiceId', message: 'is for servers of your customers. Leave it out.' })
}
export const access = t.Object(
  {
    mode: t.Enum(['password', 'ssh_keys']),
    sshKeyIds: t.Optional(t.Array(t.String({ minLength: 1, maxLength: 40 }), { maxItems: 100 })),
  },
  { additionalProperties: false },
)

/** `tell` is what the person is shown this one time; `hash` is all that is kept. */
export type RootPassword = { tell: string; hash: string } | undefined

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

/** Throws `disk_too_small`. */
export function mustFit(image: Image, diskGb: number) {
  if (image.minDiskGb > diskGb)
    throw new ApiError(
      'disk_too_small',
      `${image.name} needs a disk of ${exactGb(image.minDiskGb)}; this package has ${exactGb(diskGb)}. ` +
        'Choose another image or a bigger package.',
    )
}
/** Throws `validation_failed`: an image that is not published is for nobody's order. */
export function mustBePublished(image: Image) {
  if (!image.published) throw invalid({ field: 'imageId', message: 'is not published. Choose another image.' })
}
