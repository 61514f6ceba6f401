import { and, isNull, lt } from 'drizzle-orm'
import { Type as t } from 'typebox'
import { activeStaffWith } from '../../identity/account-records/staff-with.ts'
import { type NoticeDeclaration, notify } from '../../identity/notices/notify.ts'
import { type AppContext, mayCall } from '../../kernel/api/operation.ts'
import { MOST_SHOWN, type Source } from '../../kernel/attention.ts'
import { day, iso } from '../../kernel/db/clock.ts'
import { expiring } from '../../kernel/db/expiring.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { feature } from '../../kernel/feature.ts'
import { event } from '../../kernel/jobs/outbox.ts'
import { count } from '../../kernel/words.ts'
import { brakeLimit, destructionsInWords } from './brake.ts'
import { listBrakes, refuseBrake, releaseBrake } from './cases.ts'
import { openCases } from './queries.ts'
import { brakeCases, destructions } from './tables.ts'

const ids = { brake: { prefix: 'brk' } } as const
const errors = {
  brake_not_found: { status: 404, when: 'There is no such case of the brake.', remedy: 'Check the id.' },
} as const
const events = {
  'brake.held': event(
    'staff only',
    'Destructions of one account wait for a second person',
    t.Object({
      brake: t.Object({ id: t.String(), actor: t.Object({ id: t.String(), name: t.String() }) }),
    }),
  ),
}
const notices = {
  brake_held: {
    when: 'deletions, reinstallations or restores by one account wait for a second person',
    kinds: ['staff'],
    right: 'servers.terminate',
    mail: 'always',
  },
} as const satisfies Record<string, NoticeDeclaration>

declare module '../../kernel/register.ts' {
  interface Names {
    brake: { ids: typeof ids; errors: typeof errors; events: typeof events; notices: typeof notices }
  }
}

/** Cases that wait, for staff who may decide them. */
const heldCases: Source = ({ tx, actor }) =>
  mayCall(listBrakes, actor)
    ? openCases(tx, MOST_SHOWN).map(({ actorName, openedAt, n }) => ({
        level: 'bad',
        what: `${count(n, 'destruction', 'destructions')} that ${actorName} asked for ${n === 1 ? 'waits' : 'wait'}.`,
        effect: 'No disk is deleted and no job begins until a second person releases or refuses them.',
        since: iso(openedAt),
        action: 'Decide',
        href: '/admin/brakes',
      }))
    : []

/** Writes to every member of staff who may decide, and not to the account that asked. */
function tellDeciders(tx: Tx, app: AppContext, { id, name }: { id: string; name: string }) {
  for (const to of activeStaffWith(tx, app.registry, 'servers.terminate')) {
    if (to.id === id) continue
    notify(tx, app, to, 'brake_held', {
      subject: `Requests from ${name} wait for a second person`,
      paragraphs: [
        `${name} asked for more ${destructionsInWords} in an hour than one account may.`,
        'Further ones are accepted but held: nothing is destroyed until you or a colleague releases them.',
        'If this is not a planned clean-up, refuse them and revoke the tokens of that account.',
      ],
      button: { words: 'Decide', path: '/admin/brakes' },
    })
  }
}

const KEPT_MS = 90 * day

export const brakeFeature = feature({
  name: 'brake',
  ids,
  errors,
  events,
  notices,
  settings: [brakeLimit],
  tables: [brakeCases, destructions],
  expiring: [expiring(destructions, (now) => and(isNull(destructions.caseId), lt(destructions.at, now - KEPT_MS)))],
  operations: [listBrakes, releaseBrake, refuseBrake],
  attention: [heldCases],
  auditTargets: [{ prefix: 'brk' }],
  onEvent(tx, app, { type, data }) {
    if (type === 'brake.held')
      tellDeciders(tx, app, (data as { brake: { actor: { id: string; name: string } } }).brake.actor)
  },
  nav: [
    {
      kinds: ['staff'],
      group: 'Platform',
      position: 335,
      name: 'brakes',
      title: 'Approvals',
      href: '/admin/brakes',
      icon: 'lock',
      within: 'settings',
      sees: listBrakes,
    },
  ],
})
