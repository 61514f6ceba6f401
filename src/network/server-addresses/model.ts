// The addresses of a server as the API shows them, and the rules for those beside the ones of its package.
import { Type as t } from 'typebox'
import { guestAddressIn } from '../../../agent/protocol/guest-address.ts'
import { guestCidr } from '../../compute/server-vm/seed.ts'
import { described, namedSchema, nullable } from '../../kernel/api/operation.ts'
import type { HeldAddress } from '../ip-pools/allocate.ts'
import { isOwn } from '../ip-pools/allocate.ts'

/** Addresses that a server can have beside those of its package. */
export const MOST_EXTRA = 20

export const addressKinds = ['primary', 'extra', 'floating'] as const
export const serverAddress = namedSchema('ServerAddress', {
  id: t.String(),
  address: described(t.String(), 'An IPv4 address, or the first address of an IPv6 prefix.'),
  prefixLength: t.Integer(),
  version: t.Enum([4, 6]),
  gateway: t.String(),
  kind: described(
    t.Enum([...addressKinds]),
    'primary: the server keeps it until it is terminated. extra: it can be removed. floating: it points here now.',
  ),
  inGuest: described(t.String(), 'How the system inside the server has it, with the prefix length.'),
  nextHop: described(
    nullable(t.String()),
    'To which every address of the IPv6 prefix is routed; null for one address.',
  ),
})

export const showAddress = (a: HeldAddress) => ({
  id: a.id,
  address: a.address,
  prefixLength: a.prefixLength,
  version: a.version,
  gateway: a.pool.gateway,
  kind: isOwn(a) ? (a.isPrimary ? ('primary' as const) : ('extra' as const)) : ('floating' as const),
  inGuest: guestCidr(a),
  nextHop: isOwn(a) && a.version === 6 && a.prefixLength < 128 ? guestAddressIn(a.address) : null,
})
