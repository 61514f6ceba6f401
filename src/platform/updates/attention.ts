import { mayCall } from '../../kernel/api/operation.ts'
import type { Source } from '../../kernel/attention.ts'
import { day } from '../../kernel/db/clock.ts'
import { sentence } from '../../kernel/words.ts'
import { getUpdates } from './show.ts'

const SHOWN_MS = 14 * day
const at = { action: 'Open updates', href: '/admin/controller/updates' }

/** An update that went back, until one succeeds or it is old. */
export const updateWentBack: Source = ({ actor, updates, wallClock }) => {
  if (!mayCall(getUpdates, actor)) return []
  const last = updates.machine.history().find(({ result }) => result !== 'refused')
  if (last?.result !== 'went_back' || wallClock() - Date.parse(last.endedAt) > SHOWN_MS) return []
  return [
    {
      level: 'warn',
      what: `The update of the controller to ${last.to} took itself back.`,
      effect: `${sentence(last.reason?.words ?? 'Why is not known')} ${last.from} runs, with the database of before.`,
      since: last.endedAt,
      ...at,
    },
  ]
}
