import { Type as t } from 'typebox'
import { ApiError, invalid } from '../../kernel/api/errors.ts'
import { described, namedSchema, nullable, time } from '../../kernel/api/operation.ts'
import { iso } from '../../kernel/db/clock.ts'
import type { Db } from '../../kernel/db/open.ts'
import { addressesOf, type HeldAddress } from '../ip-pools/allocate.ts'
import { toNumber, toText } from '../ip-pools/ranges.ts'
import { HOST_NAME } from './names.ts'
import type { ReverseName } from './tables.ts'

/** Names that the addresses of one server can have: an IPv6 prefix has no end of addresses. */
export const MOST_NAMES = 64

export const reverseName = namedSchema('ReverseName', {
  address: t.String(),
  name: t.String(),
  state: described(
    t.Enum(['waiting', 'set', 'refused']),
    'waiting: the name server is told soon, or again. refused: it does not take it; staff see why.',
  ),
  updatedAt: time,
})
export const showName = ({ address, name, state, updatedAt }: ReverseName) => ({
  address,
  name: name ?? '',
  state,
  updatedAt: iso(updatedAt),
})

export const addressField = t.String({ minLength: 2, maxLength: 45, title: 'an address of the server' })
export const nameField = nullable(
  t.String({ maxLength: 253, pattern: HOST_NAME, title: 'a full host name like mail.example.com' }),
)

/** The address in its usual form, and what of the server it is or lies in. Throws `validation_failed`. */
export function addressIn(tx: Db, serverId: string, text: string): { address: string; held: HeldAddress } {
  const parsed = toNumber(text)
  const held = parsed && addressesOf(tx, serverId).find((a) => a.version === parsed.version && holds(a, parsed.n))
  if (!parsed || !held) throw invalid({ field: 'address', message: 'must be an address of the server.' })
  return { address: toText(parsed.version, parsed.n), held }
}

function holds(a: HeldAddress, n: bigint): boolean {
  const first = toNumber(a.address)!.n
  return a.version === 4 ? first === n : n >= first && n < first + (1n << BigInt(128 - a.prefixLength))
}

export const noNameServer = () =>
  new ApiError('no_name_server', 'No name server is set for reverse DNS. Staff set one in the settings.')
