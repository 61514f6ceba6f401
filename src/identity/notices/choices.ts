// How the own account gets each kind of notice: in the panel, by mail, and of which locations.
import { type Static, Type as t } from 'typebox'
import { allLocations, locationById } from '../../fleet/locations/queries.ts'
import { locationReferred } from '../../fleet/locations/reference.ts'
import { everybody } from '../../kernel/api/access.ts'
import { invalid } from '../../kernel/api/errors.ts'
import { described, fields, namedSchema, operation, type ReadContext } from '../../kernel/api/operation.ts'
import type { Db } from '../../kernel/db/open.ts'
import type { Registry } from '../../kernel/registry.ts'
import { type Account, ownAccount } from '../account-records/model.ts'
import { rightsOfRole, roleOf } from '../account-records/roles/role.ts'
import type { NoticeDeclaration } from './notify.ts'
import { choicesOf, choose } from './queries.ts'

const locationIds = t.Array(t.String({ minLength: 1, maxLength: 60 }), { maxItems: 500 })
const choicesResponse = t.Object({
  kinds: t.Array(
    namedSchema('NoticeChoice', {
      kind: t.String(),
      when: described(t.String(), 'Completes "Tell me when …".'),
      inPanel: t.Boolean(),
      byMail: t.Boolean(),
      mayTurnOff: described(t.Boolean(), 'False where whoever misses it loses something.'),
      byLocation: described(t.Boolean(), 'It is about a location, and you may choose the locations.'),
      locationIds: described(locationIds, 'The locations of which it comes. Empty: all of them, also later ones.'),
    }),
  ),
  locations: described(t.Array(locationReferred), 'Those that you can choose; none where no kind is about a location.'),
})

/** The kinds of notices that the account can get, by name. */
export function kindsFor(tx: Db, registry: Registry, account: Account): [kind: string, NoticeDeclaration][] {
  const held = rightsOfRole(registry, roleOf(tx, account))
  return registry.features.flatMap(({ notices = {} }) =>
    Object.entries(notices).filter(
      ([, { kinds, right }]) =>
        kinds.includes(account.kind) && (right === undefined || account.kind !== 'staff' || held.has(right)),
    ),
  )
}

type Holder = Pick<ReadContext, 'tx' | 'actor' | 'registry'>
function shown({ tx, actor, registry }: Holder): Static<typeof choicesResponse> {
  const account = ownAccount(tx, actor)
  const chosen = choicesOf(tx, account.id)
  const mine = kindsFor(tx, registry, account)
  return {
    locations: mine.some(([, { byLocation }]) => byLocation)
      ? allLocations(tx).map(({ id, name }) => ({ id, name }))
      : [],
    kinds: mine.map(([kind, { when, mail, byLocation = false }]) => {
      const { inPanel = true, byMail = true, locationIds = [] } = chosen.get(kind) ?? {}
      return { kind, when, inPanel, byMail, mayTurnOff: mail === 'optional', byLocation, locationIds }
    }),
  }
}

export const getNoticeChoices = operation({
  id: 'notices.choices',
  method: 'GET',
  path: '/account/notice-choices',
  summary: 'How the own account gets each kind of notice: in the panel, by mail, and of which locations',
  access: everybody('account:read'),
  response: choicesResponse,
  run: shown,
})

const kinds = t.Array(t.String({ maxLength: 64 }), { maxItems: 100 })
export const chooseNotices = operation({
  id: 'notices.choose',
  method: 'PUT',
  path: '/account/notice-choices',
  summary:
    'Choose which kinds of notices the own account gets in the panel and which by mail; those that cannot be turned ' +
    'off always come',
  past: 'Chose which notices come',
  access: everybody('account:write'),
  body: fields({ inPanel: kinds, byMail: kinds }),
  response: choicesResponse,
  example: { inPanel: ['server_ready', 'webhook_overflow'], byMail: ['webhook_overflow'] },
  run(call) {
    const { tx, actor, registry, body } = call
    const account = ownAccount(tx, actor)
    const all = kindsFor(tx, registry, account)
    for (const field of ['inPanel', 'byMail'] as const)
      if (body[field].some((kind) => !all.some(([name]) => name === kind)))
        throw invalid({ field, message: 'names a kind of notice that you do not get. GET lists them.' })
    for (const [kind, { mail }] of all)
      if (mail === 'optional')
        choose(tx, account.id, kind, { inPanel: body.inPanel.includes(kind), byMail: body.byMail.includes(kind) })
    return shown(call)
  },
})

export const chooseNoticeLocations = operation({
  id: 'notices.choose-locations',
  method: 'PUT',
  path: '/account/notice-locations',
  summary: 'Choose the locations of which a kind of notice comes to the own account; none: all, also later ones',
  past: 'Chose the locations of notices',
  access: { staff: ['account:write'] },
  body: fields({ kind: t.String({ maxLength: 64 }), locationIds }),
  response: choicesResponse,
  example: { kind: 'node_away', locationIds: [] },
  run(call) {
    const { tx, actor, registry, body } = call
    const account = ownAccount(tx, actor)
    if (!kindsFor(tx, registry, account).some(([kind, { byLocation }]) => kind === body.kind && byLocation))
      throw invalid({ field: 'kind', message: 'must be a kind of notice that you get and that is about a location.' })
    if (body.locationIds.some((id) => !locationById(tx, id)))
      throw invalid({ field: 'locationIds', message: 'names a location that does not exist.' })
    choose(tx, account.id, body.kind, { locationIds: [...new Set(body.locationIds)] })
    return shown(call)
  },
})
