import { and, count, desc, eq, like, lt, ne, or, type SQL } from 'drizzle-orm'
import { Type as t } from 'typebox'
import { Refusal } from '../kernel/api/errors.ts'
import { page, paginate } from '../kernel/api/list.ts'
import { patched } from '../kernel/api/named.ts'
import { fields, line, nullable, operation } from '../kernel/api/operation.ts'
import { newId } from '../kernel/db/ids.ts'
import { emit } from '../kernel/jobs/outbox.ts'
import { customer, customerAnswer, customerInEvent, mailAddress, refuseTaken, showCustomer } from './account.ts'
import { accounts } from './tables.ts'

const example = { name: 'Ada Lovelace', email: 'ada@example.com', organization: 'Analytical Engines Ltd', externalId: 'client-1842' }

export const createCustomer = operation({
  id: 'customers.create',
  method: 'POST',
  path: '/admin/customers',
  summary: 'Add a customer',
  access: { staff: ['customers:write'] },
  body: fields({
    name: line(100),
    email: t.String({ maxLength: 254 }),
    organization: t.Optional(nullable(line(100, 0))),
    externalId: t.Optional(nullable(line(100))),
  }),
  answer: customerAnswer,
  status: 201,
  remembers: true,
  refuses: ['email_taken', 'external_id_taken'],
  example,
  run({ tx, body, clock }) {
    try {
      const it = tx
        .insert(accounts)
        .values({
          id: newId('account'),
          kind: 'customer',
          email: mailAddress(body.email),
          name: body.name,
          organization: body.organization || null,
          externalId: body.externalId ?? null,
          createdAt: clock(),
        })
        .returning()
        .get()
      emit(tx, clock(), 'customer.created', { customerId: it.id, resellerId: null }, { customer: customerInEvent(it) })
      return showCustomer(tx, it)
    } catch (error) {
      return refuseTaken(error)
    }
  },
})

export const listCustomers = operation({
  id: 'customers.list',
  method: 'GET',
  path: '/admin/customers',
  summary: 'Customers and resellers, newest first',
  access: { staff: ['customers:read'] },
  query: {
    q: 'Part of a name, organization or e-mail address.',
    email: 'Exactly this e-mail address.',
    externalId: "The billing system's own identifier.",
  },
  pages: { usual: 50, most: 200 },
  answer: page(customerAnswer),
  run(call) {
    const { tx, query } = call
    const part = query['q'] ? `%${query['q'].slice(0, 100).replace(/[%_\\]/g, '')}%` : undefined
    const filter: SQL | undefined = and(
      ne(accounts.kind, 'staff'),
      part ? or(like(accounts.name, part), like(accounts.email, part), like(accounts.organization, part)) : undefined,
      query['email'] ? eq(accounts.email, query['email']) : undefined,
      query['externalId'] ? eq(accounts.externalId, query['externalId']) : undefined,
    )
    return paginate({
      call,
      name: 'customers',
      rows: (after, limit) =>
        tx
          .select()
          .from(accounts)
          .where(and(filter, after ? lt(accounts.id, after) : undefined))
          .orderBy(desc(accounts.id))
          .limit(limit)
          .all(),
      keyOf: (it) => it.id,
      show: (it) => showCustomer(tx, it),
      total: () => tx.select({ n: count() }).from(accounts).where(filter).get()!.n,
    })
  },
})

export const getCustomer = operation({
  id: 'customers.get',
  method: 'GET',
  path: '/customers/{id}',
  summary: 'One customer',
  access: { staff: ['customers:read'], reseller: ['reseller:read'], customer: ['account:read'] },
  on: customer,
  answer: customerAnswer,
  run: ({ tx, target }) => showCustomer(tx, target),
})

export const changeCustomer = operation({
  id: 'customers.update',
  method: 'PATCH',
  path: '/customers/{id}',
  summary: 'Change a customer; what is not sent stays as it is',
  access: { staff: ['customers:write'] },
  on: customer,
  body: fields({
    name: t.Optional(line(100)),
    email: t.Optional(t.String({ maxLength: 254 })),
    organization: t.Optional(nullable(line(100, 0))),
    externalId: t.Optional(nullable(line(100))),
  }),
  answer: customerAnswer,
  refuses: ['email_taken', 'external_id_taken'],
  example,
  run({ tx, target, body }) {
    const given = {
      ...body,
      ...(body.email !== undefined && { email: mailAddress(body.email) }),
      ...(body.organization !== undefined && { organization: body.organization || null }),
    }
    try {
      return showCustomer(tx, patched(tx, accounts, target, given))
    } catch (error) {
      return refuseTaken(error)
    }
  },
})

export const lockCustomer = operation({
  id: 'customers.lock',
  method: 'POST',
  path: '/customers/{id}/actions/lock',
  summary: 'Refuse orders for a customer; the servers it has go on',
  access: { staff: ['customers:write'] },
  on: customer,
  body: fields({ reason: line(500) }),
  answer: customerAnswer,
  refuses: ['already_done'],
  example: { reason: 'Payments were charged back' },
  run({ tx, target, body, clock }) {
    if (target.lockedAt !== null) throw new Refusal('already_done', `The account of ${target.name} is locked already.`)
    return showCustomer(tx, patched(tx, accounts, target, { lockedAt: clock(), lockReason: body.reason }))
  },
})

export const unlockCustomer = operation({
  id: 'customers.unlock',
  method: 'POST',
  path: '/customers/{id}/actions/unlock',
  summary: 'Accept orders for a locked customer again',
  access: { staff: ['customers:write'] },
  on: customer,
  answer: customerAnswer,
  refuses: ['already_done'],
  run({ tx, target }) {
    if (target.lockedAt === null) throw new Refusal('already_done', `The account of ${target.name} is not locked.`)
    return showCustomer(tx, patched(tx, accounts, target, { lockedAt: null, lockReason: null }))
  },
})
