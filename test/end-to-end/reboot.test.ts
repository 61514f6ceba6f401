// The host of real guests loses its power while the controller is down, and boots without it: a node in namespaces of
// its own, with its own libvirt, QEMU, nftables and agent, and three servers ordered through the API of the compiled
// program.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { copyFileSync } from 'node:fs'
import type { Subprocess } from 'bun'
import { bridge, guestImage, newKey, run, sshWithKey } from '../support/guest.ts'
import { type LabNode, labNode } from '../support/world/lab.ts'
import { type Installation, installation } from '../support/world/processes.ts'
import { freePort } from '../support/world/program.ts'

type Ordered = { serverId: string; jobId: string; ipv4: string }

describe('a node that loses its power while the controller is down', () => {
  let live: Installation
  let controller: Subprocess
  let lan: Awaited<ReturnType<typeof bridge>>
  let node: LabNode
  let token: string
  let key: Awaited<ReturnType<typeof newKey>>
  let running: Ordered
  let stopped: Ordered
  let leaving: Ordered
  /** The running guest's own boot id. */
  let bootOfGuest: string

  beforeAll(async () => {
    lan = await bridge('btereb0', '10.91.8.1/24')
    key = await newKey()
    live = await installation({ PANEL_LISTEN: `10.91.8.1:${freePort()}` })
    node = labNode('reboot-01', { bridge: lan.name, address: '10.91.8.2/24' }, live.program)
    await node.boot()
    controller = await live.serve()
    token = await live.staffToken()
    const location = (await live.admin('locations.create', { name: 'Lab' })).id
    const enrolment = (await live.admin('nodes.enroll', { locationId: location, name: 'reboot-01' })).token
    await node.must(
      'env',
      'PANEL_AGENT_INSECURE=1',
      ...live.program,
      'agent',
      'enroll',
      '--controller',
      live.url,
      '--token',
      enrolment,
    )
    const { id } = await live.until('the node', async () =>
      (await live.admin('nodes.list')).data.find((n: any) => n.connected && n.load?.pools.length),
    )
    await live.admin('nodes.update', { id, bridge: 'br0' })
    await live.admin('pools.create', {
      name: 'lan',
      network: '10.91.8.0/24',
      gateway: '10.91.8.1',
      first: '10.91.8.10',
      last: '10.91.8.20',
      nodeIds: [id],
    })
    const pack = (
      await live.admin('packages.create', { name: 'Tiny', vcpus: 1, memoryMb: 128, diskGb: 1, portMbps: 100 })
    ).id
    copyFileSync(guestImage, `${live.dir}/incoming/tiny.qcow2`)
    const image = (await live.admin('images.import', { file: 'tiny.qcow2', name: 'Tiny Linux' })).id
    const customer = (await live.admin('customers.create', { name: 'Cal', email: 'cal@example.com' })).id
    const sshKey = (await live.admin('ssh-keys.create', { id: customer, publicKey: key.publicKey })).id
    const order = { ownerId: customer, packageId: pack, nodeGroupId: location, imageId: image }
    const access = { mode: 'ssh_keys', sshKeyIds: [sshKey] }
    const buy = async (hostname: string): Promise<Ordered> =>
      (await live.api(token, 'POST', '/admin/servers', { ...order, hostname, access })).body
    running = await buy('web01')
    stopped = await buy('db01')
    leaving = await buy('app01')
    for (const { jobId } of [running, stopped, leaving])
      expect(await ended(jobId)).toMatchObject({ state: 'succeeded', error: null })
  }, 180_000)

  afterAll(async () => {
    await node?.remove()
    await live?.close()
    await lan?.remove()
    key?.remove()
  }, 60_000)

  const ended = (jobId: string) =>
    live.until(
      `the end of ${jobId}`,
      async () => {
        const { body } = await live.api(token, 'GET', `/jobs/${jobId}`)
        return (body.state === 'succeeded' || body.state === 'failed') && body
      },
      90,
    )
  const power = async (server: Ordered, action: string) => {
    const { status, body } = await live.api(token, 'POST', `/servers/${server.serverId}/actions/power`, { action })
    expect(status).toBe(202)
    expect(await ended(body.jobId)).toMatchObject({ state: 'succeeded', error: null })
  }
  const statusOf = async (server: Ordered) => (await live.api(token, 'GET', `/servers/${server.serverId}`)).body.status
  const domain = (command: string, server: Ordered) =>
    node.must('virsh', '-c', 'qemu:///system', command, server.serverId)
  const onGuest = (server: Ordered, command: string) => sshWithKey(server.ipv4, key.path, command)
  const answers = (server: Ordered, name: string) =>
    live.until(`SSH to ${name}`, async () => (await onGuest(server, 'hostname')).out === name, 60)
  /** The guest's own tap and MAC address, as libvirt has them. */
  const portOf = async (server: Ordered) => {
    const xml = await domain('dumpxml', server)
    return { tap: /<target dev='(bth[^']+)'/.exec(xml)![1]!, mac: /<mac address='([^']+)'/.exec(xml)![1]! }
  }

  test('has carried three servers; the owner of one has shut it down', async () => {
    await answers(running, 'web01')
    await answers(stopped, 'db01')
    await answers(leaving, 'app01')
    bootOfGuest = (await onGuest(running, 'cat /proc/sys/kernel/random/boot_id')).out
    await power(stopped, 'shutdown')
    expect(await statusOf(stopped)).toBe('stopped')
    for (const server of [running, leaving]) expect(await statusOf(server)).toBe('running')
  }, 90_000)

  test('is gone at once: no guest answers, and none of its processes is left', async () => {
    const before = node.processes()
    expect(before.filter((name) => name.startsWith('qemu-system'))).toHaveLength(2)
    expect(before).toContain('libvirtd')
    controller.kill('SIGKILL')
    await controller.exited
    expect((await run(['ping', '-n', '-c', '1', '-W', '2', running.ipv4])).code).toBe(0)
    await node.cutPower()
    expect((await run(['ping', '-n', '-c', '1', '-W', '1', running.ipv4])).code).not.toBe(0)
    expect(node.processes()).toEqual([])
  }, 60_000)

  test('boots with no rules and no guests: libvirt by itself starts none', async () => {
    await node.boot()
    expect(node.said('tables')).toBe('')
    expect(node.said('machines')).toBe('')
  }, 60_000)

  test('brings the guests back that ran, with nobody to ask', async () => {
    await Promise.all([answers(running, 'web01'), answers(leaving, 'app01')])
    expect((await onGuest(running, 'cat /proc/sys/kernel/random/boot_id')).out).not.toBe(bootOfGuest)
    expect(node.said('agent')).toContain('no connection to the controller')
    expect(node.said('agent')).not.toContain('connected to the controller')
    await expect(fetch(live.url)).rejects.toThrow()
  }, 90_000)

  test('has the rules of each in force before there is a tap for it', async () => {
    for (const server of [running, leaving]) {
      const { tap, mac } = await portOf(server)
      const then = {
        rules: node.said(`${server.serverId}.rules`),
        interfaces: node.said(`${server.serverId}.interfaces`).split('\n'),
      }
      expect(then.rules).toContain(`"${tap}" : jump ${tap}`)
      expect(then.rules).toContain(`ether saddr != ${mac} counter packets 0 bytes 0 drop`)
      expect(then.rules).toContain(`arp saddr ip ${server.ipv4} goto ${tap}_out`)
      expect(then.rules).toContain(`ip saddr ${server.ipv4} goto ${tap}_out`)
      expect(then.interfaces).toContain('br0')
      expect(then.interfaces).not.toContain(tap)
      expect((await node.must('ls', '/sys/class/net')).split('\n')).toContain(tap)
    }
  }, 60_000)

  test('leaves the one off that its owner had shut down', async () => {
    expect(await domain('domstate', stopped)).toBe('shut off')
    expect(node.started().sort()).toEqual([running.serverId, leaving.serverId].sort())
  }, 60_000)

  test('drops what the guest sends with an address that is not its own, and holds it to its speed', async () => {
    const { tap } = await portOf(running)
    const drops = async () =>
      [...(await node.must('nft', 'list', 'chain', 'bridge', 'berth', tap)).matchAll(/counter packets (\d+)/g)].reduce(
        (n, match) => n + Number(match[1]),
        0,
      )
    expect((await onGuest(running, 'ping -c 1 -W 3 10.91.8.1 >/dev/null && echo through')).out).toBe('through')
    const before = await drops()
    const forged = await onGuest(
      running,
      'ip addr add 10.91.8.99/24 dev eth0; ping -c 2 -W 1 -I 10.91.8.99 10.91.8.1 >/dev/null 2>&1 && echo ' +
        'through || echo dropped; ip addr del 10.91.8.99/24 dev eth0',
    )
    expect(forged.out).toBe('dropped')
    expect(await drops()).toBeGreaterThan(before)
    expect((await run(['ip', 'neigh', 'show', 'dev', lan.name])).out).not.toMatch(/10\.91\.8\.99 .*lladdr/)
    expect(await node.must('tc', 'qdisc', 'show', 'dev', tap)).toMatch(/tbf .*rate 100Mbit/)
  }, 60_000)

  test('comes back to the controller with what is true, also of a guest that has meanwhile shut itself down, and ' +
    'no difference', async () => {
    await onGuest(leaving, 'poweroff')
    await live.until('the end of app01', async () => (await domain('domstate', leaving)) === 'shut off')
    const began = Date.now()
    controller = await live.serve()
    const { id } = await live.until('the node', async () =>
      (await live.admin('nodes.list')).data.find((n: any) => n.connected),
    )
    const found = await live.until('its inventory', async () => {
      const nodeRecord = await live.admin('nodes.get', { id })
      return Date.parse(nodeRecord.inventoryAt) > began && nodeRecord
    })
    expect(found.found).toEqual([])
    expect(found.differences).toBe(0)
    // The controller's own last word on it was "running".
    await live.until('word of app01', async () => (await statusOf(leaving)) === 'stopped')
    expect(await statusOf(running)).toBe('running')
    expect(await statusOf(stopped)).toBe('stopped')
    expect(await domain('domstate', stopped)).toBe('shut off')
  }, 60_000)

  test('starts its guests again after a restart of the container that it lives in: the kernel keeps its boot ' +
    'id', async () => {
    const before = await node.must('cat', '/proc/sys/kernel/random/boot_id')
    await node.cutPower()
    await node.boot({ keepsBootId: true })
    expect(await node.must('cat', '/proc/sys/kernel/random/boot_id')).toBe(before)
    await answers(running, 'web01')
    expect(await domain('domstate', stopped)).toBe('shut off')
  }, 90_000)

  test('starts a guest again whose process was killed, and says so in its activity and to staff', async () => {
    const kill = async () => {
      await node.must('kill', '-9', await node.must('pgrep', '-f', `guest=${running.serverId}`))
      await live.until('the start', async () => (await domain('domstate', running)) === 'running', 60)
    }
    const crashes = async () =>
      (await live.admin('audit.list', { target: running.serverId, operation: 'workloads.crashed' })).data
    await kill()
    await answers(running, 'web01')
    const [line] = await live.until('the line', async () => ((await crashes()).length ? crashes() : undefined))
    expect(line).toMatchObject({ details: { cause: 'ended', outcome: 'restarts' } })
    await kill()
    const { attention } = await live.until('what needs attention', async () => {
      const overview = await live.admin('overview.get')
      return overview.attention.some(({ what }: any) => what.startsWith('web01 ended unexpectedly')) && overview
    })
    expect(attention.map(({ what }: any) => what)).toContain('web01 ended unexpectedly 2 times in 24 hours.')
    await answers(running, 'web01')
  }, 180_000)

  test('obeys again: the one that was off starts, and all go without a trace', async () => {
    await power(stopped, 'start')
    expect(await domain('domstate', stopped)).toBe('running')
    const jobs = await Promise.all(
      [running, stopped, leaving].map(({ serverId }) =>
        live.api(token, 'DELETE', `/servers/${serverId}?immediately=true`),
      ),
    )
    for (const { body } of jobs) expect((await ended(body.jobId)).state).toBe('succeeded')
    expect(await node.must('virsh', '-c', 'qemu:///system', 'list', '--all', '--name')).toBe('')
    expect(await node.must('find', '/var/lib/berth-agent/pools', '-type', 'f')).toBe('')
    expect(await node.must('ls', '/sys/class/net')).not.toContain('bth')
    expect(await node.must('nft', 'list', 'table', 'bridge', 'berth')).not.toContain('jump bth')
  }, 120_000)
})
