import { and, isNotNull, lt } from 'drizzle-orm'
import { mayCall } from '../../kernel/api/operation.ts'
import { MOST_SHOWN, type Source } from '../../kernel/attention.ts'
import { day, iso, minute, minuteText } from '../../kernel/db/clock.ts'
import { expiring } from '../../kernel/db/expiring.ts'
import { feature } from '../../kernel/feature.ts'
import { waitingUntil } from './queries.ts'
import { weakenings } from './tables.ts'
import { takeEffect } from './wait.ts'
import { confirmWeakening, listWeakenings, takeBackWeakening } from './weakenings.ts'

const ids = { weakening: { prefix: 'wkn' } } as const
const errors = {
  weakening_not_found: {
    status: 404,
    when: 'There is no such change that weakens a protection.',
    remedy: 'Check the id.',
  },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    weakenings: { ids: typeof ids; errors: typeof errors }
  }
}

const waitingChanges: Source = ({ tx, actor }) =>
  mayCall(listWeakenings, actor)
    ? waitingUntil(tx)
        .slice(0, MOST_SHOWN)
        .map(({ title, toWords, askedByName, askedAt, takesEffectAt }) => ({
          level: 'bad',
          what: `${askedByName} weakens a protection: ${title}, to ${toWords}.`,
          effect:
            `It takes effect at ${minuteText(takesEffectAt)}, unless somebody takes it ` +
            'back; another owner can confirm it at once.',
          since: iso(askedAt),
          action: 'Decide',
          href: '/admin/settings#weakenings',
        }))
    : []

const KEPT_MS = 400 * day

export const weakeningFeature = feature({
  name: 'weakenings',
  ids,
  errors,
  tables: [weakenings],
  expiring: [
    expiring(weakenings, (now) => and(isNotNull(weakenings.decidedAt), lt(weakenings.decidedAt, now - KEPT_MS))),
  ],
  operations: [listWeakenings, confirmWeakening, takeBackWeakening],
  attention: [waitingChanges],
  auditTargets: [{ prefix: 'wkn' }],
  schedule: [
    {
      everyMs: minute,
      words: 'making changes that weaken a protection and have waited for a day',
      work: ({ db, app }) => takeEffect(db, app),
    },
  ],
})
