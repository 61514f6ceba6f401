// Point 9 of Imports, and what point 18 says of it: nodes are let in to source hypervisors.
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { InjectedCrash } from '../../../src/kernel/jobs/failures.ts'
import { decided, dryRun, KVM_1, look, results, shown } from '../dry-run/world.ts'
import { hypervisor, server } from '../panel-in-memory.ts'
import { map, refused } from '../world.ts'

const PASSWORD = 'canary-7c41-root-password'
const access = async (p: Awaited<ReturnType<typeof decided>>) =>
  (await p.admin('GET', `/admin/migrations/${p.id}/access`)).data
const addKeys = (p: Awaited<ReturnType<typeof decided>>, body: object = {}) =>
  p.admin('POST', `/admin/migrations/${p.id}/actions/add-keys`, { hypervisorId: '1', password: PASSWORD, ...body })
/** No node is let in, and each has made its key. */
async function closed() {
  const p = await decided({}, { lets: 'known', nodes: ['fra-02', 'fra-03'] })
  await look(p)
  return p
}

test(
  "Add keys with root password: a copying node signs in once and adds every copying node's key, without " +
    'duplicates',
  async () => {
    using p = await closed()
    expect(await access(p)).toMatchObject([{ hypervisorId: '1', address: KVM_1, way: 'copy', working: 0 }])
    const added = await addKeys(p)
    expect(added).toMatchObject({ node: { name: 'fra-01' }, keys: 3 })
    await p.settle()
    expect(p.job(added.jobId)).toMatchObject({ state: 'succeeded', kind: 'import_keys', nodeId: p.node.id })
    expect(p.sources.signInsAt(KVM_1)).toEqual(['accepted'])
    expect(p.sources.linesAt(KVM_1)).toHaveLength(3)
    await look(p)
    const [seen] = await access(p)
    expect(seen).toMatchObject({ working: 3, system: 'CentOS Linux 7 (Core)' })
    expect(seen.hostKey).toStartWith('SHA256:')
    expect((await dryRun(p)).status).toBe('ready')
    await addKeys(p)
    await p.settle()
    expect(p.sources.linesAt(KVM_1)).toHaveLength(3)
  },
)

