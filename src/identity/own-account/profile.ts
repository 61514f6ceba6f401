// The account as its holder sees and changes it.
import { Type as t } from 'typebox'
import { everybody } from '../../kernel/api/access.ts'
import { invalid } from '../../kernel/api/errors.ts'
import { described, fields, line, namedSchema, nullable, operation, time } from '../../kernel/api/operation.ts'
import { iso, isoOrNull } from '../../kernel/db/clock.ts'
import type { UiPreferences } from '../../kernel/register.ts'
import { timeZoneFrom } from '../../kernel/time-zones.ts'
import { type Account, ownAccount } from '../account-records/model.ts'
import { updateAccount } from '../account-records/queries.ts'
import { uiPreferences, uiPreferencesOf } from '../account-records/ui-preferences.ts'

const ownResponse = namedSchema('OwnAccount', {
  id: t.String(),
  kind: t.String(),
  email: t.String(),
  name: t.String(),
  organization: nullable(t.String()),
  hasPassword: t.Boolean(),
  theme: t.Enum(uiPreferences.theme),
  density: t.Enum(uiPreferences.density),
  shortcuts: described(t.Enum(uiPreferences.shortcuts), 'Shortcuts of a single key, such as ?.'),
  timeZone: nullable(t.String()),
  lockedAt: nullable(time),
  lockReason: nullable(t.String()),
  createdAt: time,
})
const show = (account: Account) => ({
  id: account.id,
  kind: account.kind,
  email: account.email,
  name: account.name,
  organization: account.organization,
  hasPassword: account.passwordHash !== null,
  ...uiPreferencesOf(account),
  lockedAt: isoOrNull(account.lockedAt),
  lockReason: account.lockReason,
  createdAt: iso(account.createdAt),
})

export const getOwnAccount = operation({
  id: 'account.get',
  method: 'GET',
  path: '/account',
  summary: 'The own account',
  access: everybody('account:read'),
  withoutSecondFactor: true,
  response: ownResponse,
  run: ({ tx, actor }) => show(ownAccount(tx, actor)),
})

export const changeOwnAccount = operation({
  id: 'account.update',
  method: 'PATCH',
  path: '/account',
  summary: 'Change the own name, organization, and how pages look',
  past: 'Changed the profile',
  access: everybody('account:write'),
  body: fields({
    name: t.Optional(line(100)),
    organization: t.Optional(nullable(line(100, 0))),
    theme: t.Optional(t.Enum(uiPreferences.theme)),
    density: t.Optional(t.Enum(uiPreferences.density)),
    shortcuts: t.Optional(t.Enum(uiPreferences.shortcuts)),
    timeZone: t.Optional(nullable(t.String({ maxLength: 64 }))),
  }),
  response: ownResponse,
  example: { name: 'Ada Lovelace', theme: 'dark', timeZone: 'Europe/Berlin' },
  auditSnapshot: ({ tx, actor }) => ownAccount(tx, actor),
  run({ tx, actor, body: { name, organization, ...chosen } }) {
    const account = ownAccount(tx, actor)
    const timeZone = chosen.timeZone && timeZoneFrom(chosen.timeZone)
    if (timeZone === undefined && chosen.timeZone)
      throw invalid({
        field: 'timeZone',
        message: 'is not a known time zone. Take a name like Europe/Berlin, or null for the browser’s.',
      })
    const preferences: UiPreferences = { ...uiPreferencesOf(account), ...chosen, ...(timeZone && { timeZone }) }
    return show(
      updateAccount(tx, account, {
        ...(name !== undefined && { name }),
        ...(organization !== undefined && { organization: organization || null }),
        preferences,
      }),
    )
  },
})
