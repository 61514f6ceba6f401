// Whether what arrives of a guest's memory is what it had: bare QEMU processes that emulate a processor, one beside the
// other, without libvirt and without Berth. After each migration both guests stand still, and their memory is compared
// page by page. Four ways in turns: QEMU's own, through a relay, with the guest stopped before, and as in a live move
// of an emulated guest.
//
//   BERTH_GUEST_IMAGE=guest.qcow2 bun test/bench/servers/memory.ts [--rounds 15] [--busy 2]
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { join as joined, listenAt } from '../../../agent/drivers/migration/relay.ts'
import { type Gate, heldAt } from '../../../agent/drivers/transfer/ssh/sockets.ts'
import { temporary } from '../../agent/temporary.ts'
import { guestImage, must, newKey, run, sshOptions } from '../../support/guest.ts'
import { counterIn } from '../../support/nodes/counting.ts'
import { closeOpened } from '../../support/opened.ts'
import { flags, median, say, table } from '../words.ts'

const { rounds, busy, churn, mib, maxMibps, waitMs } = flags(
  'Compares the memory of an emulated guest before and after its migration. --busy: processes that compute beside it.',
  { rounds: 15, busy: 2, churn: 0, mib: 128, maxMibps: 128, waitMs: 0 },
)
const PAGE_BYTES = 4096
const ways = ['by QEMU alone', 'through a relay', 'stopped before', 'stopped on the way'] as const
const LIMIT_MS = 240_000

const dir = temporary('memory')
const key = await newKey()
const children: Bun.Subprocess[] = []

/** A process of QEMU, as its monitor sees it. */
class Machine {
  private answers: ((answer: any) => void)[] = []
  private constructor(
    private child: Bun.Subprocess,
    private monitor: ReturnType<typeof connect>,
  ) {
    let rest = ''
    monitor.on('error', () => {})
    monitor.on('data', (bytes) => {
      const lines = (rest + bytes.toString()).split('\n')
      rest = lines.pop()!
      for (const line of lines.filter(Boolean)) {
        const said = JSON.parse(line)
        if (!said.event && !said.QMP) this.answers.shift()?.(said)
      }
    })
  }

  static async start(name: string, port: number, ...more: string[]) {
    const monitor = join(dir, `${name}.qmp`)
    rmSync(monitor, { force: true })
    const machine = [
      '-machine',
      'q35',
      '-accel',
      'tcg',
      '-cpu',
      'max',
      '-m',
      String(mib),
      '-nodefaults',
      '-display',
      'none',
    ]
    const disks = [
      ...['-drive', `file=${join(dir, 'disk.qcow2')},if=none,id=d,file.locking=off`, '-device', 'virtio-blk,drive=d'],
      ...['-drive', `file=${join(dir, 'seed.iso')},if=none,id=s,format=raw,readonly=on,file.locking=off`],
      ...['-device', 'virtio-blk,drive=s'],
    ]
    const card = ['-netdev', `user,id=n,hostfwd=tcp:127.0.0.1:${port}-:22`, '-device', 'virtio-net,netdev=n']
    const serial = ['-chardev', `file,id=c,path=${join(dir, `${name}.serial`)}`, '-serial', 'chardev:c']
    const command = [
      'qemu-system-x86_64',
      ...machine,
      ...disks,
      ...card,
      ...serial,
      '-qmp',
      `unix:${monitor},server,wait=off`,
    ]
    const child = Bun.spawn([...command, ...more], { stdin: 'ignore', stdout: 'ignore', stderr: 'inherit' })
    children.push(child)
    for (const until = performance.now() + LIMIT_MS; performance.now() < until; await Bun.sleep(50)) {
      const socket = connect(monitor)
      const isOpen = await new Promise((resolve) =>
        socket.once('connect', () => resolve(true)).once('error', () => resolve(false)),
      )
      if (!isOpen) continue
      const made = new Machine(child, socket)
      await made.ask('qmp_capabilities')
      return made
    }
    throw new Error(`${name} does not start`)
  }

  async ask(execute: string, args: object = {}): Promise<any> {
    const answered = new Promise<any>((resolve) => this.answers.push(resolve))
    this.monitor.write(`${JSON.stringify({ execute, arguments: args })}\n`)
    const { error, return: answer } = await answered
    if (error) throw new Error(`${execute}: ${error.desc}`)
    return answer
  }

  async until(command: string, is: (answer: any) => boolean) {
    for (const until = performance.now() + LIMIT_MS; performance.now() < until; await Bun.sleep(20)) {
      const answer = await this.ask(command)
      if (is(answer)) return answer
    }
    throw new Error(`${command} did not come to its end`)
  }

  async memory(): Promise<Buffer> {
    const path = join(dir, 'memory')
    await this.ask('pmemsave', { val: 0, size: mib * 2 ** 20, filename: path })
    const bytes = readFileSync(path)
    rmSync(path)
    return bytes
  }

  async end() {
    this.monitor.destroy()
    this.child.kill('SIGKILL')
    await this.child.exited
  }
}

