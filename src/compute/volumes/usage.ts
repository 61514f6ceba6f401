// The use of extra volumes in a month, to the millisecond: GiB-hours are sums of intervals of the ledger.
import { Type as t } from 'typebox'
import { showAccount, usageAccount, visibleUsage } from '../../billing/usage/model.ts'
import { monthOf, monthParameter, passedOf, secondsOf } from '../../billing/usage/period.ts'
import { countVolumesUsed, type VolumeUse, volumeUse } from '../../fleet/volumes/queries.ts'
import { page, paginate } from '../../kernel/api/list.ts'
import { described, namedSchema, operation } from '../../kernel/api/operation.ts'
import { idOf } from '../../kernel/api/query.ts'
import { hour } from '../../kernel/db/clock.ts'

const line = namedSchema('VolumeUse', {
  volumeId: t.String(),
  name: described(t.String(), 'At the end of the period, as are its size and class.'),
  owner: usageAccount,
  storageClass: t.Union([t.String(), t.Null()]),
  sizeGb: t.Integer(),
  seconds: described(t.Number(), 'How long it was there, attached or not.'),
  gbHours: described(t.Number(), 'Its size in GiB times hours, to four decimals.'),
})

export const reportVolumes = operation({
  id: 'usage.volumes',
  method: 'GET',
  path: '/reports/usage/volumes',
  summary: 'The usage of a month by extra volumes: a line for each, deleted ones included',
  access: { staff: ['customers:read', 'reports.read'], reseller: ['servers:read'], customer: ['servers:read'] },
  query: { month: monthParameter, ownerId: idOf('usr', 'Only what was of this account at the time.') },
  pages: { usual: 200, most: 1000 },
  response: page(line),
  run(call) {
    const { tx, actor, query, clock } = call
    const now = clock()
    const period = passedOf(query['month'] ?? monthOf(now), now)
    const visible = visibleUsage(actor)
    const ofOwner = query['ownerId'] ? ' AND i.owner_id = +?' : ''
    const where = {
      // Nothing lies in a month that has not begun.
      where: `${visible.where}${ofOwner}${period.from === period.to ? ' AND 0' : ''}`,
      values: [...visible.values, ...(query['ownerId'] ? [query['ownerId']] : [])],
    }
    return paginate({
      call,
      name: `volume usage ${monthOf(period.from)}`,
      rows: (slice) => volumeUse(tx, where, period, slice),
      keyOf: ({ volumeId }: VolumeUse) => volumeId,
      total: () => countVolumesUsed(tx, where, period),
      show: ({ volumeId, ownerId, name, storageClass, sizeGb, ms, gbMs }: VolumeUse) => ({
        volumeId,
        name,
        owner: showAccount(tx, ownerId),
        storageClass,
        sizeGb,
        seconds: secondsOf(ms),
        gbHours: Math.round((gbMs / hour) * 10_000) / 10_000,
      }),
    })
  },
})
