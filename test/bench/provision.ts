// From an order to a login: through Berth (API, controller, agent, libvirt) and by the same steps done by hand, turn by
// turn.
//
//   bun test/bench/provision.ts [--rounds 5]
//
// Needs root, libvirt, QEMU, nftables, xorriso and a guest image: $TINY_GUEST, else the one that
// guest/build-tiny-guest.sh makes.

import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { domainXml } from '../../agent/drivers/hypervisor/domain-xml.ts'
import { greetsAsSsh } from '../../agent/drivers/network/bridge.ts'
import { seedFiles } from '../../agent/drivers/seed/seed.ts'
import { usualMachine } from '../../agent/protocol/wire.ts'
import { newId } from '../../src/kernel/db/ids.ts'
import { freePort } from '../support/world/program.ts'
import { atEnd, start, tempDir } from './cleanup.ts'
import { program, startController } from './controller.ts'
import { flags, goal, median, round, say, table } from './words.ts'

const { rounds } = flags('Measures a server from the order to an SSH login, against the same steps by hand.', {
  rounds: 5,
})

const VIRSH = ['virsh', '-q', '-c', 'qemu:///system']
const BRIDGE = 'brbench0'
const SUBNET = `10.${100 + (process.pid % 100)}.77`
const DISK_GB = 1
const MEMORY_MB = 128
const BOOT_LIMIT_MS = 180_000
const PROBE_MS = 50
/** The step of the installation that begins when the guest has been started. */
const AFTER_START = 'Waiting until it answers'
const root = new URL('../..', import.meta.url).pathname

/** `startedMs`: until the hypervisor has started it. What comes then is the guest's own boot, the same both ways. */
type Taken = { startedMs: number; bannerMs: number; loginMs: number }
const seconds = (n: number) => `${round(n, 2)} s`

await mustBePossible()
await makeBridge()
const guest = guestImage()
const key = `${tempDir}/key`
await must('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', key)
const publicKey = readFileSync(`${key}.pub`, 'utf8').trim()

say(`Product: ${program.words}\nGuest: ${guest}, ${MEMORY_MB} MB, disk ${DISK_GB} GB`)
const data = `${tempDir}/data`
mkdirSync(`${data}/incoming`, { recursive: true, mode: 0o700 })
copyFileSync(guest, `${data}/incoming/tiny.qcow2`)
const controller = await startController(data, freePort(), { PANEL_AGENT_INSECURE: '1' })
const order = await setUp()

// One of each that does not count: the image comes to the node, and everything into the page cache.
await throughBerth(0)
await byHand(0)
const taken = { berth: [] as Taken[], hand: [] as Taken[] }
for (let i = 1; i <= rounds; i++) {
  taken.berth.push(await throughBerth(i))
  taken.hand.push(await byHand(i))
}
const of = (list: readonly Taken[], what: keyof Taken) => median(list.map((t) => t[what])) / 1000
const pairs = (what: keyof Taken) => taken.berth.map((t, i) => t[what] / taken.hand[i]![what])

const words = {
  startedMs: 'order to a started guest',
  bannerMs: 'order to SSH banner',
  loginMs: 'order to SSH login done',
}
table(
  [`${rounds} each, medians`, 'Berth', 'by hand', 'ratio (min…max of pairs)', 'own overhead', 'goal'],
  (Object.keys(words) as (keyof Taken)[]).map((what) => {
    const ratio = of(taken.berth, what) / of(taken.hand, what)
    const overhead = of(taken.berth, what) - of(taken.hand, what)
    const all = pairs(what)
    // Emulated boots differ by more than Berth takes: its own time is what comes before the guest's.
    const met = what === 'startedMs' ? goal(overhead <= 1, 'overhead 1 s') : goal(ratio <= 1.1, 'ratio 1.10')
    return [
      words[what],
      seconds(of(taken.berth, what)),
      seconds(of(taken.hand, what)),
      `${round(ratio, 2)} (${round(Math.min(...all), 2)}…${round(Math.max(...all), 2)})`,
      seconds(overhead),
      met,
    ]
  }),
)
say(await whereTimeWent())
process.exit(0)

