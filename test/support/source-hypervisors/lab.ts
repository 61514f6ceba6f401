// Hypervisors of another panel in network namespaces, each with a libvirt, an SSH server and system folders of its own,
// and a network of nodes beside them. Whatever they write is gone when the lab ends.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SourceHost } from '../../../agent/protocol/values/source-hosts.ts'
import { temporary } from '../../agent/temporary.ts'
import { missing } from '../../drivers/tools.ts'
import { Spaces, withLibvirt } from '../nodes/nodes.ts'
import { runs } from '../nodes/transfer-lab.ts'

const PROGRAMS = ['libvirtd', 'virtlogd', 'tini', 'unshare', 'nsenter', 'sshd', 'openssl']
const START_MS = 60_000
const USUAL_SSH = ['HostKey /etc/ssh/ssh_host_ed25519_key', 'UsePAM no', 'PermitRootLogin yes']
export const ROOT_PASSWORD = 'a \'long\' $pass "word" \\ of root'

/** Why this machine can have no such lab. */
export async function noSourceLab(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'not root'
  const absent = PROGRAMS.filter((program) => !Bun.which(program, { PATH: `${process.env['PATH']}:/usr/sbin:/sbin` }))
  return absent.length ? `no ${absent.join(', ')}` : await missing('qemu-img', 'ssh', 'ssh-keygen', 'ip', 'mkfifo')
}

/** One of them. `inside`: the start of a command that runs in it. */
export class SourceHypervisor {
  constructor(
    readonly address: string,
    readonly dir: string,
    readonly inside: readonly string[],
    /** Without one it ends with what it is a part of. */
    private child?: Bun.Subprocess,
  ) {}

  get host(): SourceHost {
    return { address: this.address, port: 22, hostKey: null }
  }

  run = (...command: string[]) => runs([...this.inside, ...command])
  async must(...command: string[]): Promise<string> {
    const { out, err, code } = await this.run(...command)
    if (code !== 0) throw new Error(`${command.join(' ')}: ${err || out}`)
    return out
  }

  /** Writes a file there, with the folders above it. */
  async write(path: string, content: string | Uint8Array, mode = '644') {
    const given = join(this.dir, 'given')
    writeFileSync(given, content)
    await this.must('install', '-D', '-m', mode, given, path)
  }
  read = (path: string) => this.must('cat', path)

  virsh = (...words: string[]) => this.must('virsh', '-q', '-c', 'qemu:///system', ...words)
  /** `create`: transient domains, which run; `define`: those that stay when they are off. */
  async domain(how: 'create' | 'define', ...xml: string[]) {
    const words = xml.map((text, n) => {
      const path = join(this.dir, `domain-${n}.xml`)
      writeFileSync(path, text)
      return `${how} ${path}`
    })
    await this.virsh(words.join('; '))
  }

  /** The SSH server with these lines before those that it has. */
  async configureSsh(...lines: string[]) {
    await this.write('/etc/ssh/sshd_config', [...lines, ...USUAL_SSH, ''].join('\n'))
    const listens = () => this.sshLog().match(/Server listening on 0/g)!.length
    const before = listens()
    await this.must('kill', '-HUP', (await this.read('/run/sshd.pid')).trim())
    for (const end = Date.now() + START_MS; listens() === before; await Bun.sleep(20))
      if (Date.now() > end) throw new Error(`the SSH server does not start: ${this.sshLog().slice(-500)}`)
  }
  sshLog = () => readFileSync(join(this.dir, 'libvirt/sshd.log'), 'utf8')

  async end() {
    this.child?.kill('SIGKILL')
    await this.child?.exited
  }
}

/** `nodes`: the path of the network in which nodes are, see `enterNetwork`. */
export async function sourceLab(names: readonly string[], prefix = 'sh') {
  const spaces = new Spaces(`${prefix}${process.pid}`)
  await spaces.add('nodes', ...names)
  await spaces.bridge('nodes', [])
  await spaces.ip('nodes', 'address', 'add', '10.79.0.1/24', 'dev', 'br0')
  const hypervisors: SourceHypervisor[] = []
  for (const [i, name] of names.entries()) {
    await spaces.wire(['nodes', `p${i}`], [name, 'up0'])
    await spaces.ip('nodes', 'link', 'set', `p${i}`, 'master', 'br0')
    await spaces.bridge(name, ['up0'])
    const address = `10.79.0.${10 + i}`
    await spaces.ip(name, 'address', 'add', `${address}/24`, 'dev', 'br0')
    hypervisors.push(await startHypervisor(spaces, name, address))
  }
  return {
    hypervisors,
    nodes: `/run/netns/${spaces.ns('nodes')}`,
    async end() {
      for (const hypervisor of hypervisors) await hypervisor.end()
      await spaces.remove()
    },
  }
}

/** In a namespace that is there already, at an address of its bridge. */
export async function startHypervisor(spaces: Spaces, name: string, address: string): Promise<SourceHypervisor> {
  const dir = temporary(`source-${name}`)
  const libvirt = join(dir, 'libvirt')
  await runs(['mkdir', libvirt])
  writeFileSync(join(libvirt, 'password'), ROOT_PASSWORD)
  const script = (file: string) => join(import.meta.dir, file)
  const started = withLibvirt(spaces, name, libvirt)
  // The folders come first: what libvirt mounts in them must lie above.
  const command = [...started.slice(0, -2), script('own-files.sh'), dir, ...started.slice(-2)]
  const child = Bun.spawn([...command, script('ssh-server.sh'), libvirt], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const reader = child.stdout.getReader()
  let said = ''
  for (const until = performance.now() + START_MS; !said.includes('ready'); ) {
    const { value, done } = await reader.read()
    if (done || performance.now() > until) throw new Error(`the source hypervisor ${name} did not start`)
    said += new TextDecoder().decode(value)
  }
  const first = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ')[0]!
  return new SourceHypervisor(address, dir, ['nsenter', '--target', first, '--mount', '--pid', '--net', '--'], child)
}
