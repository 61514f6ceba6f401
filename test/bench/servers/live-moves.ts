// Live moves of one guest between two nodes in namespaces, in turns: by the agents, and by `virsh migrate` alone over
// SSH's own forwarding of the same three sockets with the same cipher. A router pings the guest each 10 ms. As root,
// with libvirt.
//
//   BERTH_GUEST_IMAGE=guest.qcow2 bun test/bench/servers/live-moves.ts [--rounds 5] [--mib 512]
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { imageSource, macOf, portRulesOf, seedOf, vmOf, volumeOf, workloadId } from '../../agent/examples.ts'
import { guestImage, must, newKey, run, sshOptions } from '../../support/guest.ts'
import { beginCounting, counterIn, gapsIn, pinging, takeCounter } from '../../support/nodes/counting.ts'
import { addresses, type NodeName, type TransferNode, transferLab } from '../../support/nodes/transfer-lab.ts'
import { closeOpened } from '../../support/opened.ts'
import { flags, goal, median, round, say, table } from '../words.ts'

const { rounds, mib, memory, vcpus } = flags('Live moves beside virsh migrate over SSH, in turns.', {
  ...{ rounds: 5, mib: 512, memory: 128, vcpus: 1 },
})
const N = 1
const MIB = 2 ** 20
const DISK_BYTES = 512 * MIB
const LIMIT_MS = 240_000
const ways = ['ours', 'bare'] as const
type Way = (typeof ways)[number]
type Round = { silenceMs: number; toldMs: number | undefined; copyMs: number; wholeMs: number; isWhole: boolean }

const lab = await transferLab(guestImage)
const { spaces } = lab
const nodes: Record<NodeName, TransferNode> = { a: lab.a, b: lab.b }
const key = await newKey()
const id = workloadId(N)
const data = volumeOf(N + 1, 'raw')
const disks = [{ volume: volumeOf(N), sizeBytes: DISK_BYTES }, ...(mib ? [{ volume: data, sizeBytes: mib * MIB }] : [])]
const vm = vmOf(N, { memoryMb: memory, vcpus })

const virsh = (node: NodeName, ...args: string[]) => nodes[node].run('virsh', '-c', 'qemu:///system', ...args)
const inGuest = (command: string, file = '/dev/null') => {
  const ssh = ['ssh', ...sshOptions, '-i', key.path, '-o', 'BatchMode=yes', 'root@10.77.0.11', command]
  return run(['sh', '-c', '"$@" <"$0"', file, ...spaces.inside('router'), ...ssh])
}
async function until(what: string, is: () => Promise<boolean>) {
  for (const end = performance.now() + LIMIT_MS; !(await is()); await Bun.sleep(100))
    if (performance.now() > end) throw new Error(`not within ${LIMIT_MS / 1000} s: ${what}`)
}

async function give(node: NodeName) {
  const seed = seedOf(N)
  seed.userData = { hostname: 'web1', disable_root: false, ssh_authorized_keys: [key.publicKey] }
  const eth0 = { match: { macaddress: macOf(N) }, 'set-name': 'eth0', addresses: ['10.77.0.11/24'] }
  seed.networkConfig = { version: 2, ethernets: { eth0 } }
  await nodes[node].agent.obey('seed.write', seed)
  await nodes[node].agent.obey('firewall.allow', { ...portRulesOf(N), ipv6: [] })
}
const attach = (node: NodeName) =>
  mib ? nodes[node].agent.obey('volume.attach', { workload: id, volume: data }) : undefined

async function install() {
  await spaces.add('router', 'switch')
  await spaces.wire(['router', 'r0'], ['switch', 'p0'])
  await spaces.ip('router', 'address', 'add', '10.77.0.1/24', 'dev', 'r0')
  for (const [n, name] of (['a', 'b'] as const).entries()) {
    await spaces.wire([name, 'up0'], ['switch', `p${n + 1}`])
    await spaces.ip(name, 'link', 'set', 'up0', 'master', 'br0')
  }
  await spaces.bridge('switch', ['p0', 'p1', 'p2'])
  const { agent } = nodes.a
  const checksum = `sha256:${createHash('sha256').update(readFileSync(guestImage)).digest('hex')}`
  await agent.obey('image.ensure', { ...imageSource, url: 'http://127.0.0.1:8000/guest.qcow2', checksum })
  await agent.obey('volume.create', { volume: volumeOf(N), image: imageSource.id, sizeBytes: DISK_BYTES })
  if (mib) {
    const content = Buffer.alloc(mib * MIB)
    for (let at = 0; at < content.length; at += 65_536) crypto.getRandomValues(content.subarray(at, at + 65_536))
    nodes.a.writeDisk(data, content)
  }
  await give('a')
  await attach('a')
  await agent.obey('vm.define', vm)
  await agent.obey('vm.start', { workload: id })
  await until('SSH to the guest', async () => (await inGuest('true')).code === 0)
  await inGuest(takeCounter, await counterIn(lab.a.dir))
  await inGuest(beginCounting)
}

