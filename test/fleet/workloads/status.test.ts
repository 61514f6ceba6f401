import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Power } from '../../../agent/protocol/wire.ts'
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

test('the database refuses a lifecycle that the code does not know, and half a suspension', () => {
  for (const set of [
    "lifecycle = 'lost'",
    "lifecycle = 'terminated', terminated_at = NULL",
    'suspended_at = 1, suspend_reason = NULL',
  ])
    expect(() => p.db.$client.run(`UPDATE workloads SET ${set}`)).toThrow()
})
