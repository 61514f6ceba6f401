// Signatures of OpenPGP over files that others publish, verified by gpgv with a keyring of the given keys alone. What
// it found is read from its status lines: its exit code also counts signatures by keys that nobody asked about.
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ProgramMissing, ProgramStopped, run } from '../processes/exec.ts'

/** A public key. `fingerprint`: of its primary key, in capital hexadecimal digits. */
export type PublicKey = { fingerprint: string; armored: string }
/** A good signature: the key's fingerprint, and when it was made, in milliseconds. */
export type GoodSignature = { fingerprint: string; signedAt: number }

export const signatureFaults = [
  'unsigned',
  'changed',
  'wrong_key',
  'expired_key',
  'expired_signature',
  'revoked_key',
  'weak_digest',
  'unreadable',
  'no_verifier',
] as const
/**
 * Why a file is not trusted. `changed`: it does not match its signature. `wrong_key`: it has signatures, none by one of
 * the keys. `no_verifier`: gpgv is not installed.
 */
export type SignatureFault = (typeof signatureFaults)[number]
export type Verdict<More = object> = ({ good: GoodSignature } & More) | { fault: SignatureFault }

/** Verifies a file by the signature beside it, armored or not. */
export async function verifyDetached(
  file: Uint8Array,
  signature: Uint8Array,
  keys: readonly PublicKey[],
): Promise<Verdict> {
  return verified(keys, { file, signature }, ({ at }) => [at('signature'), at('file')])
}

const BEGIN = '-----BEGIN PGP SIGNED MESSAGE-----'
const SIGNATURE = '-----BEGIN PGP SIGNATURE-----'
const END = '-----END PGP SIGNATURE-----'

/** Verifies a clearsigned file. `text` is the signed part alone: what stands before or after it does not count. */
export async function verifyClearsigned(
  file: Uint8Array,
  keys: readonly PublicKey[],
): Promise<Verdict<{ text: string }>> {
  const signed = signedPart(Buffer.from(file).toString('latin1'))
  if (typeof signed !== 'string') return signed
  let text = ''
  const verdict = await verified(
    keys,
    { signed: Buffer.from(signed, 'latin1') },
    ({ at }) => ['--output', at('text'), at('signed')],
    async ({ at }) => {
      text = await readFile(at('text'), 'utf8')
    },
  )
  return 'fault' in verdict ? verdict : { ...verdict, text }
}

/** From the mark of its beginning to that of its end. With two signed parts nobody can tell which one is meant. */
function signedPart(file: string): string | { fault: SignatureFault } {
  const lines = file.split('\n').map((line) => line.trimEnd())
  const [begin, signature, end] = [BEGIN, SIGNATURE, END].map((mark) => lines.indexOf(mark)) as [number, number, number]
  if (begin < 0) return { fault: 'unsigned' }
  if ([BEGIN, SIGNATURE, END].some((mark) => lines.indexOf(mark) !== lines.lastIndexOf(mark)))
    return { fault: 'unreadable' }
  if (!(begin < signature && signature < end)) return { fault: 'unreadable' }
  return `${file
    .split('\n')
    .slice(begin, end + 1)
    .join('\n')}\n`
}

type Folder = { at: (name: string) => string }