// ---------------------------------------------------------------- the two ways
async function throughBerth(i: number): Promise<Taken> {
  const [began, beganAt] = [performance.now(), Date.now()]
  const { serverId, ipv4, jobId } = await api('POST', '/admin/servers', { ...order.body, hostname: `bench${i}` })
  const took = await untilLogin(ipv4, began)
  order.lastJob = jobId
  await ended(jobId)
  const startedMs = Date.parse((await logOf(jobId)).find(({ text }) => text === AFTER_START)!.at) - beganAt
  tell('through Berth', i, { startedMs, ...took })
  await ended((await api('DELETE', `/servers/${serverId}?immediately=true`)).jobId)
  return { startedMs, ...took }
}

async function byHand(i: number): Promise<Taken> {
  const address = `${SUBNET}.${200 + i}`
  const server = newId('srv')
  const at = `${tempDir}/hand-${i}`
  mkdirSync(at)
  const began = performance.now()
  await must('qemu-img', 'convert', '-f', 'qcow2', '-O', 'qcow2', guest, `${at}/disk.qcow2`)
  await must('qemu-img', 'resize', '-q', '-f', 'qcow2', `${at}/disk.qcow2`, `${DISK_GB}G`)
  const mac = `02:00:00:00:77:${(i + 16).toString(16)}`
  writeSeed(at, address, mac)
  await must(
    'xorriso',
    '-no_rc',
    '-as',
    'mkisofs',
    '-quiet',
    '-o',
    `${at}/seed.iso`,
    '-V',
    'cidata',
    '-J',
    '-r',
    `${at}/files`,
  )
  const disk = { kind: 'file', path: `${at}/disk.qcow2`, format: 'qcow2' } as const
  const volume = { workload: server, generation: 0, pool: 'local', format: 'qcow2' } as const
  // Not a tap of Berth's name: its rules on this host let out only what the controller allowed.
  const network = { bridge: BRIDGE, tap: `hand${i}`, mac }
  writeFileSync(
    `${at}/domain.xml`,
    domainXml(
      {
        workload: server,
        hostname: `hand${i}`,
        vcpus: 1,
        memoryMb: MEMORY_MB,
        volume,
        network,
        speed: { inMbps: null, outMbps: null, cpuPercent: null },
        seeded: true,
        restartPolicy: 'never',
        ...usualMachine,
      },
      disk,
      `${at}/seed.iso`,
      acceleration(),
    ),
  )
  await must(...VIRSH, 'define', `${at}/domain.xml`)
  await must(...VIRSH, 'start', server)
  const startedMs = performance.now() - began
  const took = { startedMs, ...(await untilLogin(address, began)) }
  tell('by hand', i, took)
  await must(...VIRSH, 'destroy', server)
  await must(...VIRSH, 'undefine', server)
  rmSync(at, { recursive: true })
  return took
}

function tell(way: string, i: number, { startedMs, bannerMs, loginMs }: Taken) {
  say(
    `  ${way}: started ${seconds(startedMs / 1000)}, banner ${seconds(bannerMs / 1000)}, login ` +
      `${seconds(loginMs / 1000)}${i ? '' : ' (not counted)'}`,
  )
}

/** The same seed as Berth's, as far as the guest reads it. */
function writeSeed(at: string, address: string, mac: string) {
  mkdirSync(`${at}/files`)
  const parts = seedFiles({
    metaData: { 'instance-id': at, 'local-hostname': 'hand' },
    userData: {
      hostname: 'hand',
      manage_etc_hosts: true,
      disable_root: false,
      ssh_pwauth: false,
      users: [{ name: 'root', lock_passwd: true, ssh_authorized_keys: [publicKey] }],
    },
    networkConfig: {
      version: 2,
      ethernets: {
        eth0: {
          match: { macaddress: mac },
          'set-name': 'eth0',
          addresses: [`${address}/24`],
          gateway4: `${SUBNET}.1`,
          nameservers: { addresses: ['9.9.9.9'] },
        },
      },
    },
  })
  for (const [name, text] of Object.entries(parts)) writeFileSync(`${at}/files/${name}`, text)
}

function acceleration() {
  return existsSync('/dev/kvm') && /\b(vmx|svm)\b/.test(readFileSync('/proc/cpuinfo', 'utf8')) ? 'kvm' : 'emulation'
}

