import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Power } from '../../../agent/protocol/wire.ts'
import { instanceStatuses } from '../../../src/compute/gpu-instances/model.ts'
import { type Status, statuses, statusIs, statusOf, statusSql } from '../../../src/fleet/workloads/status.ts'
import type { Lifecycle } from '../../../src/fleet/workloads/tables.ts'
import { type World, world } from '../../support/world/panel.ts'

/** Per lifecycle and power: the status without a suspension, and with one. */
const expected: [Lifecycle, (Power | null)[], Status, Status][] = [
  ['pending_setup', [null, 'running', 'stopped', 'absent'], 'pending_setup', 'suspended'],
  ['provisioning', [null, 'running', 'stopped', 'crashed'], 'provisioning', 'suspended'],
  ['active', ['running', 'paused'], 'running', 'suspended'],
  ['active', [null, 'stopped', 'crashed', 'absent'], 'stopped', 'suspended'],
  ['failed', [null, 'running', 'stopped'], 'failed', 'suspended'],
  ['terminated', [null, 'running', 'stopped'], 'terminated', 'terminated'],
]
const rows = expected.flatMap(([lifecycle, powers, free, suspended]) =>
  powers.flatMap((power) => [
    { lifecycle, power, suspendedAt: null, status: free },
    { lifecycle, power, suspendedAt: 1, status: suspended },
  ]),
)

let p: World
beforeAll(async () => {
  p = await world()
  await p.admin('POST', '/admin/servers', p.order)
})
afterAll(() => p.close())

for (const { lifecycle, power, suspendedAt, status } of rows)
  test(`${lifecycle}, power ${power}${suspendedAt ? ', suspended' : ''}: ${status}, in code and in SQL`, () => {
    const { $client } = p.db
    $client.run(
      `UPDATE workloads SET lifecycle = ?1, power = ?2, suspended_at = ?3, suspend_reason = iif(?3 IS NULL, NULL,
        'overdue'),
        terminated_at = iif(?1 = 'terminated', 1, NULL)`,
      [lifecycle, power, suspendedAt],
    )
    expect(statusOf({ lifecycle, power, suspendedAt })).toBe(status)
    expect($client.query(`SELECT ${statusSql} AS status FROM workloads w`).get()).toEqual({ status })
    const holding = statuses.filter((s) => $client.query(`SELECT 1 FROM workloads w WHERE ${statusIs[s]}`).get())
    expect(holding).toEqual([status])
  })

for (const releasedAt of [null, 5])
  test(`a kind with names of its own: one holds for each row, in code and in SQL, released: ${releasedAt}`, () => {
    const { $client } = p.db
    const seen = new Set<string>()
    for (const { lifecycle, power, suspendedAt, status } of rows) {
      $client.run(
        `UPDATE workloads SET lifecycle = ?1, power = ?2, suspended_at = ?3, suspend_reason = iif(?3 IS NULL, NULL,
          'overdue'), terminated_at = iif(?1 = 'terminated', 1, NULL), released_at = ?4`,
        [lifecycle, power, suspendedAt, releasedAt],
      )
      const name = instanceStatuses.of({ lifecycle, power, suspendedAt, releasedAt })
      const ended = releasedAt === null ? 'deleting' : 'deleted'
      const making = status === 'provisioning' || status === 'pending_setup'
      expect(name).toBe(status === 'terminated' ? ended : making ? 'creating' : status)
      expect($client.query(`SELECT ${instanceStatuses.sql} AS status FROM workloads w`).get()).toEqual({ status: name })
      const holding = instanceStatuses.statuses.filter((one) =>
        $client.query(`SELECT 1 FROM workloads w WHERE ${instanceStatuses.is[one]}`).get(),
      )
      expect(holding).toEqual([name])
      seen.add(name)
    }
    expect(seen.size).toBe(6)
  })

test('the database refuses a lifecycle that the code does not know, and half a suspension', () => {
  for (const set of [
    "lifecycle = 'lost'",
    "lifecycle = 'terminated', terminated_at = NULL",
    'suspended_at = 1, suspend_reason = NULL',
  ])
    expect(() => p.db.$client.run(`UPDATE workloads SET ${set}`)).toThrow()
})
