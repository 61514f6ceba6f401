import { Type as t } from 'typebox'
import { type ReleaseRefused, VERSION_PATTERN } from '../../../agent/protocol/release/manifest.ts'
import type { Release } from '../../fleet/releases/release-folder.ts'
import { nameOf } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { fields, namedSchema, operation, type PrepareContext, type ReadContext } from '../../kernel/api/operation.ts'
import { iso } from '../../kernel/db/clock.ts'
import { findingsOf, stopsSeconds } from './findings.ts'
import { type Check, checkFields, keepCheck } from './queries.ts'

export const versionBody = fields({
  version: t.String({ maxLength: 20, pattern: VERSION_PATTERN, title: 'a version like 1.10.0' }),
})
/** A release, and the refusal of its content. */
export type Verified = { release: Release; flaw: ReleaseRefused | undefined }

/** Reads the whole release of this version. Throws `release_not_found`. */
export async function verify({
  updates,
  body,
}: Pick<PrepareContext<unknown, { version: string }>, 'updates' | 'body'>): Promise<Verified> {
  const release = updates.folder.find(body.version)
  if (!release)
    throw new ApiError('release_not_found', `There is no release ${body.version} in ${updates.folder.path}.`)
  return { release, flaw: await updates.folder.flaw(release) }
}

export const checked = (call: ReadContext, { release, flaw }: Verified): Check => ({
  version: release.manifest.version,
  at: iso(call.clock()),
  by: nameOf(call.actor),
  stopsSeconds: stopsSeconds(call.host.databaseBytes()),
  findings: findingsOf(call, release, flaw),
})

export const checkUpdate = operation({
  id: 'updates.check',
  method: 'POST',
  path: '/admin/updates/actions/check',
  summary: 'Verify a release in the folder, and say what an update of the controller to it would do',
  past: 'Checked a release',
  access: { staff: ['settings:write'] },
  body: versionBody,
  response: namedSchema('UpdateCheck', checkFields),
  refuses: ['release_not_found'],
  example: { version: '1.10.0' },
  prepare: verify,
  run(call) {
    const made = checked(call, call.prepared)
    keepCheck(call.tx, made)
    return made
  },
})
