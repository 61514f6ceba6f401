// Two nodes with a libvirt each, a router that pings, and guests that write a counter to their disk.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CommandName, Input, Output } from '../../../agent/protocol/wire.ts'
import { imageSource, macOf, portRulesOf, seedOf, vmOf, volumeOf, workloadId } from '../../agent/examples.ts'
import { temporary } from '../../agent/temporary.ts'
import { guestImage, must, newKey, run, sshOptions } from '../../support/guest.ts'
import { beginCounting, counterIn, gapsIn, pinging, takeCounter } from '../../support/nodes/counting.ts'
import { Spaces, withLibvirt } from '../../support/nodes/nodes.ts'
import { missing, note } from '../tools.ts'

export const names = ['a', 'b'] as const
export type Name = (typeof names)[number]
export const other = (name: Name): Name => (name === 'a' ? 'b' : 'a')
export const DISK_BYTES = 512 * 2 ** 20
const LIMIT_MS = 240_000
const managementOf = { a: '172.31.0.1', b: '172.31.0.2' } as const
export const guestAddress = (n: number) => `10.77.0.${10 + n}`
export const transferId = (n: number) => `trf_${String(n).padStart(26, '0')}`

type Answer<T> = { output: T; error?: undefined } | { output?: undefined; error: { code: string; message: string } }

/** A node of the lab. Commands run side by side. */
export class LabNode {
  readonly said: string[] = []
  readonly progress: { percent: number; copied?: { copiedBytes: number; totalBytes: number } }[] = []
  private child
  private waiting = new Map<number, (answer: Answer<any>) => void>()
  private last = 0

  constructor(start: readonly string[], dir: string, wire: string, name: Name) {
    const program = [process.execPath, join(import.meta.dir, 'node.ts'), dir, guestImage, wire, name]
    this.child = Bun.spawn([...start, ...program], {
      ...{ stdin: 'pipe', stdout: 'pipe', stderr: process.env['LAB_TALKS'] ? 'inherit' : 'ignore' },
      env: { ...process.env, PANEL_AGENT_INSECURE: '1' } as Record<string, string>,
    })
    void this.listen()
  }

  private async listen() {
    const decoder = new TextDecoder()
    let rest = ''
    for await (const bytes of this.child.stdout) {
      const whole = (rest + decoder.decode(bytes, { stream: true })).split('\n')
      rest = whole.pop()!
      for (const line of whole) {
        const { id, log, progress, ...answer } = JSON.parse(line)
        if (log) this.said.push(log)
        else if (progress) this.progress.push(progress)
        else this.waiting.get(id)?.(answer)
      }
    }
    for (const answer of this.waiting.values()) answer({ error: { code: 'ended', message: 'the node has ended' } })
  }

  private ask<T>(name: string, input: unknown): Promise<Answer<T>> {
    const id = ++this.last
    const answered = new Promise<Answer<T>>((resolve) => this.waiting.set(id, resolve))
    this.child.stdin.write(`${JSON.stringify({ id, name, input })}\n`)
    this.child.stdin.flush()
    return answered.finally(() => this.waiting.delete(id))
  }

  /** A command of the protocol, with its failure. */
  try = <N extends CommandName>(name: N, input: Input<N>) => this.ask<Output<N>>(name, input)
  /** Throws the words of a command that failed. */
  async obey<N extends CommandName>(name: N, input: Input<N>): Promise<Output<N>> {
    const { output, error } = await this.try(name, input)
    if (error) throw new Error(`${name}: ${error.code}: ${error.message}`)
    return output as Output<N>
  }
  lab = async (what: string, input?: unknown) => (await this.ask<any>(`lab.${what}`, input)).output
  /** Runs a program in the node's namespaces. */
  run = (...command: string[]): Promise<{ code: number; out: string; error: string }> => this.lab('run', { command })
  virsh = (...args: string[]) => this.run('virsh', '-c', 'qemu:///system', ...args)

  async end() {
    this.child.kill('SIGKILL')
    await this.child.exited
  }
}

/** Whether something is missing that the lab needs; says what. */
export async function labMissing(what: string): Promise<boolean> {
  const programs = ['libvirtd', 'virtlogd', 'tini', 'unshare', 'nsenter', 'ssh', 'ping', 'gcc', 'debugfs', 'fdisk']
  const absent = programs.filter((program) => !Bun.which(program, { PATH: `${process.env['PATH']}:/usr/sbin:/sbin` }))
  const reason =
    (process.getuid?.() === 0 ? undefined : 'not root') ??
    (absent.length ? `no ${absent.join(', ')}` : undefined) ??
    (await missing('qemu-img', 'qemu-system-x86_64', 'xorriso', 'nft', 'ip', 'bridge')) ??
    (existsSync(guestImage) ? undefined : `no guest image at ${guestImage}`)
  return note(reason, what)
}

