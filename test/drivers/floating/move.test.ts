// A floating address moves between two nodes in network namespaces of their own while a router pings it. Both guests
// hold it all the time, as they may: the rules of the nodes decide which one answers.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { run } from '../../../agent/host/exec.ts'
import type { CommandName, Input } from '../../../agent/protocol/wire.ts'
import { macOf, portRulesOf, workloadId } from '../../agent/examples.ts'
import { temporary } from '../../agent/temporary.ts'
import { NodeProcess, Spaces } from '../../support/nodes/nodes.ts'
import { missing, note } from '../tools.ts'

const reason =
  (await missing('nft', 'ip')) ?? (Bun.which('ping') ? (process.getuid?.() === 0 ? undefined : 'not root') : 'no ping')
const IPV4 = '198.51.100.7'
const IPV6 = '2001:db8:f::7'
const PAUSE_SECONDS = 0.02
const PINGS = 150

describe.skipIf(note(reason, 'a floating address between nodes'))('a floating address that moves', () => {
  const spaces = new Spaces(`bf${process.pid}`)
  const { ns } = spaces
  const ip = (...args: string[]) => run('ip', args)
  const nodes = new Map<string, NodeProcess>()

  beforeAll(async () => {
    await spaces.add('router', 'switch', 'a', 'b', 'ga', 'gb')
    await spaces.wire(['router', 'r0'], ['switch', 'p0'])
    await ip('-n', ns('router'), 'address', 'add', '10.77.0.1/24', 'dev', 'r0')
    await ip('-n', ns('router'), 'address', 'add', '2001:db8:77::1/48', 'dev', 'r0', 'nodad')
    await ip('-n', ns('router'), 'route', 'add', IPV4, 'dev', 'r0')
    await ip('-n', ns('router'), 'route', 'add', IPV6, 'dev', 'r0')
    for (const [index, node] of ['a', 'b'].entries()) {
      const [n, guest] = [index + 1, `g${node}`]
      await spaces.wire([node, 'up0'], ['switch', `p${n}`])
      await spaces.wire([node, `bth${n}`], [guest, 'eth0'])
      await ip('-n', ns(guest), 'link', 'set', 'eth0', 'address', macOf(n))
      for (const address of [`10.77.0.${10 + n}/24`, `${IPV4}/32`])
        await ip('-n', ns(guest), 'address', 'add', address, 'dev', 'eth0')
      for (const address of [`2001:db8:77:${n}::1/48`, `${IPV6}/128`])
        await ip('-n', ns(guest), 'address', 'add', address, 'dev', 'eth0', 'nodad')
      await spaces.bridge(node, ['up0', `bth${n}`])
      nodes.set(node, new NodeProcess(spaces.inside(node), temporary(`floating-${node}`)))
      await obey(node, 'firewall.allow', portRulesOf(n))
    }
    await spaces.bridge('switch', ['p0', 'p1', 'p2'])
  }, 60_000)
  afterAll(async () => {
    for (const node of nodes.values()) await node.end()
    await spaces.remove()
  })

  const obey = <N extends CommandName>(node: string, name: N, input: Input<N>) => nodes.get(node)!.obey(name, input)
  const float = (node: 'a' | 'b', on: boolean) => {
    const input: Input<'firewall.float'> = { workload: workloadId(node === 'a' ? 1 : 2), addresses: [IPV4, IPV6], on }
    return obey(node, 'firewall.float', input)
  }
  const answering = async (version: 4 | 6) => {
    const { out } = await ip('-n', ns('router'), '-json', 'neighbour', 'show', version === 4 ? IPV4 : IPV6)
    const mac = (JSON.parse(out) as { lladdr?: string }[])[0]?.lladdr
    return mac === macOf(1) ? 'a' : mac === macOf(2) ? 'b' : undefined
  }
  const pinging = (version: 4 | 6, count = PINGS) => {
    const child = Bun.spawn(
      [
        'ip',
        'netns',
        'exec',
        ns('router'),
        'ping',
        `-${version}`,
        '-n',
        '-i',
        `${PAUSE_SECONDS}`,
        '-c',
        `${count}`,
      ].concat(version === 4 ? IPV4 : IPV6),
      { stdout: 'pipe', stderr: 'ignore' },
    )
    return new Response(child.stdout).text()
  }
  const received = (out: string) => Number(/(\d+) received/.exec(out)?.[1])

  test('answers at one node and then at the other, within two seconds and never at both', async () => {
    await float('a', true)
    const pings = [pinging(4), pinging(6)]
    await Bun.sleep((PINGS * PAUSE_SECONDS * 1000) / 4)
    expect([await answering(4), await answering(6)]).toEqual(['a', 'a'])
    const began = performance.now()
    await float('a', false)
    await float('b', true)
    const tookMs = Math.round(performance.now() - began)
    const outs = await Promise.all(pings)
    expect([await answering(4), await answering(6)]).toEqual(['b', 'b'])
    const lost = outs.map((out) => PINGS - received(out))
    console.log(
      `moved in ${tookMs} ms; of ${PINGS} pings ${PAUSE_SECONDS * 1000} ms apart ${lost[0]} were lost by IPv4, ` +
        `${lost[1]} by IPv6`,
    )
    for (const n of lost) expect(n * PAUSE_SECONDS).toBeLessThan(2)
    for (const out of outs) expect(out).not.toContain('DUP')
  }, 60_000)
  test('answers nowhere when no node allows it', async () => {
    await float('b', false)
    for (const version of [4, 6] as const) {
      await ip('-n', ns('router'), 'neighbour', 'flush', 'dev', 'r0')
      expect(received(await pinging(version, 20))).toBe(0)
    }
  }, 60_000)
})
