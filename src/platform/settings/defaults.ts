// The table of settings that features declare: each value beside its default.
import { Type as t } from 'typebox'
import { invalid } from '../../kernel/api/errors.ts'
import { described, fields, line, namedSchema, nullable, operation } from '../../kernel/api/operation.ts'
import { fits, wrongWith } from '../../kernel/api/validate.ts'
import type { Db } from '../../kernel/db/open.ts'
import { putSetting, removeSetting } from '../../kernel/db/queries.ts'
import type { Registry } from '../../kernel/registry.ts'
import { type Setting, settingValue } from '../../kernel/setting.ts'

const access = { staff: ['settings:write'] } as const
const value = nullable(t.Union([t.Integer({ minimum: 0, maximum: 1_000_000_000 }), t.Boolean()]))
const settingAnswer = namedSchema('Setting', {
  name: t.String(),
  title: t.String(),
  words: t.String(),
  unit: nullable(t.String()),
  value: described(value, 'Null: as `defaultWords` says.'),
  default: value,
  defaultWords: nullable(t.String()),
  minimum: nullable(t.Integer()),
  maximum: nullable(t.Integer()),
})
const settingsOf = ({ features }: Pick<Registry, 'features'>): Setting[] =>
  features.flatMap(({ settings = [] }) => settings)

function show(tx: Db, setting: Setting) {
  const { name, title, words, unit = null, defaultWords = null } = setting
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
  }
}

export const listSettings = operation({
  id: 'settings.list',
  method: 'GET',
  path: '/admin/settings/values',
  summary: 'The settings of the installation, each with its default',
  access,
  response: namedSchema('Settings', { settings: t.Array(settingAnswer) }),
  run: ({ tx, registry }) => ({ settings: settingsOf(registry).map((setting) => show(tx, setting)) }),
})

export const changeSetting = operation({
  id: 'settings.set',
  method: 'PUT',
  path: '/admin/settings/values',
  summary: 'Set one setting of the installation; null returns it to its default',
  access,
  requiresRecentAuth: true,
  body: fields({ name: line(100), value }),
  response: settingAnswer,
  example: { name: 'servers.undelete_hours', value: 24 },
  auditSnapshot: ({ tx, registry }) =>
    Object.fromEntries(settingsOf(registry).map((setting) => [setting.name, settingValue(tx, setting)])),
  run({ tx, body, registry }) {
    const setting = settingsOf(registry).find(({ name }) => name === body.name)
    if (!setting) throw invalid({ field: 'name', message: 'is no setting. settings.list names them.' })
    if (body.value === null) removeSetting(tx, setting.name)
    else {
      if (!fits(setting.schema, body.value))
        throw invalid({ field: 'value', message: wrongWith(setting.schema, body.value) })
      putSetting(tx, setting.name, body.value)
    }
    return show(tx, setting)
  },
})
