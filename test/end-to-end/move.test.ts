// A real guest that moves: the compiled program as controller and as two agents, each beside a libvirt and an SSH
// server of its own, with a router that calls the guest as its owner would.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporary } from '../agent/temporary.ts'
import { missing, note } from '../drivers/tools.ts'
import { guestImage, must, newKey, noGuests, run, sshOptions } from '../support/guest.ts'
import { beginCounting, counterIn, gapsIn, pinging, takeCounter } from '../support/nodes/counting.ts'
import { Spaces, withLibvirt } from '../support/nodes/nodes.ts'
import { eventually } from '../support/waiting/eventually.ts'
import { type Installation, installation } from '../support/world/processes.ts'

const names = ['a', 'b'] as const
type Name = (typeof names)[number]
const support = join(import.meta.dir, '../support/nodes')
const SECONDS = 240
const lacks = ['gcc', 'ping', 'sshd'].filter(
  (program) => !Bun.which(program, { PATH: `${process.env['PATH']}:/usr/sbin` }),
)
const reason =
  (await noGuests()) ??
  (lacks.length ? `no ${lacks.join(', ')}` : undefined) ??
  (await missing('qemu-img', 'xorriso', 'nft', 'ip', 'bridge', 'sshd'))

describe.skipIf(note(reason, 'a server that moves'))('a real server that moves', () => {
  const spaces = new Spaces(`mv${process.pid}`)
  const children: Bun.Subprocess[] = []
  const inside = {} as Record<Name, string[]>
  const ids = {} as Record<Name, string>
  const runAgent = {} as Record<Name, () => Bun.Subprocess>
  const agents = {} as Record<Name, Bun.Subprocess>
  let live: Installation
  let key: Awaited<ReturnType<typeof newKey>>
  let token = ''
  let lan = ''
  let server: { serverId: string; jobId: string; ipv4: string }

  const withEnvironment = () => ({ ...process.env, ...live.env }) as Record<string, string>
  const start = async (command: string[], said = 'ready') => {
    const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'pipe', stderr: 'inherit', env: withEnvironment() })
    children.push(child)
    const reader = child.stdout.getReader()
    for (let out = ''; !out.includes(said); ) {
      const { value, done } = await reader.read()
      if (done) throw new Error(`${command.join(' ')} ended`)
      out += new TextDecoder().decode(value)
    }
    return child
  }

  const childOf = ({ pid }: Bun.Subprocess) =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]!
  /** A machine with a libvirt, an SSH server and the program's agent, which reaches the controller on loopback. */
  async function startNode(name: Name, locationId: string) {
    const dir = temporary(`move-${name}`)
    const libvirt = join(dir, 'libvirt')
    const child = await start([...withLibvirt(spaces, name, libvirt), join(support, 'ssh-node.sh'), libvirt])
    inside[name] = ['nsenter', '--target', childOf(child), '--mount', '--pid', '--net', '--']
    const machineId = join(dir, 'machine-id')
    writeFileSync(machineId, `${crypto.randomUUID().replaceAll('-', '')}\n`)
    await must(...inside[name], 'mount', '--bind', machineId, '/etc/machine-id')
    await start([...inside[name], process.execPath, join(support, 'relay.ts'), new URL(live.url).port, outside()])
    const { token: enrolment } = await live.admin('nodes.enroll', { locationId, name: `node-${name}` })
    const file = join(dir, 'token')
    writeFileSync(file, enrolment)
    const home = join(dir, 'agent')
    const to = ['--controller', live.url, '--token-file', file, '--data-dir', home, '--bridge', 'br0']
    await must(...inside[name], 'env', 'PANEL_AGENT_INSECURE=1', ...live.program, 'agent', 'enroll', ...to)
    runAgent[name] = () => {
      const agent = Bun.spawn([...inside[name], ...live.program, 'agent', 'run', '--data-dir', home], {
        stdin: 'ignore',
        stdout: 'ignore',
        stderr: Bun.file(join(dir, 'agent.log')),
        env: withEnvironment(),
      })
      children.push(agent)
      return agent
    }
    agents[name] = runAgent[name]()
    const node = await live.until(`node ${name}`, async () =>
      (await live.admin('nodes.list')).data.find(
        (n: any) => n.name === `node-${name}` && n.connected && n.load?.pools.length,
      ),
    )
    await live.admin('nodes.update', { id: node.id, bridge: 'br0' })
    ids[name] = node.id
  }
  const outside = () => join(live.dir, 'controller.sock')

  beforeAll(async () => {
    key = await newKey()
    live = await installation()
    await live.serve()
    token = await live.ownerToken()
    await start([process.execPath, join(support, 'relay.ts'), outside(), new URL(live.url).port])
    await spaces.add('router', 'switch', ...names)
    await spaces.wire(['router', 'r0'], ['switch', 'p0'])
    await spaces.ip('router', 'address', 'add', '10.78.0.1/24', 'dev', 'r0')
    for (const [i, name] of names.entries()) {
      await spaces.wire([name, 'up0'], ['switch', `p${i + 1}`])
      await spaces.bridge(name, ['up0'])
      await spaces.ip(name, 'address', 'add', `10.78.0.${i + 2}/24`, 'dev', 'br0')
    }
    await spaces.bridge('switch', ['p0', 'p1', 'p2'])
    const locationId = (await live.admin('locations.create', { name: 'Lab' })).id
    for (const name of names) await startNode(name, locationId)
    const { id } = await live.admin('pools.create', {
      ...{ name: 'lan', network: '10.78.0.0/24', gateway: '10.78.0.1', first: '10.78.0.10', last: '10.78.0.20' },
      nodeIds: [ids.a, ids.b],
    })
    lan = id
    const packageId = (await live.admin('packages.create', { name: 'Tiny', vcpus: 1, memoryMb: 128, diskGb: 1 })).id
    copyFileSync(guestImage, `${live.dir}/incoming/tiny.qcow2`)
    const imageId = (await live.admin('images.import', { file: 'tiny.qcow2', name: 'Tiny Linux' })).id
    const ownerId = (await live.admin('customers.create', { name: 'Cal', email: 'cal@example.com' })).id
    const sshKey = (await live.admin('ssh-keys.create', { id: ownerId, publicKey: key.publicKey })).id
    const { status, body } = await live.api(token, 'POST', '/admin/servers', {
      ...{ ownerId, packageId, imageId, nodeGroupId: locationId, nodeId: ids.a, hostname: 'web01.example.com' },
      access: { mode: 'ssh_keys', sshKeyIds: [sshKey] },
    })
    expect([status, body.error]).toEqual([201, undefined])
    server = body
    expect(await ended(server.jobId)).toMatchObject({ state: 'succeeded' })
  }, 400_000)

  afterAll(async () => {
    key?.remove()
    for (const child of children.reverse()) {
      child.kill('SIGKILL')
      await child.exited
    }
    await live?.close()
    await spaces.remove()
  }, 60_000)

  const ended = (jobId: string) =>
    live.until(
      `the end of ${jobId}`,
      async () => {
        const { body } = await live.api(token, 'GET', `/jobs/${jobId}`)
        return (body.state === 'succeeded' || body.state === 'failed') && body
      },
      SECONDS,
    )
  const inGuest = async (command: string, stdinFile = '/dev/null') => {
    const ssh = ['ssh', ...sshOptions, '-i', key.path, '-o', 'BatchMode=yes', `root@${server.ipv4}`, command]
    let answer = { out: '', error: '', code: 255 }
    await eventually(async () => {
      answer = await run(['sh', '-c', '"$@" <"$0"', stdinFile, ...spaces.inside('router'), ...ssh])
      return answer.code !== 255
    }, SECONDS)
    return answer.out
  }
  /** The power of the vm there, as libvirt tells it; empty where it is not defined. */
  const powerOn = async (name: Name) =>
    (await run([...inside[name], 'virsh', '-c', 'qemu:///system', 'domstate', server.serverId])).out
  async function move(to: Name, body: object = {}) {
    const { status, body: started } = await live.api(token, 'POST', `/admin/servers/${server.serverId}/actions/move`, {
      ...{ nodeId: ids[to] },
      ...body,
    })
    expect([status, started.error]).toEqual([202, undefined])
    const job = await ended(started.jobId)
    expect([job.state, job.error]).toEqual(['succeeded', null])
    return (await live.api(token, 'GET', `/admin/transfers/${started.transferId}`)).body
  }
  /** Nothing of the server is left on a node that it has left. */
  const isClear = (name: Name) =>
    live.until(`node ${name} to be clear`, async () => {
      const left = await run([...inside[name], 'sh', '-c', 'ls /run/berth/transfers /root/.ssh; nft list ruleset'])
      return (await powerOn(name)) === '' && !left.out.includes(server.serverId) && !left.out.includes('trf_')
    })

  const counted = async () => gapsIn(await inGuest('cat /root/counter'))
  const kept = () => inGuest('sha256sum </root/kept')
  let before = ''

  test('it moves with its memory: no write is lost, and its downtime is told as pings see it', async () => {
    await inGuest(takeCounter, await counterIn(live.dir))
    await inGuest('dd if=/dev/urandom of=/root/kept bs=1M count=16 conv=fsync')
    before = await kept()
    await inGuest(beginCounting)
    const ping = pinging(spaces.inside('router'), server.ipv4)
    const transfer = await move('b', { mode: 'live' })
    const { silenceMs } = await ping.stop()
    process.stderr.write(`  live: told ${transfer.downtimeMs} ms, silence of pings ${silenceMs} ms\n`)
    expect(transfer).toMatchObject({ mode: 'live', state: 'finished', error: null })
    expect(transfer.downtimeMs).toBeWithin(1, silenceMs + 50)
    expect([await powerOn('a'), await powerOn('b')]).toEqual(['', 'running'])
    const { last } = await counted()
    await eventually(async () => (await counted()).last > last)
    expect((await counted()).gap).toBeUndefined()
    expect(await kept()).toBe(before)
    await isClear('a')
  }, 600_000)

  test('it is copied while it runs, and has every write that it made until it was shut down', async () => {
    const { last } = await counted()
    const ping = pinging(spaces.inside('router'), server.ipv4)
    const transfer = await move('a', { mode: 'near_live' })
    const found = await counted()
    const { silenceMs } = await ping.stop()
    process.stderr.write(`  near-live: told ${transfer.downtimeMs} ms, silence of pings ${silenceMs} ms\n`)
    expect(transfer).toMatchObject({ mode: 'near_live', state: 'finished', error: null })
    expect(transfer.downtimeMs).toBeGreaterThan(0)
    expect(found.gap).toBeUndefined()
    expect(found.last).toBeGreaterThan(last)
    expect(await kept()).toBe(before)
    expect([await powerOn('a'), await powerOn('b')]).toEqual(['running', ''])
    await isClear('b')
  }, 600_000)

  test('it moves while it is off, and starts there', async () => {
    const off = await live.api(token, 'POST', `/servers/${server.serverId}/actions/power`, { action: 'off' })
    await ended(off.body.jobId)
    expect(await move('b')).toMatchObject({ mode: 'cold', state: 'finished', error: null })
    await isClear('a')
    const on = await live.api(token, 'POST', `/servers/${server.serverId}/actions/power`, { action: 'start' })
    await ended(on.body.jobId)
    expect(await kept()).toBe(before)
    expect([await powerOn('a'), await powerOn('b')]).toEqual(['', 'running'])
  }, 600_000)

  test('it is suspended at once while its next node is dead, and nothing is left there afterwards', async () => {
    await inGuest('echo stays >/root/kept && sync')
    const { body: moving } = await live.api(token, 'POST', `/admin/servers/${server.serverId}/actions/move`, {
      ...{ nodeId: ids.a, maxMbps: 8 },
    })
    const transfer = async () => (await live.api(token, 'GET', `/admin/transfers/${moving.transferId}`)).body
    await live.until('its copy to begin', async () => (await transfer()).bytesCopied > 0, SECONDS)
    expect(await powerOn('a')).toBe('shut off')
    // The agent is the child of `nsenter`, which passes no signal on.
    process.kill(Number(childOf(agents.a)), 'SIGKILL')
    await agents.a.exited
    const isThere = async () => (await live.admin('nodes.list')).data.find((n: any) => n.id === ids.a).connected
    await live.until('node a to be away', async () => !(await isThere()))
    const act = async (action: string, body = {}) =>
      ended((await live.api(token, 'POST', `/servers/${server.serverId}/actions/${action}`, body)).body.jobId)
    expect(await act('suspend', { reason: 'unpaid' })).toMatchObject({ state: 'succeeded' })
    expect([await powerOn('b'), await isThere()]).toEqual(['shut off', false])
    expect(await ended(moving.jobId)).toMatchObject({ state: 'failed', undoPending: true })
    expect((await transfer()).state).toBe('cancelled')
    expect(await act('unsuspend')).toMatchObject({ state: 'succeeded' })
    expect([await powerOn('b'), await inGuest('cat /root/kept')]).toEqual(['running', 'stays'])
    agents.a = runAgent.a()
    await isClear('a')
    await live.until('its undo to be done', async () => !(await ended(moving.jobId)).undoPending)
  }, 600_000)

  test('it gets the addresses of its next node where that does not carry its own, and has them inside', async () => {
    await live.admin('pools.attach', { id: lan, nodeIds: [ids.b] })
    await live.admin('pools.create', {
      ...{ name: 'lan-a', network: '10.78.0.0/24', gateway: '10.78.0.1', first: '10.78.0.30', last: '10.78.0.31' },
      nodeIds: [ids.a],
    })
    const before = server.ipv4
    expect(await move('a', { readdress: true })).toMatchObject({ mode: 'near_live', state: 'finished', error: null })
    server = { ...server, ipv4: (await live.api(token, 'GET', `/servers/${server.serverId}`)).body.ipv4 }
    expect([before, server.ipv4]).toEqual(['10.78.0.10', '10.78.0.30'])
    expect(await inGuest('cat /root/kept; ip -4 -o address')).toMatch(/^stays[\s\S]*10\.78\.0\.30\/24/)
    expect(await inGuest('ip -4 -o address; ip route')).not.toContain(before)
    await isClear('b')
  }, 600_000)
})