async function verified(
  keys: readonly PublicKey[],
  files: Readonly<Record<string, Uint8Array>>,
  args: (folder: Folder) => string[],
  whenGood: (folder: Folder) => Promise<void> = async () => {},
): Promise<Verdict> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-signature-'))
  const at = (name: string) => join(folder, name)
  try {
    await writeFile(at('keys'), Buffer.concat(keys.map(({ armored }) => dearmored(armored))))
    for (const [name, bytes] of Object.entries(files)) await writeFile(at(name), bytes)
    const always = ['--homedir', folder, '--status-fd', '1', '--keyring', at('keys')]
    const { out } = await run('gpgv', [...always, ...args({ at })])
    const verdict = verdictIn(out, new Set(keys.map(({ fingerprint }) => fingerprint)))
    if ('good' in verdict) await whenGood({ at })
    return verdict
  } catch (error) {
    if (error instanceof ProgramMissing) return { fault: 'no_verifier' }
    if (error instanceof ProgramStopped) return { fault: 'unreadable' }
    throw error
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** SHA-256, SHA-384 and SHA-512, by their numbers in RFC 4880. */
const strongDigests = new Set(['8', '9', '10'])
/** Of a binary and of a text document. */
const classesOfDocuments = new Set(['00', '01'])
/** The words of a status line after which a signature has its end, whatever it was. */
const problems: Readonly<Record<string, SignatureFault>> = {
  BADSIG: 'changed',
  EXPKEYSIG: 'expired_key',
  EXPSIG: 'expired_signature',
  REVKEYSIG: 'revoked_key',
}
/** The reason code of a signature whose key is not in the keyring. */
const NO_KEY = '9'

/**
 * Reads gpgv's status lines (doc/DETAILS of GnuPG). One good signature by one of the keys is enough, and one that does
 * not match the file spoils it: a second signature by another key is neither.
 */
export function verdictIn(status: string, fingerprints: ReadonlySet<string>): Verdict {
  const found: SignatureFault[] = []
  const good: GoodSignature[] = []
  let hasGood = false
  for (const line of status.split('\n')) {
    if (!line.startsWith('[GNUPG:] ')) continue
    const [word = '', ...fields] = line.slice('[GNUPG:] '.length).trimEnd().split(' ')
    const problem = problems[word]
    if (problem) found.push(problem)
    if (word === 'GOODSIG' || word === 'ERRSIG' || problem) hasGood = word === 'GOODSIG'
    if (word === 'ERRSIG') found.push(reasonOf(fields))
    if (word === 'VALIDSIG' && hasGood) {
      const [, , seconds = '', , , , , digest = '', signatureClass = '', primary = ''] = fields
      if (!strongDigests.has(digest)) found.push('weak_digest')
      else if (!fingerprints.has(primary)) found.push('wrong_key')
      else if (!classesOfDocuments.has(signatureClass) || !/^\d{1,12}$/.test(seconds)) found.push('unreadable')
      else good.push({ fingerprint: primary, signedAt: Number(seconds) * 1000 })
      hasGood = false
    }
  }
  if (found.includes('changed')) return { fault: 'changed' }
  const newest = good.sort((a, b) => b.signedAt - a.signedAt)[0]
  if (newest) return { good: newest }
  // A reason of the key that was asked for says more than one of a stranger's.
  return { fault: found.find((reason) => reason !== 'wrong_key') ?? found[0] ?? 'unsigned' }
}

/** Of a signature that could not be checked: `keyid algorithm digest class time reason fingerprint`. */
function reasonOf([, , digest = '', , , reason = '']: readonly string[]): SignatureFault {
  if (reason === NO_KEY) return 'wrong_key'
  return strongDigests.has(digest) ? 'unreadable' : 'weak_digest'
}

/** The bytes of an armored block (RFC 4880, 6.2). gpgv reads keyrings that are not armored. */
export function dearmored(armored: string): Buffer {
  const lines = armored.split('\n').map((line) => line.trim())
  const from = lines.findIndex((line) => line.startsWith('-----BEGIN PGP '))
  const to = lines.findIndex((line) => line.startsWith('-----END PGP '))
  const empty = lines.indexOf('', from)
  if (from < 0 || to < from || empty < 0 || empty > to) throw new Error('no armored block')
  // A line that begins with = is the block's checksum.
  const body = lines.slice(empty + 1, to).filter((line) => !line.startsWith('='))
  return Buffer.from(body.join(''), 'base64')
}

/** The fingerprint of the primary key of an armored key of version 4: the digest of its first packet. */
export function fingerprintOf(armored: string): string {
  const bytes = dearmored(armored)
  const [length, at] = packetLength(bytes)
  const body = bytes.subarray(at, at + length)
  const size = Buffer.from([0x99, body.length >> 8, body.length & 0xff])
  return createHash('sha1').update(size).update(body).digest('hex').toUpperCase()
}

/** The length of the first packet's body and where it begins (RFC 4880, 4.2). */
function packetLength(bytes: Buffer): [length: number, at: number] {
  const isNew = (bytes[0]! & 0x40) !== 0
  if (!isNew) {
    const octets = 1 << (bytes[0]! & 3)
    return [bytes.readUIntBE(1, octets), 1 + octets]
  }
  const first = bytes[1]!
  if (first < 192) return [first, 2]
  if (first < 224) return [((first - 192) << 8) + bytes[2]! + 192, 3]
  return [bytes.readUInt32BE(2), 6]
}
