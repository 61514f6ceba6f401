// Every file of comma-separated values opens in a spreadsheet as it is: over every operation that produces one.
import { describe, expect, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import { API_ROOT } from '../../../src/kernel/api/http.ts'
import { callerOf, everyId, everything, targetsOf } from '../../support/world/everything.ts'
import { operations } from '../toy-feature/every-feature.ts'

describe('a spreadsheet', () => {
  const producing = operations.filter((op) => op.produces === 'text/csv')
  test('is what some operations produce', () => expect(producing.length).toBeGreaterThan(5))

  for (const op of producing)
    test(`${op.id}: says that it is UTF-8, and has a heading for each cell`, async () => {
      using p = await everything()
      for (const { id } of [p.customer, p.resold])
        p.db.$client.run("UPDATE accounts SET name = 'Zoë Łukasz; 東京' WHERE id = ?", [id])
      const { cookie } = p.people[callerOf(op)]
      const targets = op.on ? targetsOf(p, op, everyId(p)) : []
      const path = op.path
        .replace('{id}', targets.includes(p.node.id) ? p.node.id : (targets[0] ?? ''))
        .replace('{address}', '203.0.113.10')
      const response = await p.controller.router.fetch(
        new Request(`http://localhost${API_ROOT}${path}`, { headers: { Cookie: `__Host-panel=${cookie}` } }),
      )
      const bytes = await response.bytes()
      expect([response.status, bytes.subarray(0, 3).toHex()]).toEqual([200, 'efbbbf'])
      const rows: string[][] = parse(Buffer.from(bytes), { bom: true, relax_column_count: false })
      expect(rows[0]!.every((heading) => /^[A-Za-z]\w*$/.test(heading))).toBe(true)
      // The mark stands once, also where a file has several parts.
      expect(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes).split('\uFEFF')).toHaveLength(2)
    })
})
