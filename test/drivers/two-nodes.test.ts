// Two nodes, each with a libvirt and a real guest of its own: a firewall and a private network between the guests, and
// a floating address that moves from one to the other while a router pings it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FirewallRule, PortPolicy } from '../../agent/protocol/firewall.ts'
import type { PrivateNetwork } from '../../agent/protocol/wire.ts'
import { imageSource, macOf, portRulesOf, seedOf, vmOf, volumeOf, workloadId } from '../agent/examples.ts'
import { temporary } from '../agent/temporary.ts'
import { guestImage, newKey, run, sshOptions } from '../support/guest.ts'
import { NodeProcess, Spaces, withLibvirt } from '../support/nodes/nodes.ts'
import { missing, note } from './tools.ts'

const programs = ['libvirtd', 'virtlogd', 'tini', 'unshare', 'nsenter', 'ssh', 'ping']
const absent = programs.filter((program) => !Bun.which(program, { PATH: `${process.env['PATH']}:/usr/sbin:/sbin` }))
const reason =
  (process.getuid?.() === 0 ? undefined : 'not root') ??
  (absent.length ? `no ${absent.join(', ')}` : undefined) ??
  (await missing('qemu-img', 'qemu-system-x86_64', 'xorriso', 'nft', 'ip', 'bridge')) ??
  (existsSync(guestImage) ? undefined : `no guest image at ${guestImage}`)

const FLOATING = '198.51.100.7'
/** Guests that are emulated on a busy machine boot in minutes, and in seconds otherwise. */
const LIMIT_MS = 240_000
const PAUSE_SECONDS = 0.05
const names = ['a', 'b'] as const
type Name = (typeof names)[number]
const numberOf = { a: 1, b: 2 } as const
const publicOf = (name: Name) => `10.77.0.${10 + numberOf[name]}`
const privateOf = (name: Name) => `10.20.0.${10 + numberOf[name]}`
const managementOf = (name: Name) => `172.31.0.${numberOf[name]}`

