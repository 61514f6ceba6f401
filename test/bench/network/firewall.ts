// The change of one server's firewall until it is in force on a node with many guests, each with a firewall of its own,
// beside nft replacing one rule in a table with nothing else. As root; in a network of its own.
//
//   bun test/bench/network/firewall.ts [--guests 500] [--changes 50]

import { readFileSync } from 'node:fs'
import { Nftables } from '../../../agent/drivers/firewall/nftables.ts'
import { run } from '../../../agent/host/exec.ts'
import type { PortPolicy } from '../../../agent/protocol/firewall.ts'
import type { PortRules } from '../../../agent/protocol/wire.ts'
import { workloadId } from '../../agent/examples.ts'
import { enterOwnNetwork } from '../../drivers/namespace.ts'
import { flags, median, percentile, round, say, table } from '../words.ts'

const { guests, changes } = flags('The change of one firewall on a node with many guests.', {
  guests: 500,
  changes: 50,
})
/** The limit for one change. */
const GOAL_MS = 100

const leave = enterOwnNetwork()
if (!leave) throw new Error('this bench needs root: it loads rules in a network of its own')

const policy = (revision: number): PortPolicy => ({
  revision,
  closedPorts: [25],
  newConnectionsPerSecond: 500,
  packetsPerSecond: 200_000,
  firewall: {
    in: 'drop',
    out: 'accept',
    rules: [22, 80, 443, 1000 + revision].map((port) => ({
      id: `rule_${port}`,
      direction: 'in',
      action: 'accept',
      protocol: 'tcp',
      ports: [[port, port]],
      remotes: [],
    })),
  },
})
const two = (n: number) => n.toString(16).padStart(2, '0')
const portOf = (n: number, revision: number): PortRules => ({
  workload: workloadId(n),
  tap: `bth${n}`,
  mac: `52:54:00:00:${two(n >> 8)}:${two(n & 255)}`,
  ipv4: [`10.77.${n >> 8}.${n & 255}`],
  ipv6: [`2001:db8:${n.toString(16)}::/64`],
  policy: policy(revision),
})

const timed = async (work: () => Promise<unknown>) => {
  const began = performance.now()
  await work()
  return performance.now() - began
}

const firewall = new Nftables()
const ports = Array.from({ length: guests }, (_, i) => portOf(i + 1, 0))
const loading = await timed(() => firewall.load(ports))
await run('nft', ['-f', '-'], { stdin: 'table bridge bare {\n chain c {\n counter\n }\n}\n', quietly: true })

/** Milliseconds of processor that the programs took which this one waited for. */
const childrenMs = () => {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[13]) + Number(fields[14])) * 10
}
const processor = { ours: 0, bare: 0 }
const counted = async (what: keyof typeof processor, work: () => Promise<unknown>) => {
  const before = childrenMs()
  const tookMs = await timed(work)
  processor[what] += childrenMs() - before
  return tookMs
}
const ours: number[] = []
const bare: number[] = []
for (let i = 0; i < changes; i++) {
  const n = 1 + ((i * 7919) % guests)
  const [old, next] = [ports[n - 1]!, portOf(n, i + 1)]
  ours.push(await counted('ours', () => firewall.change(old, next)))
  ports[n - 1] = next
  const rule = `flush chain bridge bare c\nadd rule bridge bare c tcp dport ${i + 1} counter accept\n`
  bare.push(await counted('bare', () => run('nft', ['-f', '-'], { stdin: rule, quietly: true })))
}
const checking = await timed(async () => {
  if (!(await firewall.intact(ports))) throw new Error('the rules in force are not those that were loaded')
})

table(
  ['', 'p50 ms', 'p99 ms', 'processor ms'],
  [
    [`one firewall of ${guests}`, round(median(ours)), round(percentile(ours, 99)), round(processor.ours / changes)],
    ['nft, one rule alone', round(median(bare)), round(percentile(bare, 99)), round(processor.bare / changes)],
  ],
)
say(`All of them loaded in ${round(loading)} ms, and checked in ${round(checking)} ms.`)
say(`Goal: ${GOAL_MS} ms. ${median(ours) <= GOAL_MS ? 'Met' : 'Missed'}.`)
leave()
