// Resellers, as staff manage them.
import { Type as t } from 'typebox'
import { packageOnSale } from '../../catalog/packages/model.ts'
import { location } from '../../fleet/locations/model.ts'
import type { Actor } from '../../kernel/api/actor.ts'
import { ApiError } from '../../kernel/api/errors.ts'
import { page } from '../../kernel/api/list.ts'
import { fields, line, operation, see } from '../../kernel/api/operation.ts'
import type { Tx } from '../../kernel/db/open.ts'
import { tellOldAddress } from '../account-records/new-address.ts'
import { pageOfAccounts } from '../account-records/queries.ts'
import { sendWelcome } from '../auth/passwords/change.ts'
import {
  accountChanges,
  accountQuery,
  addAccount,
  changeAccount,
  newAccountFields,
  tellCreated,
} from '../customers/model.ts'
import { type Reseller, reseller, resellerResponse, showReseller, withTerms } from './model.ts'
import { setLocations, setPackages, updateTerms } from './queries.ts'
import { type Quotas, quotasGiven, tellOfLowered } from './quota.ts'

const managed = { staff: ['resellers.write'] } as const
const read = { staff: ['customers:read'] } as const

const ids = t.Array(t.String({ minLength: 1, maxLength: 40 }), { maxItems: 1000 })
const terms = { quotas: t.Optional(quotasGiven), packageIds: t.Optional(ids), locationIds: t.Optional(ids) }
const example = {
  name: 'Northwind Hosting',
  email: 'ops@example.com',
  organization: 'Northwind Ltd',
  quotas: { customers: 100, servers: 200, memoryMb: 524_288 },
  packageIds: ['<package_id>'],
  locationIds: ['<location_id>'],
}

export const createReseller = operation({
  id: 'resellers.create',
  method: 'POST',
  path: '/admin/resellers',
  summary: 'Add a reseller: what it may sell and where; what has no quota is not limited',
  access: managed,
  body: fields({ ...newAccountFields, ...terms }),
  response: resellerResponse,
  status: 201,
  idempotent: true,
  refuses: ['email_taken', 'external_id_taken'],
  example,
  run(call) {
    const { tx, actor, body, clock } = call
    const account = addAccount(tx, body, { kind: 'reseller', now: clock() })
    tellCreated(tx, clock(), account)
    if (body.invite) sendWelcome(tx, call, account)
    return showReseller(tx, agree(tx, clock(), actor, withTerms(tx, account), body))
  },
})

export const listResellers = operation({
  id: 'resellers.list',
  method: 'GET',
  path: '/admin/resellers',
  summary: 'Resellers, newest first, with what they hold of their quotas',
  access: read,
  query: accountQuery,
  response: page(resellerResponse),
  run: (call) =>
    pageOfAccounts(call, {
      name: 'resellers',
      group: { kind: 'reseller' },
      show: (account) => showReseller(call.tx, withTerms(call.tx, account)),
    }),
})

export const getReseller = operation({
  id: 'resellers.get',
  method: 'GET',
  path: '/resellers/{id}',
  summary: 'One reseller: its quotas, and what it may sell where',
  access: read,
  on: reseller,
  response: resellerResponse,
  run: ({ tx, target }) => showReseller(tx, target),
})

export const changeReseller = operation({
  id: 'resellers.update',
  method: 'PATCH',
  path: '/resellers/{id}',
  summary: 'Change a reseller; what is not sent stays as it is, and a lower quota takes nothing away',
  access: managed,
  requiresRecentAuth: ['email'],
  on: reseller,
  body: fields({ ...accountChanges, ...terms }),
  response: resellerResponse,
  refuses: ['email_taken', 'external_id_taken'],
  example: { quotas: { servers: 300, gpus: null } },
  auditSnapshot({ tx, target }) {
    const { packages, locations } = showReseller(tx, target)
    const names = (all: { name: string }[]) => all.map(({ name }) => name)
    return { ...target, packages: names(packages), locations: names(locations) }
  },
  run(call) {
    const { tx, actor, target, body, clock } = call
    const changed = tellOldAddress(tx, call, target, changeAccount(tx, target, body, call.actor))
    return showReseller(tx, agree(tx, clock(), actor, { ...changed, terms: target.terms }, body))
  },
})

type Agreed = { quotas?: Partial<Quotas>; packageIds?: string[]; locationIds?: string[] }
/** Stores the given parts of its terms. Throws `validation_failed` for an unknown package or location. */
function agree(
  tx: Tx,
  now: number,
  actor: Actor,
  reseller: Reseller,
  { quotas, packageIds, locationIds }: Agreed,
): Reseller {
  const resellerId = reseller.id
  if (packageIds) {
    const named = new Set(packageIds.map((id) => see(tx, actor, packageOnSale, id, 'packageIds').id))
    setPackages(tx, resellerId, named)
  }
  if (locationIds) {
    const named = new Set(locationIds.map((id) => see(tx, actor, location, id, 'locationIds').id))
    setLocations(tx, resellerId, named)
  }
  if (!quotas) return reseller
  const changed = { ...reseller.terms.quotas, ...quotas }
  tellOfLowered(tx, now, resellerId, reseller.terms.quotas, changed)
  return { ...reseller, terms: updateTerms(tx, reseller.terms, { quotas: changed }) }
}

export const suspendReseller = operation({
  id: 'resellers.suspend',
  method: 'POST',
  path: '/resellers/{id}/actions/suspend',
  summary: 'Suspend a reseller: it and its customers get nothing new; their servers keep running',
  access: managed,
  on: reseller,
  body: fields({ reason: line(500) }),
  response: resellerResponse,
  refuses: ['already_suspended'],
  example: { reason: 'Invoice 2041 is overdue' },
  run({ tx, target, body, clock }) {
    if (target.terms.suspendedAt !== null)
      throw new ApiError('already_suspended', `${target.name} is already suspended.`)
    const terms = updateTerms(tx, target.terms, { suspendedAt: clock(), suspendReason: body.reason })
    return showReseller(tx, { ...target, terms })
  },
})

export const unsuspendReseller = operation({
  id: 'resellers.unsuspend',
  method: 'POST',
  path: '/resellers/{id}/actions/unsuspend',
  summary: 'Unsuspend a reseller: it may order and add customers again',
  access: managed,
  on: reseller,
  response: resellerResponse,
  refuses: ['not_suspended'],
  run({ tx, target }) {
    if (target.terms.suspendedAt === null) throw new ApiError('not_suspended', `${target.name} is not suspended.`)
    const terms = updateTerms(tx, target.terms, { suspendedAt: null, suspendReason: null })
    return showReseller(tx, { ...target, terms })
  },
})
