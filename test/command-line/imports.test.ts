// A whole import by the command line, up to where servers would move.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { operations } from '../../src/app/features.ts'
import { SolusPanel, TOKEN } from '../imports/simulators/solusvm2.ts'
import { type Installation, installation } from '../support/world/processes.ts'
import { berth } from '../support/world/program.ts'

let live: Installation
let dir = ''
beforeAll(async () => {
  live = await installation()
  dir = mkdtempSync(`${tmpdir()}/berth-sources-`)
  await live.serve()
}, 60_000)
afterAll(async () => {
  await live.close()
  rmSync(dir, { recursive: true })
})
const imports = operations.filter(({ path }) => path.startsWith('/admin/migration'))
const ran = async (operation: string, body: object) => {
  const { code, out, error } = await berth(['admin', operation, '-'], live.env, JSON.stringify(body))
  expect([operation, code, error]).toEqual([operation, 0, ''])
  return out
}
const admin = async (operation: string, body: object) => JSON.parse(await ran(operation, body))

describe('berth admin', () => {
  test('has every operation of imports, with help that names its fields and keeps secrets off the line', async () => {
    expect(imports.length).toBeGreaterThan(20)
    const { out } = await berth(['admin', 'list'], live.env)
    for (const { id, summary } of imports) expect(out).toContain(`${id.padEnd(22)} ${summary}`)
    for (const [id, ...words] of [
      [
        'imports.create',
        'kind',
        'one of "solusvm2", "virtualizor", "demo"',
        'secret: give it on standard input',
        "- <<'JSON'",
      ],
      ['imports.set-credentials', 'id of the import', 'secret: give it on standard input'],
      ['imports.apply-to-owners', 'where', 'query.dryRun', 'Example:'],
      ['imports.servers', 'query.state', 'query.conflict'],
    ]) {
      const help = await berth(['admin', id!, '--help'], live.env)
      expect([id, help.code, words.filter((one) => !help.out.includes(one))]).toEqual([id!, 0, []])
    }
  }, 60_000)

  test('begins an import, trusts the certificate, reads, decides, downloads the mapping and cancels', async () => {
    const panel = new SolusPanel()
    await using served = await panel.serve(dir)
    const { id } = await admin('imports.create', {
      ...{ kind: 'solusvm2', address: served.address, credentials: { token: TOKEN }, name: 'Old' },
    })
    const ended = () =>
      live.until('the end of the reading', async () => {
        const row = await admin('imports.get', { id })
        return row.status !== 'discovering' && row
      })
    await admin('imports.discover', { id })
    const { asksFor } = await ended()
    await admin('imports.trust', { id, sha256: asksFor.fingerprint })
    await admin('imports.discover', { id })
    expect(await ended()).toMatchObject({ status: 'mapping', servers: { total: 17 }, name: 'Old' })
    expect(await admin('imports.apply-to-packages', { id, where: {}, choice: 'leave_out' })).toMatchObject({
      isComplete: true,
    })
    expect((await admin('imports.servers', { id, query: { state: 'left_out', limit: '200' } })).data.length).toBe(17)
    expect(await ran('imports.export-mapping', { id })).toContain('"packages","7","KVM 2","leave_out"')
    const refused = await berth(['admin', 'imports.discover', '{"id":"imp_00000000000000000000000000"}'], live.env)
    expect([refused.code, refused.error]).toEqual([1, expect.stringContaining('import_not_found')])
    expect(await admin('imports.cancel', { id })).toMatchObject({ status: 'cancelled', hasCredentials: false })
    expect((await admin('imports.list', {})).data).toEqual([])
    expect(panel.violations).toEqual([])
  }, 60_000)
})
