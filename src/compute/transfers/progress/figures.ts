import { Type as t } from 'typebox'
import { described, namedSchema, nullable, operation, time } from '../../../kernel/api/operation.ts'
import { day, iso } from '../../../kernel/db/clock.ts'
import { seesTransfers } from '../model.ts'
import { figuresSince } from '../queries.ts'

const DAYS = 30
const nothing = { moves: 0, finished: 0, announced: 0, late: 0, longestOverMs: null, bytesCopied: 0, rate: null }

export const transferFigures = operation({
  id: 'transfers.figures',
  method: 'GET',
  path: '/admin/transfer-figures',
  summary: 'Moves of the last 30 days in figures: how long servers were off, and whether that was announced',
  access: { staff: ['servers:read'] },
  response: namedSchema('TransferFigures', {
    since: time,
    moves: described(t.Integer(), 'Ordered since then, also those that have not begun.'),
    finished: t.Integer(),
    medianDowntimeMs: described(nullable(t.Integer()), 'Of the finished ones during which a system was off.'),
    announced: described(t.Integer(), 'The finished ones of which a downtime was announced.'),
    longerThanAnnounced: t.Integer(),
    longestOverMs: described(nullable(t.Integer()), 'The most by which a downtime was longer than announced.'),
    bytesCopied: t.Integer(),
    averageBytesPerSecond: described(nullable(t.Integer()), 'Of whole moves, from their beginning to their end.'),
  }),
  run({ tx, actor, clock }) {
    const since = clock() - DAYS * day
    const { moves, finished, medianDowntimeMs, announced, late, longestOverMs, bytesCopied, rate } = seesTransfers(
      actor,
    )
      ? figuresSince(tx, since)
      : { ...nothing, medianDowntimeMs: null }
    return {
      ...{ since: iso(since), moves, finished, medianDowntimeMs, announced },
      ...{ longerThanAnnounced: late, longestOverMs, bytesCopied, averageBytesPerSecond: rate },
    }
  },
})
