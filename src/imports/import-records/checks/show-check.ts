// The findings of a dry run about one server, for the API.
import { type Static, Type as t } from 'typebox'
import { described, namedSchema, nullable, time } from '../../../kernel/api/operation.ts'
import { iso } from '../../../kernel/db/clock.ts'
import type { Db } from '../../../kernel/db/open.ts'
import { moveMethods } from '../tables.ts'
import { findingLevels, findings } from './findings.ts'
import { checkOf, checkResults, findingsOf } from './queries.ts'

export const checkResponse = namedSchema('ImportCheck', {
  result: described(
    nullable(t.Enum([...checkResults])),
    'remark: it can come. to_fix: it can come once something was done. stays: it cannot. Null: its node looks at it.',
  ),
  findings: t.Array(
    t.Object({
      code: t.String(),
      level: t.Enum([...findingLevels]),
      words: t.String(),
      remedy: described(t.String(), 'The next step; empty where there is none.'),
    }),
  ),
  node: described(
    nullable(t.Object({ id: t.String(), name: t.String() })),
    'Where it would go, placed one after another like new orders. Null: no node takes it.',
  ),
  pool: described(nullable(t.String()), 'The storage pool there.'),
  reason: described(nullable(t.String()), 'Why it goes there.'),
  newIpv4: described(t.Integer(), 'Addresses that it gets from the pools of its node.'),
  isRunning: nullable(t.Boolean()),
  disk: described(
    nullable(
      t.Object({
        format: nullable(t.String()),
        bus: nullable(t.String()),
        path: nullable(t.String()),
        bytes: t.Integer(),
        usedBytes: described(nullable(t.Integer()), 'What holds data.'),
      }),
    ),
    'As its node has found it on the hypervisor.',
  ),
  machine: nullable(t.String()),
  mac: described(nullable(t.String()), 'Of the network card that comes over.'),
  method: described(
    nullable(t.Enum([...moveMethods])),
    'short_stop: copied while it runs, and what has changed once it is off. plain: copied while it is off.',
  ),
  copySeconds: described(nullable(t.Integer()), 'An estimate, no promise.'),
  awaySeconds: described(nullable(t.Integer()), 'How long it would be away. An estimate, no promise.'),
  at: time,
})

/** Null: the dry run has not looked at it yet. */
export function showCheck(
  tx: Db,
  serverId: string,
  nodes: readonly { id: string; name: string }[],
): Static<typeof checkResponse> | null {
  const check = checkOf(tx, serverId)
  if (!check) return null
  const { diskFormat, diskBus, diskPath, diskBytes, usedBytes } = check
  const node = nodes.find(({ id }) => id === check.nodeId)
  return {
    result: check.result,
    findings: findingsOf(tx, serverId).map((one) => ({ ...one, remedy: findings[one.code].remedy })),
    node: node ? { id: node.id, name: node.name } : null,
    ...{ pool: check.pool, reason: check.reason, newIpv4: check.newIpv4, isRunning: check.isRunning },
    disk: diskBytes === null ? null : { format: diskFormat, bus: diskBus, path: diskPath, bytes: diskBytes, usedBytes },
    ...{
      machine: check.machine,
      mac: check.mac,
      method: check.method,
      copySeconds: check.copySeconds,
      awaySeconds: check.awaySeconds,
    },
    at: iso(check.at),
  }
}