export class Lab {
  readonly spaces = new Spaces(`bm${process.pid}`)
  readonly dir = temporary('migration')
  readonly nodes = new Map<Name, LabNode>()
  private key!: Awaited<ReturnType<typeof newKey>>
  private transfers = 0
  private counter = ''

  node = (name: Name) => this.nodes.get(name)!
  id = workloadId

  async open() {
    const { spaces } = this
    this.key = await newKey()
    await spaces.add('router', 'switch', ...names)
    await spaces.wire(['router', 'r0'], ['switch', 'p0'])
    await spaces.ip('router', 'address', 'add', '10.77.0.1/24', 'dev', 'r0')
    for (const [n, name] of names.entries()) {
      await spaces.wire([name, 'up0'], ['switch', `p${n + 1}`])
      await spaces.bridge(name, ['up0'])
    }
    await spaces.bridge('switch', ['p0', 'p1', 'p2'])
    this.counter = await counterIn(this.dir)
    for (const name of names) await this.start(name)
  }

  /** Starts a node, whose data are its own and survive `end` of the process. */
  async start(name: Name) {
    const dir = join(this.dir, name)
    const start = withLibvirt(this.spaces, name, join(dir, 'libvirt'))
    const node = new LabNode(start, join(dir, 'data'), join(this.dir, 'wire'), name)
    this.nodes.set(name, node)
    await node.obey('vm.look', { workload: workloadId(1) })
  }

  async close() {
    this.key?.remove()
    for (const node of this.nodes.values()) await node.end()
    await this.spaces.remove()
  }

  /** Installs and starts the guest with this number, and begins its counter. */
  async install(n: number, on: Name, more: Parameters<typeof vmOf>[1] = {}) {
    const node = this.node(on)
    const checksum = `sha256:${createHash('sha256').update(readFileSync(guestImage)).digest('hex')}`
    await node.obey('image.ensure', { ...imageSource, url: 'http://127.0.0.1:8000/guest.qcow2', checksum })
    await node.obey('volume.create', { volume: volumeOf(n), image: imageSource.id, sizeBytes: DISK_BYTES })
    await this.give(n, on)
    await node.obey('vm.define', vmOf(n, { memoryMb: 128, ...more }))
    await node.obey('vm.start', { workload: workloadId(n) })
    await until('SSH to the guest', async () => (await this.inGuest(n, 'true')).code === 0)
    await this.inGuest(n, takeCounter, this.counter)
    await this.inGuest(n, beginCounting)
  }

  /** The seed and the rules of a vm, on a node that will have it. */
  async give(n: number, to: Name) {
    const seed = seedOf(n)
    seed.userData = { hostname: `web${n}`, disable_root: false, ssh_authorized_keys: [this.key.publicKey] }
    const eth0 = { match: { macaddress: macOf(n) }, 'set-name': 'eth0', addresses: [`${guestAddress(n)}/24`] }
    seed.networkConfig = { version: 2, ethernets: { eth0 } }
    await this.node(to).obey('seed.write', seed)
    await this.node(to).obey('firewall.allow', { ...portRulesOf(n), ipv6: [] })
  }

  /** Everything before `transfer.migrate`. Returns its input, and that of the other commands. */
  async prepare(n: number, from: Name, more: { sizeBytes?: number; vm?: Parameters<typeof vmOf>[1] } = {}) {
    const to = other(from)
    const ids = { transfer: transferId(++this.transfers), workload: workloadId(n) }
    const { publicKey } = await this.node(from).obey('transfer.key', ids)
    const disks = [{ volume: volumeOf(n), sizeBytes: more.sizeBytes ?? DISK_BYTES }]
    const listening = await this.node(to).obey('transfer.receive', {
      ...{
        ...ids,
        publicKey,
        disks,
        from: [managementOf[from]],
        by: 'migration' as const,
        expiresAt: Date.now() + 3_600_000,
      },
    })
    await this.give(n, to)
    await this.node(to).obey('vm.define', vmOf(n, { memoryMb: 128, ...more.vm }))
    // In the place of the user of SSH: the name of the node.
    const target = { ...listening, user: to, address: managementOf[to] }
    return { ids, to, input: { ...ids, to: target, disks: [volumeOf(n)], maxMbps: null as number | null } }
  }

