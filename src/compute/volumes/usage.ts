// The use of extra volumes in a month, to the millisecond: GiB-hours are sums of intervals of the ledger.
import { Type as t } from 'typebox'
import { pageOfLines, reportPages } from '../../billing/usage/lines.ts'
import { showAccount, usageAccount } from '../../billing/usage/model.ts'
import { monthOf, secondsOf } from '../../billing/usage/period.ts'
import { asked, reportAccess, reportQuery } from '../../billing/usage/report-query.ts'
import { countVolumesUsed, volumeUse } from '../../fleet/volume-records/queries.ts'
import { page } from '../../kernel/api/list.ts'
import { described, namedSchema, operation } from '../../kernel/api/operation.ts'
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
  access: reportAccess,
  query: { month: reportQuery.month, ownerId: reportQuery.ownerId },
  pages: reportPages,
  response: page(line),
  run(call) {
    const [where, period] = asked(call)
    return pageOfLines(call, [where, period], {
      name: `volume usage ${monthOf(period.from)}`,
      counted: { slice: volumeUse, count: countVolumesUsed, keyOf: ({ volumeId }) => volumeId },
      lines: ({ tx }, uses) =>
        uses.map(({ volumeId, ownerId, name, storageClass, sizeGb, ms, gbMs }) => ({
          volumeId,
          name,
          owner: showAccount(tx, ownerId),
          storageClass,
          sizeGb,
          seconds: secondsOf(ms),
          gbHours: Math.round((gbMs / hour) * 10_000) / 10_000,
        })),
    })
  },
})
