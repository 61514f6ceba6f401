import { Type as t } from 'typebox'
import { PROTOCOL } from '../../../agent/protocol/wire.ts'
import { agentVersions } from '../../fleet/node-records/queries.ts'
import type { Release } from '../../fleet/releases/release-folder.ts'
import { described, namedSchema, nullable, operation, type ReadContext, time } from '../../kernel/api/operation.ts'
import { iso, isoOrNull, second } from '../../kernel/db/clock.ts'
import { VERSION } from '../../kernel/version.ts'
import { sentence } from '../../kernel/words.ts'
import { downloadedBytes } from './download.ts'
import { keyInWords, notFollowing, schemaOf, stopsSeconds } from './findings.ts'
import { upgradeNow, upgradeStates } from './now.ts'
import { checkFields, checkOf, downloadOf, offerOf, sourceOf } from './queries.ts'

const MOST_SHOWN = 20

const day = t.String({ format: 'date' })
const release = {
  version: t.String(),
  file: t.String(),
  date: day,
  key: described(t.String(), 'Which of the trusted keys signed it.'),
  minimumVersion: described(t.String(), 'It follows this version or a later one.'),
  protocol: t.Integer(),
  schema: t.String(),
  sizeBytes: described(t.Integer(), 'Of the program.'),
  fileBytes: described(t.Integer(), 'Of the release, in which the program is compressed.'),
  addedAt: time,
  notes: t.String(),
  refused: described(nullable(t.String()), 'Why this controller cannot be updated to it; null where it can.'),
}

export const getUpdates = operation({
  id: 'updates.get',
  method: 'GET',
  path: '/admin/updates',
  summary: 'Updates of the controller: what runs, releases that are there, one under way, and those of the past',
  access: { staff: ['nodes:read'] },
  response: namedSchema('Updates', {
    version: t.String(),
    protocol: t.Integer(),
    schema: t.String(),
    available: described(nullable(t.String()), 'The newest release that the controller can be updated to.'),
    stopsSeconds: described(t.Integer(), 'About how long changes are refused during an update.'),
    disabledReason: described(nullable(t.String()), 'Why this machine takes no update by the panel; null: it does.'),
    folder: described(t.String(), 'Where the operator puts releases.'),
    releases: t.Array(namedSchema('Release', release)),
    refusedFiles: described(
      t.Array(t.Object({ file: t.String(), code: t.String(), message: t.String() })),
      'Files in the folder that are no release, or none whose signature counts.',
    ),
    upgrade: nullable(
      t.Object({ state: t.Enum([...upgradeStates]), from: t.String(), to: t.String(), by: t.String(), since: time }),
    ),
    check: described(nullable(t.Object(checkFields)), 'The last check.'),
    source: t.Object({
      url: described(nullable(t.String()), 'Null: no release is asked for anywhere.'),
      lookedAt: nullable(time),
      lookedBy: nullable(t.String()),
      version: described(nullable(t.String()), 'Found at the address.'),
      date: nullable(day),
      refused: nullable(t.String()),
      download: nullable(
        t.Object({ version: t.String(), bytes: t.Integer(), totalBytes: t.Integer(), error: nullable(t.String()) }),
      ),
    }),
    agents: t.Array(t.Object({ version: t.String(), connected: t.Integer(), away: t.Integer() })),
    history: t.Array(
      t.Object({
        from: t.String(),
        to: t.String(),
        by: t.String(),
        startedAt: time,
        endedAt: time,
        stoppedSeconds: t.Integer(),
        result: t.Enum(['done', 'went_back', 'refused']),
        reason: nullable(t.String()),
      }),
    ),
  }),
  run(call) {
    const { updates, host } = call
    const { releases, refused } = updates.folder.list()
    const shown = releases.slice(0, MOST_SHOWN).map((one) => shownRelease(call, one))
    return {
      version: VERSION,
      protocol: PROTOCOL,
      schema: schemaOf(call),
      available: shown.find((one) => one.refused === null)?.version ?? null,
      stopsSeconds: stopsSeconds(host.databaseBytes()),
      disabledReason: updates.machine.disabledReason() ?? null,
      folder: updates.folder.path,
      releases: shown,
      refusedFiles: refused.slice(0, MOST_SHOWN),
      upgrade: upgradeNow(call) ?? null,
      check: checkOf(call.tx) ?? null,
      source: source(call),
      agents: agents(call),
      history: updates.machine
        .history()
        .slice(0, MOST_SHOWN)
        .map(({ from, to, by, startedAt, endedAt, stoppedMs, result, reason }) => ({
          ...{ from, to, by, startedAt, endedAt, result },
          stoppedSeconds: Math.round((stoppedMs ?? 0) / second),
          reason: reason ? sentence(reason.words) : null,
        })),
    }
  },
})

function shownRelease({ updates }: ReadContext, { file, manifest, sizeBytes: fileBytes, at }: Release) {
  const { version, date, keyId, minimumVersion, protocol, schema, notes, programs } = manifest
  return {
    ...{ version, file, date, minimumVersion, protocol, schema, notes, fileBytes },
    key: keyInWords(updates.folder.keys, keyId),
    sizeBytes: programs[0]!.sizeBytes,
    addedAt: iso(at),
    refused: notFollowing(manifest)?.message ?? null,
  }
}

function source({ tx, updates }: ReadContext) {
  const offer = offerOf(tx)
  const download = downloadOf(tx)
  return {
    url: sourceOf(tx) ?? null,
    lookedAt: isoOrNull(offer?.at ?? null),
    lookedBy: offer?.by ?? null,
    version: offer?.version ?? null,
    date: offer?.date ?? null,
    refused: offer?.refused ?? null,
    download: download
      ? {
          version: download.version,
          bytes: downloadedBytes(updates, download),
          totalBytes: download.totalBytes,
          error: download.error,
        }
      : null,
  }
}

/** By version, the own one first. */
function agents({ tx, nodes }: ReadContext) {
  return [...Map.groupBy(agentVersions(tx), ({ version }) => version)]
    .map(([version, of]) => {
      const connected = of.filter(({ id }) => nodes.connected(id)).length
      return { version, connected, away: of.length - connected }
    })
    .sort((a, b) => Number(b.version === VERSION) - Number(a.version === VERSION) || (a.version < b.version ? 1 : -1))
}
