// The manifest of a release. It is signed, and everything else in the release is checked against it.
import { type Static, Type as t } from 'typebox'
import { Compile } from 'typebox/compile'

/** `linux-x64`, as Node.js names system and processor. */
export const platformHere = `${process.platform}-${process.arch}`

const sha256 = t.String({ pattern: '^[0-9a-f]{64}$' })
/** A file name without a folder, so that nothing of a release is ever written elsewhere. */
const fileName = t.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$' })
const number = '(0|[1-9][0-9]{0,4})'
/** `MAJOR.MINOR.PATCH`. */
export const VERSION_PATTERN = `^${number}\\.${number}\\.${number}$`
const version = t.String({ pattern: VERSION_PATTERN })
const closed = { additionalProperties: false }

const fileIn = { file: fileName, sizeBytes: t.Integer({ minimum: 1, maximum: 2 ** 32 }), sha256 }
/**
 * `minimumVersion`: the oldest version that can be brought to this one in one step. `protocol`: what its agents and its
 * controller speak. `schema`: the last migration of its database. `keyId`: the key with which the manifest is signed.
 * `file` of a program is its compressed form in the release; size and checksum are those of the program itself.
 */
const Manifest = t.Object(
  {
    format: t.Literal(1),
    product: t.Literal('berth'),
    version,
    minimumVersion: version,
    protocol: t.Integer({ minimum: 1, maximum: 1_000_000 }),
    schema: t.String({ pattern: '^[0-9]{4}_[a-z0-9_]{1,100}$' }),
    date: t.String({ pattern: '^20[0-9]{2}-[01][0-9]-[0-3][0-9]$' }),
    keyId: t.String({ pattern: '^[0-9a-f]{16}$' }),
    notes: t.String({ maxLength: 20_000 }),
    programs: t.Array(
      t.Object({ platform: t.String({ pattern: '^[a-z0-9]{1,20}-[a-z0-9]{1,20}$' }), ...fileIn }, closed),
      { minItems: 1, maxItems: 8 },
    ),
    billOfMaterials: t.Object(fileIn, closed),
  },
  closed,
)
export type Manifest = Static<typeof Manifest>
const check = Compile(Manifest)

/** A release is refused; `code` is one of a closed list, and the message is for the person who handles the release. */
export class ReleaseRefused extends Error {
  constructor(
    readonly code: ReleaseRefusal,
    message: string,
  ) {
    super(message)
  }
}
export const releaseRefusals = {
  release_invalid: 'It is no release, or it was cut short.',
  release_not_signed: 'It has no signature.',
  release_signature_wrong: 'Its signature does not belong to its manifest: it was altered, or somebody forged it.',
  release_key_not_trusted: 'It is signed with a key that this program does not trust.',
  release_checksum_differs: 'A file in it is not the one that its manifest names.',
  release_wrong_platform: 'It has no program for this machine.',
  release_too_old: 'It is not newer than what runs here.',
  release_too_new: 'This version cannot be brought to it in one step.',
} as const
export type ReleaseRefusal = keyof typeof releaseRefusals

/** The text that is signed. */
export const manifestText = (manifest: Manifest): string => `${JSON.stringify(manifest, null, 2)}\n`

/** Throws `release_invalid`. */
export function manifestFrom(text: string): Manifest {
  let found: unknown
  try {
    found = JSON.parse(text)
  } catch {
    throw new ReleaseRefused('release_invalid', 'Its manifest is not JSON.')
  }
  if (!check.Check(found)) {
    const [error] = check.Errors(found)
    throw new ReleaseRefused('release_invalid', `Its manifest is not valid: ${error?.instancePath} ${error?.message}.`)
  }
  const files = filesOf(found).map(({ file }) => file)
  if (new Set(files).size < files.length)
    throw new ReleaseRefused('release_invalid', 'Its manifest names a file twice.')
  return found
}

/** Every file that the manifest names. */
export const filesOf = ({ programs, billOfMaterials }: Manifest) => [...programs, billOfMaterials]

/** Negative: `a` is the older one. Both are `MAJOR.MINOR.PATCH`. */
export function compareVersions(a: string, b: string): number {
  const numbers = (text: string) => text.split('.').map(Number)
  const [left, right] = [numbers(a), numbers(b)]
  return left.map((part, n) => part - right[n]!).find((difference) => difference !== 0) ?? 0
}

/**
 * Can what runs here be brought to this release? Throws `release_wrong_platform`, `release_too_old` for the same or an
 * older version unless `allowsDowngrade`, and `release_too_new`.
 */
export function mustFollow(
  { version: offered, minimumVersion, programs }: Manifest,
  running: { version: string; platform: string },
  { allowsDowngrade = false } = {},
) {
  if (!programs.some(({ platform }) => platform === running.platform))
    throw new ReleaseRefused(
      'release_wrong_platform',
      `It has programs for ${programs.map(({ platform }) => platform).join(', ')}; this is ${running.platform}.`,
    )
  if (compareVersions(offered, running.version) <= 0 && !allowsDowngrade)
    throw new ReleaseRefused('release_too_old', `It is ${offered}, and ${running.version} runs here.`)
  if (compareVersions(running.version, minimumVersion) < 0)
    throw new ReleaseRefused(
      'release_too_new',
      `It follows ${minimumVersion} or later, and ${running.version} runs here. Update to ${minimumVersion} first.`,
    )
}
