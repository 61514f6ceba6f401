// A clean machine as the tests of install.sh see it; clean-machine.sh makes it.
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

export const checkout = join(import.meta.dir, '../..')
const script = join(import.meta.dir, 'clean-machine.sh')

export const possible =
  process.getuid?.() === 0 &&
  ['debootstrap', 'tini-static', 'nft', 'ip'].every((tool) =>
    Bun.which(tool, { PATH: `${process.env['PATH']}:/usr/sbin:/sbin` }),
  )
if (!possible) console.error('left out: install.sh in a clean root (needs root, debootstrap, tini, nftables, iproute2)')

export type Ended = { code: number; out: string; err: string }
export async function spawn(command: string[]): Promise<Ended> {
  const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'pipe', stdin: 'ignore' })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, out, err }
}

async function must(what: string, ended: Promise<Ended>): Promise<string> {
  const { code, out, err } = await ended
  if (code !== 0) throw new Error(`${what} ended with ${code}:\n${out}\n${err}`)
  return out.trim()
}

/** The command that the installation printed, which begins with this word, with all its lines. */
export const printed = (out: string, word: string) =>
  new RegExp(`^ +(${word} (?:.*\\\\\n)*.*)$`, 'm').exec(out)?.[1] ?? `no ${word} in ${out}`

export class CleanMachine {
  private constructor(readonly dir: string) {}

  /** `diskGb`: servers' disks have a file system of their own, of this size. */
  static async make(suite: string, diskGb?: number): Promise<CleanMachine> {
    const machine = new CleanMachine(mkdtempSync(join(tmpdir(), 'berth-machine-')))
    const size = diskGb === undefined ? [] : [`${diskGb}`]
    await must('clean-machine.sh make', spawn([script, 'make', machine.dir, suite, ...size]))
    return machine
  }

  /** As a container engine restarts a container: every process is killed, and the boot id of the kernel stays. */
  restart = () => must('clean-machine.sh restart', spawn([script, 'restart', this.dir]))

  remove = () => spawn([script, 'remove', this.dir])
  run = (command: string) => spawn([script, 'run', this.dir, 'bash', '-c', command])
  must = (command: string) => must(command, this.run(command))
  install = (flags: string) => this.run(`cd /opt/berth && ./install.sh ${flags}`)

  /** The checkout, as a clone of it would be. */
  bringCheckout = () =>
    this.fill(
      `cd ${checkout} && git ls-files -co --exclude-standard -z | xargs -0 ls -d 2>/dev/null | tar -c -T - | tar ` +
        '-x -C "$1"',
    )
  /** A release: install.sh and the program beside it. */
  bringRelease = (program: string) => this.fill(`cp ${checkout}/install.sh ${program} "$1"`)
  /** A file, e.g. a package, into /opt/berth. */
  bringFile = (file: string) => this.fill(`cp '${file}' "$1"`)
  private fill = (how: string) =>
    must(
      'filling the machine',
      spawn(['bash', '-c', `mkdir -p "$1" && ${how}`, 'fill', join(this.dir, 'root/opt/berth')]),
    )

  /** A program of this machine, in the clean machine's network. */
  inNetwork = (...command: string[]) =>
    spawn(['nsenter', `--target=${readFileSync(join(this.dir, 'pid'), 'utf8').trim()}`, '--net', ...command])

  /** Of all that ran in it since it was made, also of its guests. */
  cpuSeconds(): number {
    const name = `machine-${basename(this.dir)
      .replace(/[^a-zA-Z0-9]/g, '')
      .slice(-8)}`
    const ofVersion1 = `/sys/fs/cgroup/cpuacct/${name}/cpuacct.usage`
    if (existsSync(ofVersion1)) return Number(readFileSync(ofVersion1, 'utf8')) / 1e9
    const [, microseconds] = /^usage_usec (\d+)$/m.exec(readFileSync(`/sys/fs/cgroup/${name}/cpu.stat`, 'utf8')) ?? []
    return Number(microseconds) / 1e6
  }

  /** Its own end and this machine's end of the wire between them. */
  async addresses(): Promise<{ own: string; outside: string }> {
    const own = (await Bun.file(join(this.dir, 'address')).text()).trim()
    return { own, outside: own.replace(/\d+$/, '1') }
  }
}
