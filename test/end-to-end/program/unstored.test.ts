// A root password that is used once, in the program as processes: after a reset neither it nor its hash is in a file of
// the controller or of the agent, in a journal, in the environment or on a command line, and no crash writes a dump. A
// reset at which the controller is killed is undone, and says that it must be done again.
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { Subprocess } from 'bun'
import { emptyQcow2 } from '../../support/guest.ts'
import { type Installation, installation } from '../../support/world/processes.ts'

const minute = 60_000
let live: Installation
let controller: Subprocess
let agent: Subprocess
let token: string
let home: string
let serverId: string

const call = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
  const reply = await live.api(token, method, path, body, headers)
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(reply.body)}`)
  return reply.body as any
}
const ended = (jobId: string) =>
  live.until(
    `the end of ${jobId}`,
    async () => {
      const job = await call('GET', `/jobs/${jobId}`)
      return (job.state === 'succeeded' || job.state === 'failed') && job
    },
    60,
  )
const nodeIsThere = () =>
  live.until('the node', async () => (await live.admin('nodes.list')).data.find((n: any) => n.connected))
const reset = (): Promise<{ jobId: string; rootPassword: string }> =>
  call('POST', `/servers/${serverId}/actions/reset-password`, {}, { 'Idempotency-Key': crypto.randomUUID() })

beforeAll(async () => {
  live = await installation()
  controller = await live.serve()
  token = await live.ownerToken()
  const location = (await live.admin('locations.create', { name: 'Lab' })).id
  home = await live.enroll(location, 'fra-01')
  agent = live.agent(home)
  const node = (await nodeIsThere()).id
  const network = { name: 'v4', network: '198.51.100.0/24', gateway: '198.51.100.1', nodeIds: [node] }
  await live.admin('pools.create', network)
  const packageId = (await live.admin('packages.create', { name: 'S', vcpus: 1, memoryMb: 64, diskGb: 3 })).id
  await Bun.write(`${live.dir}/incoming/t.qcow2`, emptyQcow2())
  const imageId = (await live.admin('images.import', { file: 't.qcow2', name: 'Tiny' })).id
  const ownerId = (await live.admin('customers.create', { name: 'Cal', email: 'cal@example.com' })).id
  const order = { ownerId, packageId, nodeGroupId: location, imageId, access: { mode: 'password' }, hostname: 'web1' }
  const created = await call('POST', '/admin/servers', order)
  serverId = created.serverId
  await ended(created.jobId)
}, minute)
afterAll(() => live.close())

/** The password file of the fake guest: where the hash belongs. */
const hashInGuest = () => {
  const db = new Database(`${home}/fake.db`, { readonly: true })
  const { password } = db.query<{ password: string }, []>('SELECT * FROM guest_users').get()!
  db.close()
  return password
}
/** Everything that the two processes keep or say, by its name; of the fake host all but its guests. */
function everythingKept(): Map<string, string> {
  const kept = new Map<string, string>()
  for (const { name, parentPath } of [live.dir, home].flatMap((dir) =>
    readdirSync(dir, { recursive: true, withFileTypes: true }).filter((file) => file.isFile()),
  ))
    if (!name.startsWith('fake.db'))
      kept.set(`${parentPath}/${name}`, readFileSync(`${parentPath}/${name}`).toString('latin1'))
  for (const { pid } of [controller, agent])
    for (const file of ['environ', 'cmdline'])
      kept.set(`${file} of ${pid}`, readFileSync(`/proc/${pid}/${file}`).toString('latin1'))
  return kept
}
const holding = (secret: string) =>
  [...everythingKept()].filter(([, text]) => text.includes(secret)).map(([name]) => name)

test(
  'a password that the guest agent sets, and its hash, are in no file, journal, environment or command line',
  async () => {
    const { jobId, rootPassword } = await reset()
    expect(await ended(jobId)).toMatchObject({ state: 'succeeded' })
    const hash = hashInGuest()
    expect(hash).toStartWith('$6$')
    expect([...everythingKept().keys()].some((name) => name.endsWith('berth.db'))).toBe(true)
    expect(holding(serverId).length).toBeGreaterThan(1)
    expect([holding(rootPassword), holding(hash), holding(btoa(hash))]).toEqual([[], [], []])
  },
  minute,
)

test(
  'no dump is written of either process when it crashes; a reset during which the controller does is undone',
  async () => {
    for (const { pid } of [controller, agent])
      expect(readFileSync(`/proc/${pid}/limits`, 'utf8')).toMatch(/^Max core file size +0 +0 /m)
    writeFileSync(`${home}/faults.json`, JSON.stringify([{ command: 'guest.set-password', mode: 'hang', times: 1 }]))
    const { jobId, rootPassword } = await reset()
    await live.until('the command', async () => (await call('GET', `/jobs/${jobId}`)).step.n === 2)
    controller.kill('SIGABRT')
    await controller.exited
    agent.kill('SIGABRT')
    await agent.exited
    controller = await live.serve()
    agent = live.agent(home)
    await nodeIsThere()
    const job = await ended(jobId)
    expect(job).toMatchObject({ state: 'failed', error: { code: 'input_lost' } })
    expect(job.error.message).toContain('Enter it again.')
    expect(holding(rootPassword)).toEqual([])
    const dumps = [live.dir, home, process.cwd(), '/tmp', '/var/crash', '/var/lib/systemd/coredump']
      .flatMap((dir) => {
        try {
          return readdirSync(dir)
        } catch {
          return []
        }
      })
      .filter((name) => new RegExp(`^core.*(${controller.pid}|${agent.pid})|^core$`).test(name))
    expect(dumps).toEqual([])
    expect(await ended((await reset()).jobId)).toMatchObject({ state: 'succeeded' })
  },
  minute,
)
