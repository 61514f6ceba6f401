import { Type as t } from 'typebox'
import { downloadPolicy } from '../../fleet/nodes/addresses/platform.ts'
import { mustNotBeLocked } from '../../identity/account-records/model.ts'
import { accountById } from '../../identity/account-records/queries.ts'
import { everybody } from '../../kernel/api/access.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { page } from '../../kernel/api/list.ts'
import { fields, line, operation } from '../../kernel/api/operation.ts'
import { newId } from '../../kernel/db/ids.ts'
import { urlFrom } from '../../kernel/net/typed-url.ts'
import { traffic } from '../../kernel/words.ts'
import { isoResponse, MOST_ISO_BYTES, MOST_ISOS, showIso, visibleTo } from './model.ts'
import { countIsos, insertIso, pageOfIsos } from './queries.ts'

export const listIsos = operation({
  id: 'isos.list',
  method: 'GET',
  path: '/isos',
  summary: 'ISOs that can be put into servers, newest first: the library of the provider, and your own',
  access: everybody('servers:read'),
  pages: { usual: 100, most: 200 },
  response: page(isoResponse),
  run: (call) => pageOfIsos(call, visibleTo(call.actor), (iso) => showIso(call, iso)),
})

/** The first bytes tell whether it can be read, and how large it is. */
const BEGINNING_BYTES = 512

export const addIso = operation({
  id: 'isos.add',
  method: 'POST',
  path: '/isos',
  summary:
    'Add an ISO by its address and checksum: your own, or as staff one for all; nodes download it at its first use',
  past: 'Added an ISO',
  access: { staff: ['images:write'], reseller: ['servers:settings'], customer: ['servers:settings'] },
  powers: ['runs_code'],
  body: fields({
    name: line(80),
    url: t.String({ minLength: 12, maxLength: 2000, pattern: '^https://[^\\s]+$', title: 'an address with https://' }),
    checksum: t.String({
      maxLength: 135,
      pattern: '^(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$',
      title: 'sha256: or sha512: and the checksum in small hexadecimal digits',
    }),
  }),
  response: isoResponse,
  status: 201,
  idempotent: true,
  refuses: ['account_locked', 'limit_reached', 'source_unreachable'],
  example: {
    name: 'Debian 13 netinst',
    url: 'https://cdimage.debian.org/debian-13.1.0-amd64-netinst.iso',
    checksum: `sha256:${'0'.repeat(64)}`,
  },
  async prepare({ body, actor, db, config, distributions, panelLookUp }) {
    const url = urlFrom(body.url)
    if (!url) throw invalid({ field: 'url', message: 'must be an address.' })
    const allowed = actor.kind === 'staff' ? config.localSources : []
    const policy = await downloadPolicy(db, config, url, { lookUp: panelLookUp, allowed })
    const found = await distributions.beginning(body.url, BEGINNING_BYTES, policy)
    if (!found)
      throw new ApiError(
        'source_unreachable',
        `${url.host} does not answer with a file at this address. Check it, and that no sign-in is needed.`,
      )
    if (found.totalBytes > MOST_ISO_BYTES)
      throw invalid({ field: 'url', message: `is a file of more than ${traffic(MOST_ISO_BYTES / 1e9)}.` })
    return { sizeBytes: found.totalBytes }
  },
  run(call) {
    const { tx, actor, body, prepared, clock } = call
    const owner = actor.kind === 'staff' ? null : accountById(tx, actor.accountId)!
    if (owner) {
      mustNotBeLocked(owner)
      if (countIsos(tx, owner.id) >= MOST_ISOS)
        throw new ApiError('limit_reached', `An account has at most ${MOST_ISOS} ISOs. Remove one that is not used.`)
    }
    const [ownerId, resellerId] = [owner?.id ?? null, owner?.resellerId ?? null]
    const row = { id: newId('iso'), ownerId, resellerId, ...prepared, createdAt: clock(), ...body }
    return showIso(call, insertIso(tx, row))
  },
})
