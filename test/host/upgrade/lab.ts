// A machine of its own without systemd, in namespaces: its /usr/local, /etc, /var and /run are this lab's, so the
// programs work at the places where they always do.
import { randomBytes } from 'node:crypto'
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { UpgradedService } from '../../../agent/protocol/release/upgrade.ts'
import { readUpgradeHistory, readUpgradeJournal } from '../../../agent/protocol/release/upgrade.ts'
import { temporary } from '../../agent/temporary.ts'
import { eventually } from '../../support/waiting/eventually.ts'

export const possible = process.getuid?.() === 0 && !!Bun.which('unshare') && !!Bun.which('nsenter')
if (!possible) console.error('left out: upgrades on a machine of their own (need root, unshare and nsenter)')

/** The user of the controller. */
export const OWNER = 60_444

/** Binds the folders of the lab, and collects what its processes leave. */
const inside = `mount --make-rprivate /
  for each in usr/local etc var; do mount --bind "$1/root/$each" "/$each"; done
  mount -t tmpfs tmpfs /run
  ip link set lo up
  touch "$1/ready"
  while :; do sleep 3600 & wait; done`

export class Lab {
  private constructor(
    readonly dir: string,
    private readonly process: { kill(signal: 'SIGKILL'): void; exited: Promise<number> },
    /** Of its first process, in whose namespaces everything runs. */
    readonly pid: number,
    private readonly namespaces: readonly string[],
  ) {}

  /** `host`: the program that is installed, under all of its names. `ownNetwork`: nothing but its own loopback. */
  static async make(host: string, { ownNetwork = false } = {}): Promise<Lab> {
    const dir = temporary('upgrade-lab')
    const root = join(dir, 'root')
    for (const each of ['usr/local/bin', 'usr/local/lib/berth', 'var/log/berth', 'var/lib/berth-agent', 'var/tmp'])
      mkdirSync(join(root, each), { recursive: true })
    Bun.spawnSync(['cp', '-a', '/etc', `${root}/etc`])
    const add = (file: string, line: string) =>
      writeFileSync(`${root}/etc/${file}`, `${readFileSync(`/etc/${file}`, 'utf8')}${line}\n`)
    add('passwd', `berth:x:${OWNER}:${OWNER}::/var/lib/berth:/usr/sbin/nologin`)
    add('group', `berth:x:${OWNER}:`)
    // No machine is another one.
    writeFileSync(`${root}/etc/machine-id`, `${randomBytes(16).toString('hex')}\n`)
    mkdirSync(`${root}/etc/berth`, { recursive: true })
    mkdirSync(`${root}/var/lib/berth`, { recursive: true, mode: 0o700 })
    Bun.spawnSync(['chown', `${OWNER}:${OWNER}`, `${root}/var/lib/berth`])
    // The lab lies below a folder that other users cannot pass.
    for (const each of [dir, root]) chmodSync(each, 0o755)
    const namespaces = ['--mount', '--pid', ...(ownNetwork ? ['--net'] : [])]
    const child = Bun.spawn(
      ['unshare', ...namespaces, '--fork', '--mount-proc', '--kill-child=KILL', 'bash', '-c', inside, 'lab', dir],
      {
        stdio: ['ignore', 'ignore', 'inherit'],
      },
    )
    await eventually(() => existsSync(join(dir, 'ready')))
    const children = `/proc/${child.pid}/task/${child.pid}/children`
    const lab = new Lab(dir, child, Number(readFileSync(children, 'utf8').trim().split(' ')[0]), namespaces)
    lab.place(host)
    return lab
  }

  async remove() {
    this.process.kill('SIGKILL')
    await this.process.exited
  }

  at = (path: string) => `${this.dir}/root${path}`
  read = (path: string) => (existsSync(this.at(path)) ? readFileSync(this.at(path), 'utf8') : '')
  write(path: string, text: string, mode = 0o644) {
    writeFileSync(this.at(path), text)
    chmodSync(this.at(path), mode)
  }

  /** Installs a program under all of its names; `agent`: another one for the agent alone. */
  place(host: string, agent = host) {
    const [program, library] = [this.at('/usr/local/bin/berth'), this.at('/usr/local/lib/berth')]
    for (const [from, to] of [
      [host, program],
      [host, `${library}/berth-host`],
      [agent, `${library}/berth-agent`],
    ] as const) {
      copyFileSync(from, `${to}.new`)
      chmodSync(`${to}.new`, 0o755)
      Bun.spawnSync(['mv', `${to}.new`, to])
    }
  }

  /** Runs a command inside, as root. */
  async run(command: string, env: Record<string, string> = {}) {
    const child = Bun.spawn(['nsenter', '-t', String(this.pid), ...this.namespaces, 'bash', '-c', `cd /; ${command}`], {
      env: { PATH: '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', ...env },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [out, err, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    return { code, out: out.trim(), err: err.trim() }
  }

  services = (action: string, env: Record<string, string> = {}) =>
    this.run(`/usr/local/lib/berth/berth-host host services ${action}`, env)

  private folder = (service: UpgradedService) => this.at(`/usr/local/lib/berth/upgrade/${service}`)
  journal = (service: UpgradedService) => readUpgradeJournal(this.folder(service))
  history = (service: UpgradedService) => readUpgradeHistory(this.folder(service))
  /** Does a process watch the upgrade of this service? */
  isWatched = async (service: UpgradedService) => (await this.run(`pgrep -f 'upgrade-watch ${service}$'`)).code === 0
}
