// Two nodes, each with a libvirt, an SSH server and a network of its own, whose agents move disks between them. An
// agent can be killed and started again while the rest of its node goes on.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../../../agent/host/exec.ts'
import type { Volume } from '../../../agent/protocol/wire.ts'
import { temporary } from '../../agent/temporary.ts'
import { NodeProcess, Spaces, withLibvirt } from './nodes.ts'

export const addresses = { a: '10.66.0.1', b: '10.66.0.2' } as const
export type NodeName = keyof typeof addresses
const START_MS = 60_000

/** One node. `inside`: the start of a command that runs in it. */
export class TransferNode {
  agent!: NodeProcess
  readonly inside: string[]

  constructor(
    readonly dir: string,
    pid: number,
    private child: Bun.Subprocess,
    private image?: string,
  ) {
    this.inside = ['nsenter', '--target', String(pid), '--mount', '--pid', '--net', '--']
    this.startAgent()
  }

  startAgent() {
    this.agent = new NodeProcess([...this.inside, 'setpriv', '--pdeathsig', 'KILL', '--'], this.data, this.image)
  }
  get data() {
    return join(this.dir, 'data')
  }
  run = (...command: string[]) => runs([...this.inside, ...command])

  pathOf = ({ workload, generation, format, pool }: Volume) =>
    join(this.data, 'pools', pool, `${workload}-${generation}.${format}`)
  /** Writes the file of a disk as it is. */
  writeDisk(volume: Volume, content: Uint8Array) {
    mkdirSync(join(this.data, 'pools', volume.pool), { recursive: true })
    writeFileSync(this.pathOf(volume), content)
  }
  keys = () => {
    const path = join(this.dir, 'libvirt/root-ssh')
    return readdirSync(path)
      .map((name) => readFileSync(join(path, name), 'utf8'))
      .join('')
  }
  /** Processes of transfers, as the node sees them. */
  async processes() {
    const { out } = await this.run('ps', '-eo', 'args')
    return out.split('\n').filter((line) => /berth\/transfers\/trf_|transfer-stream/.test(line))
  }
  async end() {
    await this.agent.end()
    this.child.kill('SIGKILL')
    await this.child.exited
  }
}

export async function runs(command: readonly string[]) {
  const child = Bun.spawn([...command], { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { out, err, code }
}

/** `image`: what the nodes can download from http://127.0.0.1:8000/. */
export async function transferLab(image?: string) {
  const spaces = new Spaces(`tr${process.pid}`)
  await spaces.add('a', 'b')
  await spaces.wire(['a', 'm0'], ['b', 'm0'])
  const nodes = {} as Record<NodeName, TransferNode>
  for (const name of ['a', 'b'] as const) {
    await spaces.ip(name, 'address', 'add', `${addresses[name]}/24`, 'dev', 'm0')
    await spaces.bridge(name, [])
    const dir = temporary(`transfer-${name}`)
    const libvirt = join(dir, 'libvirt')
    const child = Bun.spawn([...withLibvirt(spaces, name, libvirt), join(import.meta.dir, 'ssh-node.sh'), libvirt], {
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'inherit',
    })
    const reader = child.stdout.getReader()
    let said = ''
    for (const until = performance.now() + START_MS; !said.includes('ready'); ) {
      const { value, done } = await reader.read()
      if (done || performance.now() > until) throw new Error(`node ${name} did not start`)
      said += new TextDecoder().decode(value)
    }
    const first = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ')[0]
    nodes[name] = new TransferNode(dir, Number(first), child, image)
  }
  return {
    ...nodes,
    spaces,
    /** Lets nothing through between the nodes, or everything again. */
    cut: (isCut: boolean) => run('ip', ['-n', spaces.ns('a'), 'link', 'set', 'm0', isCut ? 'down' : 'up']),
    async end() {
      for (const node of [nodes.a, nodes.b]) await node.end()
      await spaces.remove()
    },
  }
}
