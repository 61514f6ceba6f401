// The clock of the host is set back and forward under the compiled program, by libfaketime; its monotonic clock goes
// on.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { emptyQcow2 } from '../../support/guest.ts'
import { type Installation, installation } from '../../support/world/processes.ts'

const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1'
const hour = 3600

let live: Installation
let token: string
let faked: Record<string, string>

/** Seconds from the real time, for every process that runs. */
function setClock(seconds: number) {
  writeFileSync(`${live.dir}/faketime.new`, `${seconds < 0 ? '' : '+'}${seconds}\n`)
  renameSync(`${live.dir}/faketime.new`, `${live.dir}/faketime`)
}
const attention = async () =>
  (await live.admin('overview.get')).attention.map(({ what }: { what: string }) => what) as string[]
const clockRows = async () => (await attention()).filter((what) => what.includes('clock'))

const sharedByFaketime = () => readdirSync('/dev/shm').filter((name) => name.includes('faketime_'))
const sharedBefore = new Set(sharedByFaketime())

beforeAll(async () => {
  live = await installation()
  setClock(0)
  faked = {
    LD_PRELOAD: FAKETIME,
    FAKETIME_TIMESTAMP_FILE: `${live.dir}/faketime`,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  }
  if (!existsSync(FAKETIME)) throw new Error('the Debian package faketime is missing')
  await live.serve(faked)
  token = await live.ownerToken()
}, 60_000)
afterAll(async () => {
  await live.close()
  // A program that is killed leaves the memory of libfaketime, which is named by its pid.
  for (const name of sharedByFaketime()) if (!sharedBefore.has(name)) rmSync(`/dev/shm/${name}`, { force: true })
})

test('sessions, limits, jobs and nodes do not notice that the clock is set, and staff are told until it is ' +
  'right', async () => {
  await live.givePassword('ada@example.com', 'seven green bicycles')
  const signIn = async () => {
    const headers = { 'Content-Type': 'application/json', Origin: live.url }
    const body = JSON.stringify({ email: 'ada@example.com', password: 'seven green bicycles' })
    const { status, headers: answer } = await fetch(`${live.url}/api/v1/sessions`, { method: 'POST', headers, body })
    return { status, cookie: /^[^;]*/.exec(answer.get('Set-Cookie') ?? '')![0] }
  }
  const { status, cookie } = await signIn()
  expect(status).toBe(201)
  const isSignedIn = async () =>
    (await fetch(`${live.url}/api/v1/account`, { headers: { Cookie: cookie } })).status === 200
  const location = (await live.admin('locations.create', { name: 'Lab' })).id
  const home = await live.enroll(location, 'fra-01')
  live.agent(home, faked)
  const node = await live.until('the node', async () =>
    (await live.admin('nodes.list')).data.find((n: { connected: boolean }) => n.connected),
  )
  const pool = { name: 'v4', network: '198.51.100.0/24', gateway: '198.51.100.1', nodeIds: [node.id] }
  await live.admin('pools.create', pool)
  const packageId = (await live.admin('packages.create', { name: 'S', vcpus: 1, memoryMb: 64, diskGb: 3 })).id
  await Bun.write(`${live.dir}/incoming/t.qcow2`, emptyQcow2())
  const imageId = (await live.admin('images.import', { file: 't.qcow2', name: 'Tiny' })).id
  const ownerId = (await live.admin('customers.create', { name: 'Cal', email: 'cal@example.com' })).id
  const install = async (hostname: string) => {
    const body = { ownerId, packageId, nodeGroupId: location, imageId, hostname, access: { mode: 'password' } }
    const reply = await live.api(token, 'POST', '/admin/servers', body)
    expect([hostname, reply.status]).toEqual([hostname, 201])
    return await live.until(hostname, async () => {
      const { body } = await live.api(token, 'GET', `/jobs/${reply.body.jobId}`)
      return body.state === 'succeeded' && body
    })
  }
  await install('before')
  const written = await live.admin('audit.list')
  for (const [words, seconds] of [
    ['back by 1 hour', -hour],
    ['forward by 2 days', 47 * hour],
  ] as const) {
    setClock(seconds)
    // The host's clock is compared every five seconds.
    await live.until(words, async () => (await clockRows()).some((what) => what.includes(words)), 20)
    expect(await isSignedIn()).toBe(true)
    // 40 calls of a token and 5 sign-ins: a bucket that is not refilled by time that went back refuses none of them.
    for (let i = 0; i < 40; i++) expect((await live.api(token, 'GET', '/admin/nodes')).status).toBe(200)
    for (let i = 0; i < 5; i++) expect((await signIn()).status).toBe(201)
    const job = await install(seconds < 0 ? 'back' : 'forward')
    const took = Date.parse(job.finishedAt) - Date.parse(job.startedAt)
    expect(took).toBeGreaterThanOrEqual(0)
    expect(took).toBeLessThan(30_000)
  }
  expect((await live.log('controller-0')).match(/the clock of this host was set (back|forward) by [^"]*/g)).toEqual([
    'the clock of this host was set back by 1 hour',
    'the clock of this host was set forward by 2 days',
  ])
  setClock(0)
  await live.until('nothing said of clocks', async () => (await clockRows()).length === 0, 30)
  const after = (await live.admin('audit.list')).data
  expect(Math.abs(Date.parse(after[0].at) - Date.now())).toBeLessThan(60_000)
  expect(after.length).toBeGreaterThan(written.data.length)
}, 120_000)
