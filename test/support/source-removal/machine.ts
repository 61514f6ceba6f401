// A machine with the software of another panel, in namespaces of its own: real files, processes and bridges. Where no
// systemd, libvirt and Docker can run, stand-ins answer for them.
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { RemovalPreview, RemovalScope, Removed, Restored } from '../../../agent/protocol/values/source-removal.ts'
import { temporary } from '../../agent/temporary.ts'

const PROGRAMS = ['unshare', 'nsenter', 'mount', 'chroot', 'ip']
const START_MS = 30_000
const REPOSITORY = join(import.meta.dir, '../../..')

/** Why this machine can have none. */
export function noMachines(): string | undefined {
  if (process.getuid?.() !== 0) return 'not root'
  const absent = PROGRAMS.filter((program) => !Bun.which(program, { PATH: `${process.env['PATH']}:/usr/sbin:/sbin` }))
  return absent.length ? `no ${absent.join(', ')}` : undefined
}

export type Answer<T> = { output?: T; error?: { code: string; message: string }; log: string[] }
export const scopeOf = (panel: RemovalScope['panel'], more: Partial<RemovalScope> = {}): RemovalScope => ({
  ...{ panel, panelAddresses: [], controlKeys: [] },
  ...more,
})

export class Machine {
  private constructor(
    private child: Bun.Subprocess,
    private pid: string,
  ) {}