async function untilLogin(address: string, began: number): Promise<Omit<Taken, 'startedMs'>> {
  await untilBanner(address)
  const bannerMs = performance.now() - began
  const options = [
    'StrictHostKeyChecking=no',
    'UserKnownHostsFile=/dev/null',
    'BatchMode=yes',
    'ConnectTimeout=10',
    'LogLevel=ERROR',
  ].flatMap((o) => ['-o', o])
  while ((await start(['ssh', '-i', key, ...options, `root@${address}`, 'true'], { stderr: 'ignore' }).exited) !== 0) {
    if (performance.now() - began > BOOT_LIMIT_MS) throw new Error(`nobody can sign in at ${address}`)
    await Bun.sleep(50)
  }
  return { bannerMs, loginMs: performance.now() - began }
}

/** A call to a guest that is not there yet hangs for a second, so several are under way at once. */
function untilBanner(address: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const probe = setInterval(() => void greetsAsSsh(address).then((ok) => ok && resolve()), PROBE_MS)
  const limit = setTimeout(() => reject(new Error(`${address} did not answer in time`)), BOOT_LIMIT_MS)
  return promise.finally(() => {
    clearInterval(probe)
    clearTimeout(limit)
  })
}

// ---------------------------------------------------------------- Berth around it
async function setUp() {
  const locationId = (await admin('locations.create', { name: 'Lab' })).id
  const { token: enrolment } = await admin('nodes.enroll', { locationId, name: 'bench', bridge: BRIDGE })
  const home = `${tempDir}/agent`
  await must(
    ...program.command,
    'agent',
    'enroll',
    '--controller',
    controller.url,
    '--token',
    enrolment,
    '--bridge',
    BRIDGE,
    '--data-dir',
    home,
  )
  const agent = start([...program.command, 'agent', 'run', '--data-dir', home], {
    stderr: Bun.file(`${tempDir}/agent.log`),
  })
  atEnd(() => removeTraces(agent))
  const node = await until('the node', async () =>
    (await admin('nodes.list')).data.find((n: any) => n.connected && n.load?.pools.length),
  )
  await admin('pools.create', {
    name: 'lab',
    network: `${SUBNET}.0/24`,
    gateway: `${SUBNET}.1`,
    first: `${SUBNET}.10`,
    last: `${SUBNET}.99`,
    nodeIds: [node.id],
  })
  const packageId = (await admin('packages.create', { name: 'Tiny', vcpus: 1, memoryMb: MEMORY_MB, diskGb: DISK_GB }))
    .id
  const imageId = (await admin('images.import', { file: 'tiny.qcow2', name: 'Tiny' })).id
  const ownerId = (await admin('customers.create', { name: 'Cal', email: 'cal@bench.example' })).id
  const sshKeyId = (await admin('ssh-keys.create', { id: ownerId, publicKey })).id
  return {
    lastJob: '',
    body: { ownerId, packageId, nodeGroupId: locationId, imageId, access: { mode: 'ssh_keys', sshKeyIds: [sshKeyId] } },
  }
}

/** The API over the local socket: the same gate, without the minute's limit of a token. */
async function api(method: string, path: string, body?: object): Promise<any> {
  const json = body ? { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) } : {}
  const response = await fetch(`http://localhost/api/v1${path}`, {
    method,
    ...json,
    unix: `${data}/admin.sock`,
  } as unknown as RequestInit)
  const answer: any = await response.json()
  if (!response.ok) throw new Error(`${method} ${path}: ${answer.error.message}`)
  return answer
}

async function admin(operation: string, fields: object = {}): Promise<any> {
  return JSON.parse(await must(...program.command, 'admin', operation, JSON.stringify(fields)))
}

async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  for (const limit = Date.now() + 60_000; Date.now() < limit; await Bun.sleep(100)) {
    const found = await look()
    if (found) return found
  }
  throw new Error(`waited a minute in vain: ${what}; see ${tempDir}/agent.log`)
}

async function ended(jobId: string) {
  const { state, error } = await until(`the end of ${jobId}`, async () => {
    const job = await api('GET', `/jobs/${jobId}`)
    return ['succeeded', 'failed'].includes(job.state) ? job : undefined
  })
  if (state === 'failed') throw new Error(`${jobId} failed: ${error?.message}`)
}

async function logOf(jobId: string): Promise<{ at: string; text: string }[]> {
  return (await api('GET', `/jobs/${jobId}/log`)).lines
}

/** The log of the last installation, each line with the milliseconds since the one before. */
async function whereTimeWent(): Promise<string> {
  const lines = await logOf(order.lastJob)
  let before = Date.parse(lines[0]!.at)
  const shown = lines.map(({ at, text }) => {
    const now = Date.parse(at)
    const line = `  ${String(now - before).padStart(6)} ms  ${text.slice(0, 110)}`
    before = now
    return line
  })
  return ['Log of the last installation, with the milliseconds since the line before:', ...shown].join('\n')
}