describe.skipIf(note(reason, 'real guests on two nodes'))('real guests on two nodes', () => {
  const spaces = new Spaces(`bt${process.pid}`)
  const nodes = new Map<Name, NodeProcess>()
  const node = (name: Name) => nodes.get(name)!
  let key: Awaited<ReturnType<typeof newKey>>

  /** Runs a command in the guest, from the router. */
  const inGuest = (name: Name, command: string) =>
    run([
      ...spaces.inside('router'),
      ...['ssh', ...sshOptions, '-i', key.path, '-o', 'BatchMode=yes', `root@${publicOf(name)}`, command],
    ])
  const reaches = async (name: Name, address: string) => (await inGuest(name, `ping -c 1 -W 1 ${address}`)).code === 0
  /** Polls, because a busy machine is slow and not wrong. */
  const until = async (what: string, is: () => Promise<boolean>) => {
    const end = performance.now() + LIMIT_MS
    while (!(await is())) {
      if (performance.now() > end) throw new Error(`not within four minutes: ${what}`)
      await Bun.sleep(100)
    }
  }

  beforeAll(async () => {
    key = await newKey()
    await spaces.add('router', 'switch', ...names)
    await spaces.wire(['router', 'r0'], ['switch', 'p0'])
    await spaces.ip('router', 'address', 'add', '10.77.0.1/24', 'dev', 'r0')
    await spaces.ip('router', 'route', 'add', FLOATING, 'dev', 'r0')
    for (const name of names) {
      await spaces.wire([name, 'up0'], ['switch', `p${numberOf[name]}`])
      await spaces.bridge(name, ['up0'])
    }
    await spaces.bridge('switch', ['p0', 'p1', 'p2'])
    await spaces.wire(['a', 'm0'], ['b', 'm0'])
    for (const name of names) await spaces.ip(name, 'address', 'add', `${managementOf(name)}/24`, 'dev', 'm0')
    const checksum = `sha256:${createHash('sha256').update(readFileSync(guestImage)).digest('hex')}`
    await Promise.all(
      names.map(async (name) => {
        const dir = temporary(`node-${name}`)
        const nodeProcess = new NodeProcess(
          withLibvirt(spaces, name, join(dir, 'libvirt')),
          join(dir, 'data'),
          guestImage,
        )
        nodes.set(name, nodeProcess)
        const n = numberOf[name]
        const seed = seedOf(n)
        seed.userData = { hostname: `web${n}`, disable_root: false, ssh_authorized_keys: [key.publicKey] }
        const eth0 = { match: { macaddress: macOf(n) }, 'set-name': 'eth0' }
        const addresses = [`${publicOf(name)}/24`, `${FLOATING}/32`]
        seed.networkConfig = { version: 2, ethernets: { eth0: { ...eth0, addresses } } }
        await nodeProcess.obey('image.ensure', { ...imageSource, url: 'http://127.0.0.1:8000/guest.qcow2', checksum })
        await nodeProcess.obey('volume.create', {
          volume: volumeOf(n),
          image: imageSource.id,
          sizeBytes: 512 * 2 ** 20,
        })
        await nodeProcess.obey('seed.write', seed)
        await nodeProcess.obey('firewall.allow', { ...portRulesOf(n), ipv6: [] })
        await nodeProcess.obey('vm.define', vmOf(n, { memoryMb: 128 }))
        await nodeProcess.obey('vm.start', { workload: workloadId(n) })
      }),
    )
    await Promise.all(
      names.map((name) => until(`SSH to ${name}`, async () => (await inGuest(name, 'true')).code === 0)),
    )
  }, 300_000)
  afterAll(async () => {
    key?.remove()
    for (const nodeProcess of nodes.values()) await nodeProcess.end()
    await spaces.remove()
  }, 60_000)

  test('a firewall keeps the other guest out, lets in whom it names, and answers come back', async () => {
    const rule: FirewallRule = {
      id: 'rule_ssh',
      direction: 'in',
      action: 'accept',
      protocol: 'tcp',
      ports: [[22, 22]],
      remotes: ['10.77.0.1/32'],
    }
    const policy = (revision: number, firewall: PortPolicy['firewall']): PortPolicy => ({
      revision,
      closedPorts: [25],
      newConnectionsPerSecond: 500,
      packetsPerSecond: null,
      firewall,
    })
    const set = (portPolicy: PortPolicy) =>
      node('b').obey('firewall.set-policy', { workload: workloadId(2), policy: portPolicy })
    expect(await reaches('a', publicOf('b'))).toBe(true)
    await set(policy(1, { in: 'drop', out: 'accept', rules: [rule] }))
    expect(await reaches('a', publicOf('b'))).toBe(false)
    // Its own pings are answered, and the router still gets in by SSH.
    expect(await reaches('b', publicOf('a'))).toBe(true)
    const { drops } = await node('b').obey('firewall.look', { workload: workloadId(2) })
    expect(drops).toMatchObject([{ direction: 'in', remote: publicOf('a'), protocol: 1 }])
    await set(policy(2, null))
    expect(await reaches('a', publicOf('b'))).toBe(true)
  }, 300_000)

  test('a private network joins them across the nodes, and nobody else', async () => {
    const port = (name: Name) => ({
      workload: workloadId(numberOf[name]),
      tap: `btp${numberOf[name]}`,
      mac: `52:54:01:00:00:0${numberOf[name]}`,
      addresses: [`${privateOf(name)}/24`],
    })
    const specOf = (name: Name, far: Name): PrivateNetwork => ({
      network: `net_${'0'.repeat(26)}`,
      vni: 7001,
      local: managementOf(name),
      peers: [{ address: managementOf(far), macs: [port(far).mac] }],
      ports: [port(name)],
    })
    // A guest that has not seen its card yet is told its address at the next turn, which an agent takes every 20 s.
    await until('a ping over the private network', async () => {
      await node('a').obey('network.set', specOf('a', 'b'))
      await node('b').obey('network.set', specOf('b', 'a'))
      return reaches('a', privateOf('b'))
    })
    expect(await reaches('b', privateOf('a'))).toBe(true)
    // The router is on the public side alone.
    await spaces.ip('router', 'route', 'replace', '10.20.0.0/24', 'dev', 'r0')
    expect((await run([...spaces.inside('router'), 'ping', '-c', '1', '-W', '1', privateOf('b')])).code).not.toBe(0)
    await node('b').obey('network.remove', { network: specOf('b', 'a').network })
    await until('the end of the private network', async () => !(await reaches('a', privateOf('b'))))
  }, 300_000)

  test('a floating address moves to the other guest while it is pinged, in less than two seconds', async () => {
    const float = (name: Name, on: boolean) =>
      node(name).obey('firewall.float', { workload: workloadId(numberOf[name]), addresses: [FLOATING], on })
    const whoAnswers = async () => {
      const command = ['ssh', ...sshOptions, '-i', key.path, '-o', 'BatchMode=yes', `root@${FLOATING}`, 'hostname']
      return (await run([...spaces.inside('router'), ...command])).out
    }
    await float('a', true)
    await until('the address at a', async () => (await whoAnswers()) === 'web1')
    const ping = Bun.spawn([...spaces.inside('router'), 'ping', '-n', '-i', `${PAUSE_SECONDS}`, FLOATING], {
      stdout: 'pipe',
      stderr: 'ignore',
    })
    await Bun.sleep(500)
    const began = performance.now()
    await float('a', false)
    await float('b', true)
    const tookMs = Math.round(performance.now() - began)
    await until('the address at b', async () => (await whoAnswers()) === 'web2')
    ping.kill('SIGINT')
    const out = await new Response(ping.stdout).text()
    const [, sent, received] = /(\d+) packets transmitted, (\d+) received/.exec(out) ?? []
    const lost = Number(sent) - Number(received)
    process.stderr.write(
      `  moved in ${tookMs} ms; of ${sent} pings ${PAUSE_SECONDS * 1000} ms apart ${lost} were lost\n`,
    )
    expect(lost * PAUSE_SECONDS).toBeLessThan(2)
    expect(out).not.toContain('DUP')
  }, 300_000)
})