/** Files below a directory that have this text in them, also in another encoding. */
function filesWith(dir: string, text: string): string[] {
  const forms = [text, Buffer.from(text).toString('base64'), Buffer.from(text).toString('hex')].map((form) =>
    Buffer.from(form),
  )
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`)
    .filter((path) => forms.some((form) => readFileSync(path).includes(form)))
}

test('the password is stored nowhere, not in the database, logs or audit log', async () => {
  using p = await closed()
  const said: string[] = []
  const frames: string[] = []
  const send = p.controller.hub.send
  p.controller.hub.send = (key, command) => {
    frames.push(JSON.stringify(command))
    return send(key, command)
  }
  const error = console.error
  const write = process.stderr.write
  process.stderr.write = ((text: string) => said.push(String(text)) > 0) as never
  try {
    const { jobId } = await addKeys(p)
    expect(filesWith(p.dir, PASSWORD)).toEqual([])
    await p.settle()
    expect(p.job(jobId).state).toBe('succeeded')
    // One that is refused, one whose node dies in the middle, and one that another answer ends.
    p.sources.describe(KVM_1, { password: 'another', lets: 'known' })
    await addKeys(p)
    await p.settle()
    p.arm({
      agentCrash: (moment) => {
        if (moment === 'after') p.arm({})
        if (moment === 'after') throw new InjectedCrash('after')
      },
    })
    await addKeys(p)
    await p.settle()
    const answers = [
      await p.admin('GET', '/admin/audit'),
      await p.admin('GET', '/jobs'),
      await p.admin('GET', `/jobs/${jobId}/log`),
      await p.admin('GET', `/admin/migrations/${p.id}/log`),
      await access(p),
    ]
    expect(JSON.stringify(answers)).not.toContain(PASSWORD)
  } finally {
    process.stderr.write = write
    console.error = error
  }
  expect(frames.some((frame) => frame.includes('source-host.add-keys'))).toBe(true)
  // Also not in what is sent to the node: it is encrypted for that node.
  expect(frames.join()).not.toContain(PASSWORD)
  expect(said.join('')).not.toContain(PASSWORD)
  // Database, write-ahead log, and everything that the nodes have on disk.
  expect(filesWith(p.dir, PASSWORD)).toEqual([])
  expect((await p.admin('GET', '/admin/audit')).data[0]).toMatchObject({ operation: 'imports.add-keys' })
})

test('a restart of the controller loses the password: the job says so, and no key is added', async () => {
  using p = await closed()
  let isCut = false
  p.arm({
    failpoints: (at) => {
      if (at !== 'import_keys/add:before' || isCut) return
      isCut = true
      throw new InjectedCrash(at)
    },
  })
  const { jobId } = await addKeys(p)
  await p.settle()
  await p.crash()
  await p.settle()
  expect(p.job(jobId)).toMatchObject({ state: 'failed', errorCode: 'input_lost' })
  expect(p.sources.signInsAt(KVM_1)).toEqual([])
  expect(filesWith(p.dir, PASSWORD)).toEqual([])
})

const NOT_ACCEPTED =
  'root password not accepted (wrong password or root password login disabled; use the manual command)'
test(NOT_ACCEPTED, async () => {
  using p = await closed()
  for (const password of ['another', null]) {
    p.sources.describe(KVM_1, { password, lets: 'known' })
    const { jobId } = await addKeys(p)
    await p.settle()
    const job = await p.admin('GET', `/jobs/${jobId}`)
    expect(job.state).toBe('failed')
    expect(JSON.stringify([job.error, job.cause])).toContain(`R${NOT_ACCEPTED.slice(1)}`)
    expect(p.sources.linesAt(KVM_1)).toEqual([])
  }
})

test('the one command that is shown adds the key of every copying node', async () => {
  using p = await closed()
  const [{ command }] = await access(p)
  const lines = [...command.matchAll(/ssh-ed25519 [A-Za-z0-9+/]{68} berth-import:(nod_\w+)/g)].map(([, id]) => id)
  expect(lines.toSorted()).toEqual([p.node, ...p.more].map(({ id }) => id).toSorted())
  // Run twice in a shell, each line is there once, and what was there before stays.
  const home = `${p.dir}/root`
  const run = () => Bun.spawnSync(['sh', '-c', command], { env: { HOME: home, PATH: process.env['PATH']! } })
  Bun.spawnSync([
    'sh',
    '-c',
    `mkdir -p -m 700 ${home}/.ssh; printf 'ssh-rsa AAAA other' > ${home}/.ssh/authorized_keys`,
  ])
  expect(run().exitCode).toBe(0)
  expect(run().exitCode).toBe(0)
  const written = readFileSync(`${home}/.ssh/authorized_keys`, 'utf8').split('\n').filter(Boolean)
  expect(written).toHaveLength(4)
  expect(written[0]).toBe('ssh-rsa AAAA other')
  expect(new Set(written).size).toBe(4)
})

test('whether each node can log in is checked when somebody asks, and after a crash too', async () => {
  using p = await closed()
  const check = (body: object = {}) =>
    p.admin('POST', `/admin/migrations/${p.id}/actions/check-access`, { hypervisorId: '1', ...body })
  expect((await check()).nodes.every(({ isAsked }: { isAsked: boolean }) => isAsked)).toBe(true)
  await p.crash()
  await look(p)
  expect(
    (await access(p))[0].nodes.map(({ login, words }: { login: string; words: string }) => [login, words]),
  ).toEqual(Array(3).fill(['no_login', 'could not log in over SSH (key missing on the source)']))
  p.sources.describe(KVM_1, { lets: 'everyone' })
  await check()
  await look(p)
  expect((await access(p))[0]).toMatchObject({ working: 3 })
})

test('another host key stops every node until somebody accepts it', async () => {
  using p = await decided()
  await dryRun(p)
  p.sources.describe(KVM_1, { lets: 'everyone', hostKey: `ssh-ed25519 ${'B'.repeat(68)}` })
  await dryRun(p)
  expect(await results(p)).toEqual([
    ['to_fix', 'host_key_changed'],
    ['to_fix', 'host_key_changed'],
  ])
  await p.admin('POST', `/admin/migrations/${p.id}/actions/check-access`, { hypervisorId: '1', acceptHostKey: true })
  await look(p)
  expect((await dryRun(p)).status).toBe('ready')
  const { lines } = await p.admin('GET', `/admin/migrations/${p.id}/log`)
  expect(JSON.stringify(lines)).toContain('Another SSH host key of kvm-1 is accepted.')
})

test('keys are added only where servers are copied, by a node that is connected', async () => {
  using p = await decided({ hypervisors: [hypervisor('1'), hypervisor('2')], servers: [server(1)] }, { lets: 'known' })
  await map(p, p.id, { hypervisors: [{ sourceId: '2', choice: 'leave_out' }] })
  const path = `/admin/migrations/${p.id}/actions/add-keys`
  const body = { hypervisorId: '1', password: PASSWORD }
  // No node has made its key.
  expect(await refused(p, 'POST', path, body)).toEqual([409, 'no_copying_node'])
  await look(p)
  for (const hypervisorId of ['2', '9']) {
    expect(await refused(p, 'POST', path, { ...body, hypervisorId })).toEqual([422, 'validation_failed'])
  }
  for (const password of ['', 'two\nlines'])
    expect(await refused(p, 'POST', path, { ...body, password })).toEqual([422, 'validation_failed'])
  p.node.agent.disconnect()
  await p.reported()
  expect(await refused(p, 'POST', path, body)).toEqual([409, 'no_copying_node'])
  p.node.agent.connect()
  p.sources.describe(KVM_1, { lets: 'known', ms: 300 })
  await p.admin('POST', path, body)
  const second = await p.call(p.owner, 'POST', path, body)
  expect([second.status, second.body.error.code]).toEqual([409, 'in_use'])
  await p.settle()
  expect(p.sources.signInsAt(KVM_1)).toHaveLength(1)
  expect((await shown(p)).length).toBe(1)
})
