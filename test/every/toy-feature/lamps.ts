// Lamps are bought, listed and thrown away.
import { eq } from 'drizzle-orm'
import { Type as t } from 'typebox'
import { invalid } from '../../../src/kernel/api/errors.ts'
import { newest, page } from '../../../src/kernel/api/list.ts'
import { named } from '../../../src/kernel/api/named.ts'
import { described, done, fields, line, operation } from '../../../src/kernel/api/operation.ts'
import { newId } from '../../../src/kernel/db/ids.ts'
import { lamp, lampSchema, showLamp } from './model.ts'
import { lamps } from './tables.ts'

export const reading = { staff: ['lamps:read'], customer: ['lamps:read'] } as const
export const changing = { staff: ['lamps:write'], customer: ['lamps:write'] } as const

export const createLamp = operation({
  id: 'lamps.create',
  method: 'POST',
  path: '/lamps',
  summary: 'Buy a lamp',
  access: changing,
  body: fields({ name: line(60), likeId: t.Optional(described(line(40), 'A lamp of yours that it is to be like.')) }),
  response: lampSchema,
  status: 201,
  refuses: ['name_taken'],
  idempotent: true,
  example: { name: 'Desk' },
  run({ tx, actor, body, clock }) {
    if (body.likeId !== undefined && !lamp.find(tx, actor, body.likeId))
      throw invalid({ field: 'likeId', message: 'must be a lamp of yours.' })
    return showLamp(
      named('lamp', () =>
        tx
          .insert(lamps)
          .values({ id: newId('lmp'), ownerId: actor.accountId, name: body.name, state: 'off', createdAt: clock() })
          .returning()
          .get(),
      ),
    )
  },
})

export const listLamps = operation({
  id: 'lamps.list',
  method: 'GET',
  path: '/lamps',
  summary: 'The lamps that you see',
  access: reading,
  response: page(lampSchema),
  run: (call) =>
    newest({
      call,
      name: 'lamps',
      table: lamps,
      where: call.actor.kind === 'staff' ? undefined : eq(lamps.ownerId, call.actor.accountId),
      show: showLamp,
    }),
})

export const getLamp = operation({
  id: 'lamps.get',
  method: 'GET',
  path: '/lamps/{id}',
  summary: 'One lamp',
  access: reading,
  on: lamp,
  response: lampSchema,
  run: ({ target }) => showLamp(target),
})

export const removeLamp = operation({
  id: 'lamps.remove',
  destroys: [],
  method: 'DELETE',
  path: '/lamps/{id}',
  summary: 'Throw a lamp away',
  access: changing,
  on: lamp,
  response: done,
  run({ tx, target }) {
    tx.delete(lamps).where(eq(lamps.id, target.id)).run()
    return {}
  },
})
