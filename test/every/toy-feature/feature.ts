// A whole feature in one folder. Tests mount it by one line, as src/app/features.ts mounts those of the product.
import { and, eq, or } from 'drizzle-orm'
import { Type as t } from 'typebox'
import { feature } from '../../../src/kernel/feature.ts'
import { event } from '../../../src/kernel/jobs/outbox.ts'
import { asSql } from '../../../src/kernel/search/index.ts'
import { everyWord, isIn } from '../../../src/kernel/search/text.ts'
import sql from './lamps.sql' with { type: 'text' }
import { createLamp, getLamp, listLamps, removeLamp } from './lamps.ts'
import { lighting, lightLamp } from './light.ts'
import { lampsPage } from './page.tsx'
import { lamps } from './tables.ts'

const ids = { lamp: { prefix: 'lmp', sample: 'Desk' } } as const
const errors = {
  lamp_not_found: { status: 404, when: 'There is no such lamp, or it is not yours.', remedy: 'Check the id.' },
  lamp_busy: { status: 409, when: 'A job holds the lamp.', remedy: 'Follow that job.' },
  lamp_burning: { status: 409, when: 'The lamp is on already.', remedy: 'Treat it as done.' },
} as const
const scopes = {
  'lamps:read': { words: 'See lamps', heldBy: ['customer'] },
  'lamps:write': { words: 'Buy, light and remove lamps', heldBy: ['customer'] },
} as const
const permissions = { 'lamps.write': { words: 'Manage lamps', opens: ['lamps:read', 'lamps:write'] } } as const
const events = {
  'lamp.lit': event('resellers and customers', 'A lamp was lit', t.Object({ id: t.String(), name: t.String() })),
}

declare module '../../../src/kernel/register.ts' {
  interface Names {
    lamps: {
      ids: typeof ids
      errors: typeof errors
      scopes: typeof scopes
      permissions: typeof permissions
      events: typeof events
    }
  }
}

export const lampsFeature = feature({
  name: 'lamps',
  ids,
  errors,
  scopes,
  permissions,
  events,
  samples: { watts: 60 },
  tables: [lamps],
  migrations: [{ name: '9000_lamps', sql }],
  operations: [createLamp, listLamps, getLamp, removeLamp, lightLamp],
  jobs: [lighting],
  pages: [lampsPage],
  nav: [
    {
      kinds: ['staff', 'customer'],
      group: 'Lamps',
      position: 900,
      name: 'lamps',
      title: 'Lamps',
      href: '/lamps',
      icon: 'dot',
      sees: listLamps,
    },
  ],
  actions: [{ kinds: ['customer'], position: 900, title: 'Buy lamp', page: '/lamps', dialog: true, does: createLamp }],
  auditTargets: [{ prefix: 'lmp', scope: 'lamps:read', name: (id) => `(SELECT name FROM lamps WHERE id = ${id})` }],
  search: [
    {
      type: 'lamp',
      position: 900,
      place: ({ actor }) => (actor.scopes.has('lamps:read') ? '/lamps#' : undefined),
      find: ({ tx, actor }, text, most) =>
        tx
          .select({ id: lamps.id, title: lamps.name, detail: lamps.state })
          .from(lamps)
          .where(
            and(
              eq(lamps.ownerId, actor.accountId),
              or(asSql(everyWord(text, (word) => isIn(['lamps.name'], word))), eq(lamps.id, text)),
            ),
          )
          .limit(most)
          .all(),
    },
  ],
  attention: [
    ({ tx, actor }) =>
      tx
        .select()
        .from(lamps)
        .where(and(eq(lamps.ownerId, actor.accountId), eq(lamps.state, 'warming')))
        .all()
        .map(({ name }) => ({
          level: 'warn',
          what: `${name} is warming up.`,
          effect: 'It is on in a moment.',
          since: null,
          action: null,
          href: null,
        })),
  ],
  checklist: [
    {
      kinds: ['customer'],
      position: 990,
      by: createLamp,
      title: 'First lamp',
      words: 'Buy one.',
      done: ({ tx, actor }) => tx.select().from(lamps).where(eq(lamps.ownerId, actor.accountId)).get() !== undefined,
      href: () => '/lamps',
    },
  ],
  async fixture({ call, customer }) {
    const { id } = await call(customer, 'POST', '/lamps', { name: 'Fixture' })
    return { lamp: id }
  },
})
