// The examples of docs/api.md, run by bash exactly as they stand there.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { emptyQcow2 } from '../../support/guest.ts'
import { type Installation, installation } from '../../support/world/processes.ts'

let live: Installation
let token: string
beforeAll(async () => {
  live = await installation()
  await live.serve()
  await live.admin('staff.create', { email: 'ada@example.com', name: 'Ada', password: 'seven green bicycles' })
  token = (await live.admin('tokens.grant', { account: 'ada@example.com', name: 'Billing', preset: 'billing' })).token
  const location = (await live.admin('locations.create', { name: 'Frankfurt' })).id
  live.agent(await live.enroll(location, 'fra-01'))
  const node = await live.until('the node', async () =>
    (await live.admin('nodes.list')).data.find((n: any) => n.connected && n.load?.pools.length),
  )
  await live.admin('pools.create', {
    name: 'v4',
    network: '203.0.113.0/24',
    gateway: '203.0.113.1',
    nodeIds: [node.id],
  })
  await live.admin('packages.create', { name: 'KVM 2G', vcpus: 2, memoryMb: 2048, diskGb: 40 })
  await Bun.write(`${live.dir}/incoming/debian.qcow2`, emptyQcow2())
  await live.admin('images.import', { file: 'debian.qcow2', name: 'Debian 13', minDiskGb: 3, published: true })
}, 120_000)
afterAll(() => live?.close())

const lines = /```bash\n([\s\S]*?)```/.exec(readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8'))![1]!

test('a server lives from order to cancellation by the lines of the document', async () => {
  const run = Bun.spawn(['bash', '-euo', 'pipefail', '-s'], {
    stdin: new Blob([lines]),
    stdout: 'pipe',
    stderr: 'pipe',
    env: { PATH: process.env['PATH']!, BERTH: live.url, TOKEN: token },
  })
  const [out, complaints, code] = await Promise.all([
    new Response(run.stdout).text(),
    new Response(run.stderr).text(),
    run.exited,
  ])
  expect({ code, complaints }).toEqual({ code: 0, complaints: '' })
  expect(
    out
      .trim()
      .split('\n')
      .map((line) => line.replace(/^job_\w{26} /, '')),
  ).toEqual(Array(4).fill('succeeded'))
  const [server] = (await live.admin('servers.list-all', { query: { status: 'terminated' } })).data
  expect(server.hostname).toBe('web01')
  const [client] = (await live.admin('customers.list', { query: { externalId: '4711' } })).data
  expect(server.owner.id).toBe(client.id)
}, 120_000)