/** An operator's own key, which may forward everything. */
const operator = join(lab.a.dir, 'operator')
async function allowOperator() {
  await must('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', operator)
  for (const { dir } of Object.values(nodes))
    writeFileSync(join(dir, 'libvirt/root-ssh/authorized_keys'), await Bun.file(`${operator}.pub`).text())
}

/** When the disks were the same on both nodes, by the events of the source. */
function watch(node: NodeName) {
  const command = ['virsh', '-c', 'qemu:///system', 'event', '--domain', id, '--all', '--loop']
  const child = Bun.spawn([...nodes[node].inside, ...command], { stdout: 'pipe', stderr: 'ignore' })
  const seen: { text: string; at: number }[] = []
  void (async () => {
    for await (const bytes of child.stdout)
      for (const text of new TextDecoder().decode(bytes).split('\n'))
        if (text) seen.push({ text, at: performance.now() })
  })()
  return {
    seen,
    async stop() {
      child.kill()
      await child.exited
    },
  }
}

/** When the first bytes of the disks went over the cable. */
async function firstBytes(node: NodeName): Promise<number> {
  const sentBytes = async () => {
    const { out } = await run([...spaces.inside(node), 'cat', '/proc/net/dev'])
    return Number(/m0:\s*(?:\d+\s+){8}(\d+)/.exec(out)?.[1] ?? 0)
  }
  const before = await sentBytes()
  while ((await sentBytes()) < before + 2 * MIB) await Bun.sleep(20)
  return performance.now()
}

async function moved(way: Way, from: NodeName, n: number): Promise<Round> {
  const to = from === 'a' ? 'b' : 'a'
  const [source, target] = [nodes[from].agent, nodes[to].agent]
  const ids = { transfer: `trf_${String(n).padStart(26, '0')}`, workload: id }
  const { publicKey } = await source.obey('transfer.key', ids)
  const listening = await target.obey('transfer.receive', {
    ...{ ...ids, from: [addresses[from]], publicKey, by: 'migration', expiresAt: Date.now() + 3_600_000, disks },
  })
  await give(to)
  await attach(to)
  await target.obey('vm.define', vm)
  const events = watch(from)
  const ping = pinging(spaces.inside('router'), '10.77.0.11')
  await Bun.sleep(1000)
  const began = performance.now()
  const copyBegan = firstBytes(from)
  let toldMs: number | undefined
  if (way === 'ours') {
    const input = {
      ...ids,
      to: { address: addresses[to], ...listening },
      disks: disks.map(({ volume }) => volume),
      maxMbps: null,
    }
    await source.obey('transfer.begin-migration', input)
    if (process.env['BENCH_TALKS']) for (const line of await spent()) say(`      ${line}`)
    const { stoppedAt } = await source.obey('transfer.migrate', input)
    const { resumedAt } = await target.obey('transfer.resume', ids)
    toldMs = resumedAt! - stoppedAt
  } else await bare(from, to, n)
  const wholeMs = performance.now() - began
  await Bun.sleep(1500)
  const { silenceMs } = await ping.stop()
  await events.stop()
  const ready = events.seen.filter(({ text }) => / ready$/.test(text)).at(-1)
  if (process.env['BENCH_TALKS']) for (const { text, at } of events.seen) say(`    ${Math.round(at - began)} ${text}`)
  const answers = await Promise.race([inGuest('cat /root/counter'), Bun.sleep(20_000)])
  const isWhole = answers ? answers.code === 0 && gapsIn(answers.out).gap === undefined : false
  await source.obey('transfer.end', ids)
  await target.obey('transfer.end', ids)
  await source.obey('vm.remove', { workload: id })
  for (const { volume } of disks) await source.obey('volume.remove', volume)
  await source.obey('firewall.forget', { workload: id })
  return { silenceMs, toldMs, copyMs: (ready?.at ?? began) - (await copyBegan), wholeMs, isWhole }
}

const milliseconds = (nanoseconds: string) => `${Math.round(Number(nanoseconds) / 1e6)} ms`
/** Processor time and time waited for it, of what runs on both nodes. */
async function spent(): Promise<string[]> {
  const each = 'for p in /proc/[0-9]*; do read -r c <$p/comm && read -r r w n <$p/schedstat && echo $c $r $w $n; done'
  const lines: string[] = []
  for (const name of ['a', 'b'] as const)
    for (const line of (await nodes[name].run('sh', '-c', each)).out.trim().split('\n')) {
      const [comm, ran, waited, times] = line.split(' ') as [string, string, string, string]
      if (Number(ran) > 1e8)
        lines.push(`${name} ${comm} ran ${milliseconds(ran)}, waited ${milliseconds(waited)}, ${times} times`)
    }
  return lines
}

