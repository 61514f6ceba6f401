// The limits of an import as they are given: at its start, and while it goes on.
import { Type as t } from 'typebox'
import { invalid } from '../../kernel/api/errors.ts'
import { described, fields, nullable } from '../../kernel/api/operation.ts'
import { timeZoneFrom } from '../../kernel/time-zones.ts'
import { type ImportLimits, moveMethods } from '../import-records/model.ts'

const MOST_AT_ONCE = 16
const hourOfDay = t.String({ maxLength: 5, pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', title: 'a time such as 22:00' })
const atOnce = t.Integer({ minimum: 1, maximum: MOST_AT_ONCE })
export const limitFields = {
  perHypervisor: t.Optional(described(atOnce, 'Servers that leave one hypervisor at once. Usually 2.')),
  perNode: t.Optional(described(atOnce, 'Servers that come to one node at once. Usually 2.')),
  maxMbps: t.Optional(
    described(nullable(t.Integer({ minimum: 1, maximum: 400_000 })), 'Of each copy. Null: as fast as it goes.'),
  ),
  window: t.Optional(
    described(
      nullable(fields({ from: hourOfDay, to: hourOfDay, timeZone: t.String({ minLength: 1, maxLength: 64 }) })),
      'Servers begin within these hours alone. Null: at any time.',
    ),
  ),
  method: t.Optional(
    described(
      t.Enum([...moveMethods]),
      'short_stop: copied while it runs, and what has changed once it is off. plain: copied while it is off.',
    ),
  ),
}
type Given = { [K in keyof ImportLimits]?: ImportLimits[K] | undefined }

/** The limits with what is given in place of what was. Throws `validation_failed` for an unknown time zone. */
export function limitsWith(before: ImportLimits, given: Given): ImportLimits {
  const { perHypervisor, perNode, maxMbps, window, method } = given
  return {
    perHypervisor: perHypervisor ?? before.perHypervisor,
    perNode: perNode ?? before.perNode,
    maxMbps: maxMbps === undefined ? before.maxMbps : maxMbps,
    window: window === undefined ? before.window : window && checkedWindow(window),
    method: method ?? before.method,
  }
}

function checkedWindow(window: NonNullable<ImportLimits['window']>) {
  const timeZone = timeZoneFrom(window.timeZone)
  if (!timeZone) throw invalid({ field: 'window/timeZone', message: 'must be a time zone such as Europe/Berlin.' })
  if (window.from === window.to) throw invalid({ field: 'window/to', message: 'must be another time than from.' })
  return { ...window, timeZone }
}
