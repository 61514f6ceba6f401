// The checks before an update of the controller: its effects, and each hindrance. Root makes all of them again.
import { type Manifest, mustFollow, platformHere, ReleaseRefused } from '../../../agent/protocol/release/manifest.ts'
import { expectedStopSeconds } from '../../../agent/protocol/release/upgrade.ts'
import { PROTOCOL } from '../../../agent/protocol/wire.ts'
import { agentVersions } from '../../fleet/node-records/queries.ts'
import type { Release } from '../../fleet/releases/release-folder.ts'
import type { ReadContext } from '../../kernel/api/operation.ts'
import { VERSION } from '../../kernel/version.ts'
import { bytes, count, list } from '../../kernel/words.ts'
import { upgradeNow } from './now.ts'
import type { Finding } from './queries.ts'

/** Of the trial of a new controller that the panel asks for, in which changes are refused. */
const TRIAL_SECONDS = 20

/** About how long changes are refused. */
export const stopsSeconds = (databaseBytes: number): number => expectedStopSeconds(databaseBytes, TRIAL_SECONDS)

/** The last migration of this program's database. */
export const schemaOf = ({ registry }: Pick<ReadContext, 'registry'>): string => registry.migrations.at(-1)!.name

/** `flaw`: the refusal of the release's content. */
export const findingsOf = (call: ReadContext, release: Release, flaw: ReleaseRefused | undefined): Finding[] => [
  signature(call, release, flaw),
  versions(release.manifest),
  schema(call, release.manifest),
  space(call, release.manifest),
  machine(call),
  underWay(call),
  {
    result: 'info',
    what: `Changes stop for about ${stopsSeconds(call.host.databaseBytes())} s`,
    words: 'Pages and reading calls go on. Servers, their consoles and their networks are not touched.',
  },
  agents(call, release.manifest),
]

const good = (what: string, words: string): Finding => ({ result: 'ok', what, words })
const bad = (what: string, words: string): Finding => ({ result: 'bad', what, words })

const signature = ({ updates }: ReadContext, { file, manifest }: Release, flaw: ReleaseRefused | undefined): Finding =>
  flaw
    ? bad('The release is refused', `${file}: ${flaw.message}`)
    : good('Signature and content are right', `Signed with key ${keyInWords(updates.folder.keys, manifest.keyId)}.`)

/** `1 of 2, 3f2a…` */
export const keyInWords = (keys: readonly { id: string }[], keyId: string): string =>
  `${keys.findIndex(({ id }) => id === keyId) + 1} of ${keys.length}, ${keyId}`

/** The refusal of a release that does not follow this version; undefined: it does. */
export function notFollowing(manifest: Manifest): ReleaseRefused | undefined {
  try {
    mustFollow(manifest, { version: VERSION, platform: platformHere })
    return undefined
  } catch (error) {
    if (error instanceof ReleaseRefused) return error
    throw error
  }
}

function versions(manifest: Manifest): Finding {
  const refused = notFollowing(manifest)
  if (refused) return bad(`${VERSION} cannot be updated to ${manifest.version}`, refused.message)
  return good(`${VERSION} can be updated to ${manifest.version}`, `It follows ${manifest.minimumVersion} or later.`)
}

function schema(call: ReadContext, manifest: Manifest): Finding {
  const own = schemaOf(call)
  if (manifest.schema < own)
    return bad('Its database is older', `It knows ${manifest.schema}, and the database here has ${own}.`)
  if (manifest.schema === own) return good('The database stays as it is', `Its schema is ${own}.`)
  return good('The database is brought up to date', `From ${own} to ${manifest.schema}. A copy of before is kept.`)
}

/** Beside the files of an update this stays free. */
const SPARE_BYTES = 64 << 20

function space({ host, updates, config }: ReadContext, { programs }: Manifest): Finding {
  const program = programs.find(({ platform }) => platform === platformHere)?.sizeBytes ?? 0
  const places = [
    { path: updates.machine.storage, what: 'two programs', needs: 2 * program + SPARE_BYTES },
    { path: config.dataDir, what: 'the database twice', needs: 2 * host.databaseBytes() + SPARE_BYTES },
  ]
  const words = places.map(({ path, what, needs }) => `${bytes(needs)} in ${path} for ${what}`)
  const lacking = places.flatMap(({ path, needs }) => {
    const { bsize, bavail } = host.source.disk(path)
    return bsize * bavail < needs ? [`${path} has ${bytes(bsize * bavail)} free.`] : []
  })
  if (lacking.length) return bad('There is not enough space', `It needs ${list(words)}. ${lacking.join(' ')}`)
  return good('There is enough space', `It needs ${list(words)}.`)
}

function machine({ updates }: ReadContext): Finding {
  const why = updates.machine.disabledReason()
  return why
    ? bad('Nothing carries out the update here', why)
    : good('This machine carries it out', 'Its root verifies the release again, and does the rest.')
}

function underWay(call: ReadContext): Finding {
  const now = upgradeNow(call)
  return now
    ? bad('Another update is under way', `To ${now.to}, by ${now.by}.`)
    : good('No other update is under way', 'A copy of the program and of the database is made before anything changes.')
}

function agents({ tx }: ReadContext, { protocol, version }: Manifest): Finding {
  const nodes = count(agentVersions(tx).length, 'node')
  if (protocol === PROTOCOL)
    return good('Agents go on working', `${nodes}: their agents are updated afterwards, at a time that you choose.`)
  return {
    result: 'warn',
    what: `Agents speak protocol ${PROTOCOL}, and ${version} speaks ${protocol}`,
    words: `${nodes}: servers go on, and are managed again when the agents have updated themselves.`,
  }
}