  /** `systemd`: a real one runs in it; otherwise a stand-in answers. */
  static async start(how: 'plain' | 'systemd' = 'plain'): Promise<Machine> {
    const dir = temporary('machine')
    const kept = [REPOSITORY, dirname(process.execPath)].filter((path, n, all) => all.indexOf(path) === n)
    const script = join(import.meta.dir, 'machine.sh')
    const child = Bun.spawn(['unshare', '-m', '-p', '-n', '-f', '--kill-child', script, how, dir, ...kept], {
      ...{ stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' },
    })
    const program = how === 'systemd' ? 'systemd' : 'sleep'
    const pid = await inTime(() => childNamed(String(child.pid), program), `the machine does not start ${program}`)
    const machine = new Machine(child, pid)
    if (how === 'systemd') {
      const isUp = async () => (await machine.run('systemctl', 'is-active', '--quiet', 'basic.target')).code === 0
      await inTime(isUp, 'systemd does not start')
    } else mkdirSync(machine.at('/run/systemd/system'), { recursive: true })
    for (const name of ['units', 'hooks', 'domains', 'networks', 'containers'])
      mkdirSync(machine.at(`/run/${name}`), { recursive: true })
    for (const program of how === 'systemd' ? ['virsh', 'docker'] : ['virsh', 'docker', 'systemctl', 'service'])
      cpSync(join(import.meta.dir, 'programs', program), machine.at(`/usr/local/sbin/${program}`))
    return machine
  }

  /** The path by which the test itself reaches a file there. */
  at = (path: string) => `/proc/${this.pid}/root${path}`
  read = (path: string) => readFileSync(this.at(path), 'utf8')
  has = (path: string) => lstatSync(this.at(path), { throwIfNoEntry: false }) !== undefined
  names = (path: string) => (existsSync(this.at(path)) ? readdirSync(this.at(path)).sort() : [])

  /** Writes a file with the folders above it. */
  write(path: string, text: string, mode = 0o644) {
    mkdirSync(dirname(this.at(path)), { recursive: true })
    writeFileSync(this.at(path), text, { mode })
    Bun.spawnSync(['chmod', mode.toString(8), this.at(path)])
  }
  link(path: string, target: string) {
    mkdirSync(dirname(this.at(path)), { recursive: true })
    if (!this.has(path)) symlinkSync(target, this.at(path))
  }

  async run(...command: string[]) {
    return this.runWith({}, ...command)
  }
  async must(...command: string[]): Promise<string> {
    const { out, err, code } = await this.run(...command)
    if (code !== 0) throw new Error(`${command.join(' ')}: ${err || out}`)
    return out
  }
  private async runWith(env: Record<string, string>, ...command: string[]) {
    const entered = [
      'nsenter',
      '--target',
      this.pid,
      '--mount',
      '--pid',
      '--net',
      '--root',
      '--',
      'sh',
      '-c',
      'cd / && exec "$@"',
      '-',
    ]
    const child = Bun.spawn([...entered, ...command], {
      ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
      env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', ...env },
    })
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    return { out, err, code: await child.exited }
  }

  private async call<T>(
    method: string,
    args: readonly unknown[],
    env: Record<string, string> = {},
  ): Promise<Answer<T>> {
    const script = join(import.meta.dir, 'run.ts')
    const { out, err } = await this.runWith(env, process.execPath, script, method, JSON.stringify(args))
    // It was killed.
    if (!out) return { log: [err] }
    return JSON.parse(out)
  }
  look = (scope: RemovalScope, env?: Record<string, string>) => this.call<RemovalPreview>('look', [scope], env)
  remove = (scope: RemovalScope, removal = 'first', env?: Record<string, string>) =>
    this.call<Removed>('remove', [removal, scope], env)
  restore = (removal = 'first', env?: Record<string, string>) => this.call<Restored>('restore', [removal], env)

  /** A bridge of servers. */
  async bridge(name: string, ...ports: string[]) {
    await this.must('ip', 'link', 'add', name, 'type', 'bridge')
    for (const port of ports) {
      await this.must('ip', 'link', 'add', port, 'type', 'veth', 'peer', 'name', `${port}-far`)
      await this.must('ip', 'link', 'set', port, 'master', name)
    }
  }
  domain(
    name: string,
    { bridge = 'br0', disk = `/var/lib/berth-agent/pools/local/${name}.qcow2`, isRunning = true } = {},
  ) {
    this.write(
      `/run/domains/${name}.xml`,
      `<domain type='kvm'><name>${name}</name><devices><emulator>/usr/bin/qemu-system-x86_64</emulator>
        <disk type='file' device='disk'><source file='${disk}'/><target dev='vda'/></disk>
        <interface type='bridge'><mac address='02:00:5e:10:00:01'/><source bridge='${bridge}'/></interface>
      </devices></domain>`,
    )
    if (isRunning) this.write(`/run/domains/${name}.running`, '')
  }
  /** A unit with the link that starts it at boot. */
  unit(name: string, program: string, { isActive = true, dir = '/etc/systemd/system' } = {}) {
    this.write(`${dir}/${name}.service`, `[Service]\nExecStart=${program}\nRestart=always\n`)
    this.link(`/etc/systemd/system/multi-user.target.wants/${name}.service`, `${dir}/${name}.service`)
    if (isActive) this.write(`/run/units/${name}.service`, '')
  }
  /** A script of SysV init with its links. */
  script(name: string, text = 'exit 0', { isActive = true } = {}) {
    this.write(`/etc/init.d/${name}`, `#!/bin/sh\necho "$0 $1" >>/run/commands\n${text}\n`, 0o755)
    for (const level of ['2', '3', '4', '5']) this.link(`/etc/rc${level}.d/S20${name}`, `../init.d/${name}`)
    for (const level of ['0', '1', '6']) this.link(`/etc/rc${level}.d/K80${name}`, `../init.d/${name}`)
    if (isActive) this.write(`/run/units/${name}.service`, '')
  }
  enable = (unit: string) =>
    this.link(`/etc/systemd/system/multi-user.target.wants/${unit}.service`, `/usr/lib/systemd/system/${unit}.service`)
  /** `fields`: name, image, is running, restart policy, retries, is deleted at its end. */
  container = (id: string, ...fields: [string, string, string, string, string, string]) =>
    this.write(`/run/containers/${id}`, `${[id, ...fields].join('\t')}\n`)
  commands = () => (this.has('/run/commands') ? this.read('/run/commands').trim().split('\n') : [])

  /** Everything below these paths: kind, mode, owner, time and content of each file. */
  files(...paths: string[]): Record<string, string> {
    const found: Record<string, string> = {}
    const visit = (path: string, isTop: boolean) => {
      const at = this.at(path)
      const seen = lstatSync(at, { throwIfNoEntry: false })
      if (!seen) return
      const owner = `${(seen.mode & 0o7777).toString(8)} ${seen.uid}:${seen.gid}`
      if (seen.isSymbolicLink()) found[path] = `link ${owner} ${readlinkSync(at)}`
      else if (seen.isFile()) {
        const hash = createHash('sha256').update(readFileSync(at)).digest('hex').slice(0, 16)
        found[path] = `file ${owner} ${seen.mtimeMs} ${hash}`
      } else {
        // The folder above what was moved has the time of its last change.
        found[path] = `folder ${owner}${isTop ? '' : ` ${seen.mtimeMs}`}`
        for (const name of readdirSync(at).sort()) visit(join(path, name), false)
      }
    }
    for (const path of paths) visit(path, true)
    return found
  }

  async end() {
    this.child.kill('SIGKILL')
    await this.child.exited
  }
}

/** The answer once there is one. */
async function inTime<T>(ask: () => T | Promise<T>, otherwise: string): Promise<NonNullable<T>> {
  for (const end = performance.now() + START_MS; ; await Bun.sleep(10)) {
    const answer = await ask()
    if (answer) return answer
    if (performance.now() > end) throw new Error(otherwise)
  }
}
/** The process of this program below another one. */
function childNamed(pid: string, program: string): string | undefined {
  const read = (path: string) => {
    try {
      return readFileSync(path, 'utf8').trim()
    } catch {
      return ''
    }
  }
  const children = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean)
  const own = children.find((child) => read(`/proc/${child}/comm`) === program)
  return own ?? children.map((child) => childNamed(child, program)).find(Boolean)
}

/** A machine for one test, which ends with it. */
export async function withMachine(work: (machine: Machine) => Promise<void>, how?: 'plain' | 'systemd') {
  const machine = await Machine.start(how)
  try {
    await work(machine)
  } finally {
    await machine.end()
  }
}
