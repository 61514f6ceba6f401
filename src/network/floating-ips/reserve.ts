import { Type as t } from 'typebox'
import { locationById } from '../../fleet/locations/queries.ts'
import { capacityIn } from '../../fleet/placement/capacity.ts'
import { hasServerIn, vlansOfServersIn } from '../../fleet/workloads/reports.ts'
import { customer, mustNotBeLocked } from '../../identity/account-records/model.ts'
import { mustAllowAddress, resellerOf } from '../../identity/resellers/model.ts'
import { everybody } from '../../kernel/api/access.ts'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { fields, line, operation } from '../../kernel/api/operation.ts'
import { newId } from '../../kernel/db/ids.ts'
import { takeFloating } from '../ip-pools/floating.ts'
import { addressById } from '../ip-pools/queries.ts'
import { floatingResponse, MOST_FLOATING, showFloating, tell } from './model.ts'
import { countFloating, insertFloating } from './queries.ts'

export const reserveFloatingIp = operation({
  id: 'floating-ips.create',
  method: 'POST',
  path: '/customers/{id}/floating-ips',
  summary: 'Reserve a floating address in a location where the account has a server; it stays until it is released',
  past: 'Reserved a floating address',
  access: { ...everybody('servers:settings'), reseller: ['reseller:servers', 'account:write'] },
  on: customer,
  body: fields({
    locationId: t.String({ minLength: 1, maxLength: 40 }),
    version: t.Optional(t.Enum([4, 6])),
    name: t.Optional(line(64, 0)),
  }),
  response: floatingResponse,
  status: 201,
  idempotent: true,
  refuses: ['account_locked', 'limit_reached', 'no_addresses', 'reseller_suspended', 'quota_exceeded'],
  example: { locationId: '<location_id>', version: 4 as const, name: 'Shop' },
  run({ tx, target, body: { locationId, version = 4, name = '' }, clock }) {
    const location = locationById(tx, locationId)
    if (!location || !hasServerIn(tx, target.id, locationId))
      throw invalid({ field: 'locationId', message: `must be a location in which ${target.name} has a server.` })
    mustNotBeLocked(target)
    if (countFloating(tx, target.id) >= MOST_FLOATING)
      throw new ApiError(
        'limit_reached',
        `An account has at most ${MOST_FLOATING} floating addresses. Release one that is not used.`,
      )
    const reseller = resellerOf(tx, target)
    if (reseller) mustAllowAddress(tx, clock(), reseller, version)
    const id = newId('fip')
    const nodeIds = capacityIn(tx, locationId).map((node) => node.id)
    const vlans = vlansOfServersIn(tx, target.id, locationId)
    const addressId = takeFloating(tx, { id, resellerId: reseller?.id ?? null }, version, { nodeIds, vlans })
    const made = insertFloating(tx, {
      id,
      ownerId: target.id,
      resellerId: target.resellerId,
      locationId,
      addressId,
      name: name || addressById(tx, addressId)!.address,
      createdAt: clock(),
    })
    tell(tx, clock(), 'floating_ip.created', made)
    return showFloating(tx, made)
  },
})
