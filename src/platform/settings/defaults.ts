// The table of settings that features declare: each value beside its default.
import { Type as t } from 'typebox'
import { waitingOf } from '../../identity/weakenings/queries.ts'
import { endWait, mustWait, type WeakeningKind } from '../../identity/weakenings/wait.ts'
import { nameOf } from '../../kernel/api/actor.ts'
import { invalid } from '../../kernel/api/errors.ts'
import { described, fields, line, namedSchema, nullable, operation, time } from '../../kernel/api/operation.ts'
import { fits, wrongWith } from '../../kernel/api/validate.ts'
import { iso } from '../../kernel/db/clock.ts'
import type { Db, Tx } from '../../kernel/db/open.ts'
import { putSetting, removeSetting } from '../../kernel/db/queries.ts'
import type { Registry } from '../../kernel/registry.ts'
import { isWeaker, type Setting, settingInWords, settingValue } from '../../kernel/setting.ts'

const access = { staff: ['settings:write'] } as const
const value = nullable(t.Union([t.Integer({ minimum: 0, maximum: 1_000_000_000 }), t.Boolean()]))
const settingResponse = namedSchema('Setting', {
  name: t.String(),
  title: t.String(),
  words: t.String(),
  unit: nullable(t.String()),
  value: described(value, 'Null: as `defaultWords` says.'),
  default: value,
  defaultWords: nullable(t.String()),
  minimum: nullable(t.Integer()),
  maximum: nullable(t.Integer()),
  weakens: described(
    t.Enum(['higher', 'lower', 'on', 'off', 'never']),
    'Such a change weakens a protection: it waits for 24 hours, or until another owner confirms it.',
  ),
  waiting: described(
    nullable(t.Object({ id: t.String(), value, takesEffectAt: time })),
    'A change that weakens a protection and waits.',
  ),
})
const settingsOf = ({ features }: Pick<Registry, 'features'>): Setting[] =>
  features.flatMap(({ settings = [] }) => settings)

function show(tx: Db, setting: Setting) {
  const { name, title, words, weakens, unit = null, defaultWords = null } = setting
  const waiting = waitingOf(tx, settingWeakening.kind, name)
  const { minimum = null, maximum = null } = setting.schema as { minimum?: number; maximum?: number }
  return {
    name,
    title,
    words,
    unit,
    value: settingValue(tx, setting),
    default: setting.default,
    defaultWords,
    minimum,
    maximum,
    weakens,
    waiting: waiting
      ? { id: waiting.id, value: waiting.value as Setting['default'], takesEffectAt: iso(waiting.takesEffectAt) }
      : null,
  }
}

/** Puts a value that was checked; null returns the setting to its default. */
const put = (tx: Tx, name: string, value: Setting['default']) =>
  value === null ? removeSetting(tx, name) : putSetting(tx, name, value)

export const settingWeakening: WeakeningKind = {
  kind: 'setting',
  apply: (tx, { name, value }) => put(tx, name, value as Setting['default']),
}

export const listSettings = operation({
  id: 'settings.list',
  method: 'GET',
  path: '/admin/settings/values',
  summary: 'The settings of the installation, each with its default',
  access,
  response: namedSchema('Settings', { settings: t.Array(settingResponse) }),
  run: ({ tx, registry }) => ({ settings: settingsOf(registry).map((setting) => show(tx, setting)) }),
})

export const changeSetting = operation({
  id: 'settings.set',
  method: 'PUT',
  path: '/admin/settings/values',
  summary:
    'Set one setting of the installation; null returns it to its default. A value that weakens a protection needs a ' +
    'person, and waits',
  past: 'Changed a setting',
  access,
  powers: ['lifts_protection'],
  requiresRecentAuth: true,
  body: fields({ name: line(100), value }),
  response: settingResponse,
  refuses: ['token_not_allowed'],
  example: { name: 'servers.undelete_hours', value: 24 },
  auditSnapshot: ({ tx, registry }) =>
    Object.fromEntries(settingsOf(registry).map((setting) => [setting.name, settingValue(tx, setting)])),
  run(call) {
    const { tx, actor, body, registry, clock } = call
    const setting = settingsOf(registry).find(({ name }) => name === body.name)
    if (!setting) throw invalid({ field: 'name', message: 'is no setting. settings.list names them.' })
    if (body.value !== null && !fits(setting.schema, body.value))
      throw invalid({ field: 'value', message: wrongWith(setting.schema, body.value) })
    const about = { kind: settingWeakening.kind, name: setting.name }
    const waits =
      isWeaker(tx, setting, body.value) &&
      mustWait(call, {
        ...about,
        title: setting.title,
        value: body.value,
        from: settingInWords(setting, settingValue(tx, setting)),
        to: settingInWords(setting, body.value ?? setting.default),
      })
    if (!waits) {
      endWait(tx, about, { decision: 'replaced', by: nameOf(actor), now: clock() })
      put(tx, setting.name, body.value)
    }
    return show(tx, setting)
  },
})
