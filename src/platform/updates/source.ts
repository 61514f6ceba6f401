// The address where staff want releases to be looked for. Nothing is asked for but when somebody asks.
import { Type as t } from 'typebox'
import { ReleaseRefused } from '../../../agent/protocol/release/manifest.ts'
import { nameOf } from '../../kernel/api/actor.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { done, fields, nullable, operation } from '../../kernel/api/operation.ts'
import { urlFrom } from '../../kernel/net/typed-url.ts'
import { policyFor, releaseAt } from './fetch.ts'
import { notFollowing } from './findings.ts'
import { downloadOf, keepDownload, keepOffer, keepSource, type Offer, offerOf, sourceOf } from './queries.ts'

const access = { staff: ['settings:write'] } as const

export const setUpdateSource = operation({
  id: 'updates.set-source',
  method: 'PUT',
  path: '/admin/updates/source',
  summary: 'Set the address of the release file that is asked for when somebody looks; null turns it off',
  past: 'Changed the address of releases',
  access,
  requiresRecentAuth: true,
  body: fields({
    url: nullable(
      t.String({ minLength: 12, maxLength: 2000, pattern: '^https://[^\\s]+$', title: 'an address with https://' }),
    ),
  }),
  response: done,
  refuses: ['source_unreachable'],
  example: { url: 'https://releases.example.com/berth-latest.release' },
  auditSnapshot: ({ tx }) => ({ url: sourceOf(tx) ?? null }),
  async prepare({ body, db, config, panelLookUp, updates }) {
    if (body.url === null) return
    const url = urlFrom(body.url)
    if (!url) throw invalid({ field: 'url', message: 'must be an address.' })
    await policyFor({ db, app: { config, panelLookUp, updates } }, url)
  },
  run({ tx, body }) {
    keepSource(tx, body.url)
    return {}
  },
})

export const lookForUpdate = operation({
  id: 'updates.look',
  method: 'POST',
  path: '/admin/updates/actions/look',
  summary: 'Read the signed manifest of the release at the address that is set',
  past: 'Looked for a release',
  access,
  response: done,
  refuses: ['no_update_source', 'source_unreachable'],
  async prepare({ db, config, panelLookUp, updates, actor, clock }): Promise<{ url: string; offer: Offer }> {
    const url = sourceOf(db)
    if (url === undefined) throw new ApiError('no_update_source', 'No address for releases is set.')
    const about = { at: clock(), by: nameOf(actor) }
    try {
      const context = { db, app: { config, panelLookUp, updates } }
      const { manifest, totalBytes } = await releaseAt(context, new URL(url), updates.folder.keys)
      const { version, date } = manifest
      const refused = notFollowing(manifest)?.message ?? null
      return { url, offer: { ...about, version, date, totalBytes, refused } }
    } catch (error) {
      if (!(error instanceof ReleaseRefused)) throw error
      return { url, offer: { ...about, version: null, date: null, totalBytes: 0, refused: error.message } }
    }
  },
  run({ tx, prepared: { url, offer } }) {
    if (sourceOf(tx) !== url) throw new ApiError('no_update_source', 'The address was changed meanwhile. Look again.')
    keepOffer(tx, offer)
    return {}
  },
})

export const downloadUpdate = operation({
  id: 'updates.download',
  method: 'POST',
  path: '/admin/updates/actions/download',
  summary: 'Download the release that was found at the address into the folder of releases',
  past: 'Started the download of a release',
  access,
  response: done,
  status: 202,
  refuses: ['no_update_offered', 'update_under_way'],
  run({ tx }) {
    const [offer, url] = [offerOf(tx), sourceOf(tx)]
    if (!url || !offer?.version || offer.refused !== null)
      throw new ApiError('no_update_offered', 'No release that can be used was found at the address. Look first.')
    if (downloadOf(tx)?.error === null) throw new ApiError('update_under_way', 'The download is under way.')
    keepDownload(tx, { version: offer.version, url, totalBytes: offer.totalBytes, error: null })
    return {}
  },
})