  /** The commands of the controller after a move, for the node that the vm has left. */
  async tidy(n: number, name: Name, ids: { transfer: string; workload: string }) {
    const node = this.node(name)
    await node.obey('transfer.end', ids)
    await node.obey('vm.remove', { workload: workloadId(n) })
    await node.obey('volume.remove', volumeOf(n))
    await node.obey('firewall.forget', { workload: workloadId(n) })
  }

  /** The state in libvirt's words; `absent`. */
  async state(name: Name, n: number): Promise<string> {
    const { code, out } = await this.node(name).virsh('domstate', '--reason', workloadId(n))
    return code === 0 ? out : 'absent'
  }

  inGuest = (n: number, command: string, stdinFile?: string) => {
    const ssh = ['ssh', ...sshOptions, '-i', this.key.path, '-o', 'BatchMode=yes', `root@${guestAddress(n)}`, command]
    const inside = [...this.spaces.inside('router'), ...ssh]
    return stdinFile ? run(['sh', '-c', '"$@" <"$0"', stdinFile, ...inside]) : run(inside)
  }

  /** The numbers that the guest has written: the last, and the lines around the first that is missing or doubled. */
  async counted(n: number) {
    let read = await this.inGuest(n, 'cat /root/counter')
    await until('SSH to the guest', async () => {
      if (read.code !== 0) read = await this.inGuest(n, 'cat /root/counter')
      return read.code === 0
    })
    return gapsIn(read.out)
  }

  /** The same, from the disk of a guest that is off. */
  async countedOnDisk(n: number, name: Name) {
    const disk = join(this.dir, name, 'data/pools/local', '*')
    const raw = join(this.dir, 'disk.raw')
    const found = (await must('sh', '-c', `ls ${disk} | grep ${workloadId(n)}`)).split('\n')[0]!
    await must('qemu-img', 'convert', '-O', 'raw', found, raw)
    const start = Number(/(\d+)\s+\d+\s+\d+\s+\S+ 83 /.exec(await must('fdisk', '-l', raw))?.[1] ?? Number.NaN)
    return gapsIn(await must('debugfs', '-R', 'cat /root/counter', `${raw}?offset=${start * 512}`))
  }

  ping = (n: number) => pinging(this.spaces.inside('router'), guestAddress(n))

  /** Events of both nodes from now on, with one clock: that of this machine. */
  async watch(n: number) {
    const events: { node: Name; text: string; at: number }[] = []
    const children = names.map((node) => {
      const pid = this.pidOf(node)
      const virsh = ['virsh', '-c', 'qemu:///system', 'event', '--event', 'lifecycle', '--loop']
      const child = Bun.spawn(['nsenter', '-t', pid, '-m', '-n', '-p', ...virsh], { stdout: 'pipe', stderr: 'ignore' })
      void (async () => {
        for await (const bytes of child.stdout) {
          const at = performance.now()
          for (const line of new TextDecoder().decode(bytes).split('\n')) {
            const [, text] = new RegExp(`${workloadId(n)}': (.*)$`).exec(line) ?? []
            if (text) events.push({ node, text, at })
          }
        }
      })()
      return child
    })
    await Bun.sleep(300)
    return {
      events,
      at: (node: Name, text: string) =>
        events.findLast((event) => event.node === node && event.text.startsWith(text))?.at,
      stop: () => {
        for (const child of children) child.kill()
      },
    }
  }

  /** The first process in the namespaces of a node, by its number here. */
  private pidOf(name: Name): string {
    const inside = Bun.spawnSync(['ip', 'netns', 'pids', this.spaces.ns(name)])
      .stdout.toString()
      .trim()
      .split('\n')
    const first = inside.find((pid) => /tini/.test(readFileSync(`/proc/${pid}/comm`, 'utf8')))
    if (!first) throw new Error(`no process in ${name}`)
    return first
  }
}

/** Polls, because a busy machine is slow and not wrong. */
export async function until(what: string, is: () => Promise<boolean> | boolean, limitMs = LIMIT_MS) {
  const end = performance.now() + limitMs
  while (!(await is())) {
    if (performance.now() > end) throw new Error(`not within ${limitMs / 1000} s: ${what}`)
    await Bun.sleep(50)
  }
}