async function seed() {
  const files = join(dir, 'seed')
  await must('mkdir', '-p', files)
  writeFileSync(join(files, 'meta-data'), JSON.stringify({ 'instance-id': 'memory-1' }))
  const access = { disable_root: false, ssh_authorized_keys: [key.publicKey] }
  writeFileSync(join(files, 'user-data'), `#cloud-config\n${JSON.stringify(access)}\n`)
  const eth0 = { match: { name: 'e*' }, addresses: ['10.0.2.15/24'], gateway4: '10.0.2.2' }
  writeFileSync(join(files, 'network-config'), JSON.stringify({ version: 2, ethernets: { eth0 } }))
  await must(
    'xorriso',
    '-no_rc',
    '-as',
    'mkisofs',
    '-quiet',
    '-o',
    join(dir, 'seed.iso'),
    '-V',
    'cidata',
    '-J',
    '-r',
    files,
  )
}

const port = 20_000 + (process.pid % 20_000)
const inGuest = (command: string, file = '/dev/null') => {
  const ssh = [
    'ssh',
    ...sshOptions,
    '-p',
    String(port),
    '-i',
    key.path,
    '-o',
    'BatchMode=yes',
    'root@127.0.0.1',
    command,
  ]
  return run(['sh', '-c', '"$@" <"$0"', file, ...ssh])
}
/** Work in the guest: writes to its disk each 10 ms, new processes, and a program that computes. */
async function keepBusy() {
  for (const until = performance.now() + LIMIT_MS; (await inGuest('true')).code !== 0; await Bun.sleep(200))
    if (performance.now() > until) throw new Error('the guest does not answer')
  await inGuest('cat > /root/count; chmod 700 /root/count', await counterIn(dir))
  const detached = (words: string) => `setsid ${words} >/dev/null 2>&1 </dev/null &`
  await inGuest(detached('/root/count'))
  if (churn) await inGuest(detached("sh -c 'while true; do ls -R /usr/lib /proc/sys | sort; done'"))
}

/** Joins an open connection with a socket, as a session of SSH does. */
async function passed(file: number, path: string) {
  const wire = join(import.meta.dir, '../../drivers/migration/wire.ts')
  children.push(Bun.spawn([process.execPath, wire, path], { stdin: file, stdout: file, stderr: 'ignore' }))
}

/** The numbers of pages that differ. */
async function migrated(from: Machine, way: (typeof ways)[number]): Promise<number> {
  const [near, far] = [join(dir, 'near.sock'), join(dir, 'far.sock')]
  for (const path of [near, far]) rmSync(path, { force: true })
  const to = await Machine.start('target', port + 1, '-S', '-incoming', `unix:${far}`)
  const relay =
    way === 'through a relay'
      ? await listenAt(near, (stream) => void joined(stream, connect({ path: far, allowHalfOpen: true })))
      : undefined
  let held: Gate | undefined
  try {
    await from.ask('migrate-set-parameters', { 'max-bandwidth': maxMibps * 2 ** 20, 'downtime-limit': 100 })
    if (way === 'stopped before') await from.ask('stop')
    held = way === 'stopped on the way' ? heldAt(near, 0, (file) => passed(file, far)) : undefined
    await from.ask('migrate', { uri: `unix:${relay || held ? near : far}` })
    if (held) {
      // As in a live move: its memory waits while it runs on.
      await Bun.sleep(2000)
      await from.ask('stop')
      held.open()
    }
    const { status, ram } = await from.until('query-migrate', (answer) => /completed|failed/.test(answer.status ?? ''))
    if (status !== 'completed') throw new Error('the migration failed')
    await to.until('query-status', ({ status: is }) => is !== 'inmigrate')
    const [before, after] = [await from.memory(), await to.memory()]
    say(`   ${ram['dirty-sync-count']} passes, ${Math.round(ram.transferred / 2 ** 20)} MiB`)
    let differing = 0
    for (let at = 0; at < before.length; at += PAGE_BYTES)
      if (before.compare(after, at, at + PAGE_BYTES, at, at + PAGE_BYTES) !== 0) differing++
    return differing
  } finally {
    relay?.close()
    held?.stop()
    await to.end()
  }
}

const lost = new Map(ways.map((way) => [way, [] as number[]]))
try {
  await seed()
  await must('qemu-img', 'create', '-q', '-f', 'qcow2', '-b', guestImage, '-F', 'qcow2', join(dir, 'disk.qcow2'))
  const guest = await Machine.start('source', port)
  await keepBusy()
  for (let n = 0; n < busy; n++) children.push(Bun.spawn(['nice', 'sh', '-c', 'while :; do :; done']))
  for (let n = 0; n < rounds; n++)
    for (const way of ways) {
      await Bun.sleep(500 + waitMs)
      const pages = await migrated(guest, way)
      lost.get(way)!.push(pages)
      say(`${n + 1}. ${way}: ${pages} pages differ`)
      // It goes on from its own memory, which is whole.
      await guest.ask('cont')
    }
} finally {
  for (const child of children.reverse()) {
    child.kill('SIGKILL')
    await child.exited
  }
  key.remove()
  closeOpened()
}
table(
  ['memory sent', 'migrations', 'with pages that differ', 'such pages, median', 'most'],
  ways.map((way) => {
    const pages = lost.get(way)!
    return [way, pages.length, pages.filter((some) => some > 0).length, median(pages), Math.max(...pages)]
  }),
)
process.exit()