async function bare(from: NodeName, to: NodeName, n: number) {
  const options = [
    '-F',
    'none',
    '-o',
    'StrictHostKeyChecking=no',
    '-o',
    'UserKnownHostsFile=/dev/null',
    '-o',
    'LogLevel=ERROR',
  ]
  const socket = (word: string) => `/run/libvirt/qemu/bare-${n}-${word}.sock`
  const forwards = [
    ...['-L', `${socket('libvirt')}:/run/libvirt/libvirt-sock`],
    ...['mig', 'nbd'].flatMap((word) => ['-L', `${socket(word)}:${socket(word)}`]),
  ]
  const ssh = [
    'ssh',
    ...options,
    '-c',
    'aes128-gcm@openssh.com',
    '-i',
    operator,
    '-N',
    ...forwards,
    `root@${addresses[to]}`,
  ]
  const child = Bun.spawn([...nodes[from].inside, ...ssh], { stdin: 'ignore', stdout: 'ignore', stderr: 'inherit' })
  try {
    await until('the forwarding', async () => (await nodes[from].run('test', '-S', socket('nbd'))).code === 0)
    const targets = (await virsh(from, 'domblklist', id)).out.match(/^ *\w+ +\/.*\/pools\/.*-0\.(?:qcow2|raw)$/gm)!
    const names = targets.map((line) => line.trim().split(/\s+/)[0]).join(',')
    // The files of the nodes lie in directories of their own.
    const definitions: string[] = []
    for (const [option, ...more] of [
      ['--xml', '--migratable'],
      ['--persistent-xml', '--inactive'],
    ]) {
      const file = join(nodes[from].dir, `bare${option}.xml`)
      const { out } = await virsh(from, 'dumpxml', ...more, id)
      writeFileSync(file, out.replaceAll(nodes[from].dir, nodes[to].dir))
      definitions.push(option!, file)
    }
    const { code, err } = await virsh(
      from,
      ...['migrate', '--live', '--persistent', '--undefinesource', '--copy-storage-all', '--migrate-disks', names],
      ...['--migrateuri', `unix://${socket('mig')}`, '--disks-uri', `unix://${socket('nbd')}`],
      ...[...definitions, id, `qemu+unix:///system?socket=${socket('libvirt')}`],
    )
    if (process.env['BENCH_TALKS']) for (const line of await spent()) say(`      ${line}`)
    if (code !== 0) throw new Error(err)
  } finally {
    child.kill('SIGKILL')
    await child.exited
  }
}

const results: Record<Way, Round[]> = { ours: [], bare: [] }
try {
  await install()
  await allowOperator()
  let home: NodeName = 'a'
  for (let n = 1; n <= rounds * 2; n++) {
    // Each way goes in both directions, and begins as often as the other.
    const way = ways[((n + 1) >> 1) % 2 === n % 2 ? 0 : 1]!
    const result = await moved(way, home, n)
    results[way].push(result)
    home = home === 'a' ? 'b' : 'a'
    const { silenceMs, toldMs, copyMs, wholeMs, isWhole } = result
    const end = isWhole ? '' : ', BROKEN'
    const told = toldMs === undefined ? '' : `, told ${toldMs} ms`
    say(`${n}. ${way}: silence ${silenceMs} ms${told}, copy ${round(copyMs)} ms, whole ${round(wholeMs)} ms${end}`)
    if (!isWhole) break
  }
} finally {
  key.remove()
  await lab.end()
  closeOpened()
}
const of = (way: Way, which: (one: Round) => number) => round(median(results[way].map(which)))
const rate = (way: Way) => round(((mib + 60) * 1000) / of(way, ({ copyMs }) => copyMs))
table(
  ['', 'moves', 'silence of pings, ms', 'told, ms', 'copy, ms', 'MiB/s', 'whole move, ms'],
  ways.map((way) => [
    ...[way, results[way].length, of(way, ({ silenceMs }) => silenceMs)],
    way === 'ours' ? of(way, ({ toldMs }) => toldMs!) : '',
    ...[of(way, ({ copyMs }) => copyMs), rate(way), of(way, ({ wholeMs }) => wholeMs)],
  ]),
)
const apart = results.ours.map(({ silenceMs, toldMs }) => silenceMs - toldMs!)
say(`seen less told, ms: ${apart.map((one) => round(one)).join(' ')}`)
const [ours, bareMs] = [of('ours', ({ silenceMs }) => silenceMs), of('bare', ({ silenceMs }) => silenceMs)]
say(goal(ours <= bareMs + 300, `ours ${ours} ms, bare ${bareMs} ms and 300:`))
const ratio = of('bare', ({ copyMs }) => copyMs) / of('ours', ({ copyMs }) => copyMs)
say(goal(ratio >= 0.95, `throughput ${round(ratio, 2)} of the bare tool, at least 0.95:`))
process.exit()
