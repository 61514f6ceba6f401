import { Type as t } from 'typebox'
import { printable, withoutMarks } from '../../../agent/protocol/text.ts'
import { invalid } from '../../kernel/api/errors.ts'
import { namedSchema, time } from '../../kernel/api/operation.ts'
import { parseSshKey } from '../../kernel/crypto/ssh-key.ts'
import { iso } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { accountResource } from '../account-records/owned.ts'
import { accountById } from '../account-records/queries.ts'
import { ownerOfSshKey, type SshKey, sshKeyById } from './queries.ts'

/** 100 keys an account. */
export const KEYS_PER_ACCOUNT = 100
const types: ReadonlySet<string> = new Set([
  'ssh-ed25519',
  'ssh-rsa',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'sk-ssh-ed25519@openssh.com',
  'sk-ecdsa-sha2-nistp256@openssh.com',
])

/** Forms that people paste in place of a `.pub` file, and the way to one. */
const otherForms: readonly [is: RegExp, message: string][] = [
  [/PRIVATE KEY/, 'is a private key. Keep it to yourself and paste the .pub file.'],
  [
    /^PuTTY-User-Key-File/,
    'is a private key of PuTTY. Keep it to yourself and paste the public key that PuTTYgen shows.',
  ],
  [/^---- BEGIN SSH2 PUBLIC KEY/, 'is in the form of RFC 4716. Convert it with ssh-keygen -i -f and paste the result.'],
  [/[\r\n\u0085\u2028\u2029]/, 'must be one line, as in a .pub file. Add further keys one by one.'],
  [
    /^\S+-cert-v0\d@openssh\.com\s/,
    'is a certificate. Paste the public key for which it was issued: the .pub file without -cert.',
  ],
  [/^ssh-dss\s/, 'is a DSA key, which OpenSSH no longer accepts. Make a new one with ssh-keygen -t ed25519.'],
]
/** Tabs may stand between the parts. */
const control = /[\u0000-\u0008\u000b-\u001f\u007f]/
const startsWithOptions = new RegExp(
  `^(?!(?:${[...types].join('|')})[ \\t]).*[ \\t](?:${[...types].join('|')})[ \\t]+AAAA`,
)

/**
 * `type base64 [comment]` with the comment cut, which may be in any script. Throws `validation_failed`, which names the
 * form. The library alone accepts a NUL in a comment.
 */
export function readPublicKey(text: string): { publicKey: string; fingerprint: string; comment: string } {
  const wrong = (message: string) => invalid({ field: 'publicKey', message })
  const trimmed = text.trim()
  const other = otherForms.find(([is]) => is.test(trimmed))
  if (other) throw wrong(other[1])
  if (startsWithOptions.test(trimmed))
    throw wrong('starts with options, such as from="…", which Berth does not store. Paste the part from ssh-… on.')
  if (control.test(trimmed)) throw wrong('has a character that cannot be seen. Copy it again from the .pub file.')
  const [type = '', data = '', ...comment] = trimmed.split(/[ \t]+/)
  if (!types.has(type)) throw wrong('must start with ssh-ed25519, ecdsa-sha2-… or ssh-rsa, as in a .pub file.')
  const blob = type.startsWith('sk-') ? securityKeyBlob(type, data) : blobOf(type, data)
  // Exactly this text and nothing behind it: what sshd would stumble over must not lock its owner out.
  if (blob?.toString('base64') !== data)
    throw wrong('is not a complete public key. Was a part lost when it was copied?')
  if (type === 'ssh-rsa' && rsaBits(blob) < 2048)
    throw wrong('is an RSA key of fewer than 2048 bits. Make a new one with ssh-keygen -t ed25519.')
  return {
    publicKey: `${type} ${data}`,
    fingerprint: 'SHA256:' + new Bun.CryptoHasher('sha256').update(blob).digest('base64').replace(/=+$/, ''),
    comment: printable(withoutMarks(comment.join(' ')).slice(0, 100)),
  }
}

const blobOf = (type: string, data: string): Buffer | undefined => parseSshKey(`${type} ${data}`)?.getPublicSSH()

/**
 * Keys on a security token, which the library does not know: fields with their lengths before them, and nothing behind.
 */
function securityKeyBlob(type: string, data: string): Buffer | undefined {
  const blob = Buffer.from(data, 'base64')
  const found: Buffer[] = []
  let at = 0
  while (at + 4 <= blob.length) {
    const length = blob.readUInt32BE(at)
    found.push(blob.subarray(at + 4, at + 4 + length))
    at += 4 + length
  }
  const [name, ...rest] = found
  const ed25519 = type === 'sk-ssh-ed25519@openssh.com'
  const whole = at === blob.length && name?.toString() === type && rest.length === (ed25519 ? 2 : 3)
  const key = rest[ed25519 ? 0 : 1]
  return whole && key?.length === (ed25519 ? 32 : 65) ? blob : undefined
}

/** The third field of the blob is the modulus, with a leading zero byte. */
function rsaBits(blob: Buffer) {
  let at = 0
  for (let field = 0; field < 2; field++) at += 4 + blob.readUInt32BE(at)
  return (blob.readUInt32BE(at) - 1) * 8
}

export const sshKey = accountResource({ name: 'SSH key', notFound: 'ssh_key_not_found' }, ownerOfSshKey, sshKeyById)

export const keyResponse = namedSchema('SshKey', {
  id: t.String(),
  ownerId: t.String(),
  name: t.String(),
  publicKey: t.String(),
  fingerprint: t.String(),
  createdAt: time,
})
export const showKey = ({ id, ownerId, name, publicKey, fingerprint, createdAt }: SshKey) => ({
  id,
  ownerId,
  name,
  publicKey,
  fingerprint,
  createdAt: iso(createdAt),
})

/**
 * These keys as lines for authorized_keys. `whose`: the accounts they may be of, the owner first. Throws
 * `validation_failed` for another's.
 */
export function publicKeysOf(
  tx: Db,
  whose: readonly [string, ...string[]],
  ids: readonly string[],
  field: string,
): string[] {
  const found = [...new Set(ids)].map((id) => sshKeyById(tx, id))
  if (!found.length || !found.every((key) => key && whose.includes(key.ownerId)))
    throw invalid({ field, message: `must be SSH keys of ${accountById(tx, whose[0])?.name ?? 'the owner'}.` })
  return found.map((key) => key!.publicKey)
}