// ---------------------------------------------------------------- the host
async function must(...command: string[]): Promise<string> {
  const child = start(command, {
    env: { PANEL_DATA_DIR: `${tempDir}/data`, PANEL_AGENT_INSECURE: '1' },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, error] = await Promise.all([
    new Response(child.stdout as ReadableStream).text(),
    new Response(child.stderr as ReadableStream).text(),
  ])
  if (await child.exited) throw new Error(`${command.slice(0, 4).join(' ')}: ${error.trim()}`)
  return out
}

function works(...command: string[]): boolean {
  return Bun.spawnSync(command, { stdout: 'ignore', stderr: 'ignore' }).exitCode === 0
}

async function mustBePossible() {
  const missing = ['virsh', 'qemu-img', 'xorriso', 'nft', 'ip', 'ssh', 'qemu-system-x86_64'].filter(
    (name) => !Bun.which(name),
  )
  if (missing.length) cannot(`${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not installed`)
  if (process.getuid?.() !== 0) cannot('it needs root')
  await startLibvirt()
  if (works('nft', 'list', 'table', 'bridge', 'berth'))
    cannot('a node runs on this machine already (nft table bridge berth), and two would take each other’s rules away')
}

function cannot(why: string): never {
  console.error(`Cannot measure: ${why}.`)
  process.exit(1)
}

/**
 * Only when none answers. tini, because libvirt waits until its helpers are collected; QEMU as root, because disks lie
 * in /tmp.
 */
async function startLibvirt() {
  if (works(...VIRSH, 'version')) return
  const conf = `${tempDir}/qemu.conf`
  writeFileSync(conf, 'user = "root"\ngroup = "root"\nsecurity_driver = "none"\nremember_owner = 0\n')
  const daemons = [
    start(['tini', '-s', '--', 'virtlogd'], { stderr: 'ignore' }),
    start(
      [
        'unshare',
        '--mount',
        '--propagation',
        'slave',
        'sh',
        '-c',
        'mount --bind "$1" /etc/libvirt/qemu.conf && exec tini -s -- libvirtd',
        'libvirt',
        conf,
      ],
      { stderr: 'ignore' },
    ),
  ]
  atEnd(() => daemons.forEach((daemon) => void daemon.kill('SIGTERM')))
  for (let i = 0; i < 100 && !works(...VIRSH, 'version'); i++) await Bun.sleep(100)
  if (!works(...VIRSH, 'version')) cannot('libvirt does not answer')
}

async function makeBridge() {
  await must('ip', 'link', 'add', BRIDGE, 'type', 'bridge')
  atEnd(() => void works('ip', 'link', 'del', BRIDGE))
  await must('ip', 'address', 'add', `${SUBNET}.1/24`, 'dev', BRIDGE)
  await must('ip', 'link', 'set', BRIDGE, 'up')
}

function guestImage(): string {
  const given = process.env['TINY_GUEST'] ?? process.env['BERTH_GUEST_IMAGE']
  if (given && existsSync(given)) return given
  const image = `${tempDir}/tiny.qcow2`
  say('Building the guest …')
  const built = Bun.spawnSync([`${root}guest/build-tiny-guest.sh`, image], { stdout: 'ignore', stderr: 'pipe' })
  if (built.exitCode !== 0) cannot(`the guest cannot be built: ${built.stderr.toString().trim().split('\n').at(-1)}`)
  return image
}

/** Guests that a broken run leaves behind, told by where their disks lie, and the rules that the agent loaded. */
function removeTraces(agent: Bun.Subprocess) {
  agent.kill('SIGKILL')
  const guests = Bun.spawnSync([...VIRSH, 'list', '--all', '--name'])
    .stdout.toString()
    .split('\n')
    .filter((name) => name.startsWith('srv_'))
  for (const name of guests) {
    if (
      !Bun.spawnSync([...VIRSH, 'dumpxml', name])
        .stdout.toString()
        .includes(`${tempDir}/`)
    )
      continue
    for (const command of ['destroy', 'undefine']) works(...VIRSH, command, name)
  }
  for (const family of ['bridge', 'inet'])
    for (const table of ['berth', 'berth_traffic', 'berth_private']) works('nft', 'delete', 'table', family, table)
}
