// The extra and floating addresses of a month, from the ledger alone.
import { type Static, Type as t } from 'typebox'
import { resellerIdFor } from '../../../identity/account-records/model.ts'
import { described, namedSchema, nullable, type ReadContext, time } from '../../../kernel/api/operation.ts'
import { iso } from '../../../kernel/db/clock.ts'
import { ownerColumns, showAccount, usageAccount } from '../model.ts'
import { monthReport } from '../month-report.ts'
import { daysOf, type Period, secondsOf } from '../period.ts'
import { type AddressUse, addressUse, countAddressUse, ofBilledAddresses, useKeyTextOf } from './queries.ts'
import { billedKinds } from './tables.ts'

const addressLine = namedSchema('AddressUse', {
  addressId: t.String(),
  address: described(t.String(), 'An IPv4 address, or the first address of an IPv6 prefix.'),
  prefixLength: t.Integer(),
  version: t.Enum([4, 6]),
  kind: described(
    t.Enum([...billedKinds]),
    'extra: of a server, beside its primary ones, until that is terminated. floating: of an account, whether it ' +
      'points to a server or not.',
  ),
  floatingIpId: described(nullable(t.String()), 'Null for an extra address.'),
  owner: usageAccount,
  resellerId: described(nullable(t.String()), 'Null in the answers to customers.'),
  serverId: described(
    nullable(t.String()),
    'The server that has it, or to which it pointed last in the period. Null: a floating address that pointed to none.',
  ),
  billingServiceId: described(nullable(t.String()), "The billing system's own identifier of that server."),
  from: described(time, 'When it began in the period.'),
  to: described(time, 'When it ended, or how far the period has passed.'),
  days: described(t.Number(), 'Days of 24 hours, to four decimals.'),
  seconds: described(t.Number(), 'Exact to the millisecond: sums of it are exact too.'),
})
type Line = Static<typeof addressLine>

const show = ({ tx, actor }: Pick<ReadContext, 'tx' | 'actor'>, use: AddressUse, period: Period): Line => ({
  addressId: use.addressId,
  address: use.address,
  prefixLength: use.prefixLength,
  version: use.version,
  kind: use.kind as Line['kind'],
  floatingIpId: use.kind === 'floating' ? use.holderId : null,
  owner: showAccount(tx, use.ownerId),
  resellerId: resellerIdFor(actor, use.resellerId),
  serverId: use.workloadId,
  billingServiceId: use.billingServiceId,
  from: iso(use.since),
  to: iso(Math.min(use.until ?? period.to, period.to)),
  days: daysOf(use.ms),
  seconds: secondsOf(use.ms),
})

export const { page: reportAddresses, spreadsheet: exportAddresses } = monthReport({
  ids: { page: 'usage.addresses', spreadsheet: 'usage.addresses-export' },
  path: '/reports/usage/addresses',
  summaries: {
    page: 'The extra and floating addresses of a month: a line for each and its owner, released ones included',
    spreadsheet: 'The extra and floating addresses of a month as a spreadsheet: one line for each and its owner',
  },
  name: 'address usage',
  of: ofBilledAddresses,
  counted: { slice: addressUse, count: countAddressUse, keyOf: (use: AddressUse) => useKeyTextOf(use) },
  line: addressLine,
  lines: (call, uses, _, period) => uses.map((use) => show(call, use, period)),
  columns: {
    addressId: (l) => l.addressId,
    address: (l) => l.address,
    prefixLength: (l) => l.prefixLength,
    version: (l) => l.version,
    kind: (l) => l.kind,
    floatingIpId: (l) => l.floatingIpId,
    serverId: (l) => l.serverId,
    ...ownerColumns,
    from: (l) => l.from,
    to: (l) => l.to,
    days: (l) => l.days,
    seconds: (l) => l.seconds,
  },
})
