// A clean Debian 13 with systemd, as systemd-machine.sh makes it, with a program and its install.sh in /opt/berth.
import { cpSync, existsSync, mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { temporary } from '../agent/temporary.ts'
import { guestImage } from '../support/guest.ts'
import { eventually } from '../support/waiting/eventually.ts'
import { checkout, spawn } from './clean-machine.ts'

const script = join(import.meta.dir, 'systemd-machine.sh')

export const possible =
  process.env['BERTH_LONG'] === '1' && process.getuid?.() === 0 && !!Bun.which('mmdebstrap') && existsSync(guestImage)

/** The address of the server of `orderServer`. */
export const SERVER_ADDRESS = '10.88.0.10'

export class SystemdMachine {
  readonly dir = temporary('systemd')
  /** Its processes are in this control group. */
  readonly group = basename(this.dir)

  /** `program`: what install.sh finds. */
  async make(program: string) {
    const made = await spawn([script, 'make', this.dir])
    if (made.code !== 0) throw new Error(`the machine was not made: ${made.err}`)
    const at = this.at('/opt/berth')
    mkdirSync(at, { recursive: true })
    cpSync(program, join(at, 'berth'))
    cpSync(guestImage, join(at, 'guest.qcow2'))
    for (const name of ['install.sh', 'docs']) cpSync(join(checkout, name), join(at, name), { recursive: true })
  }
  remove = () => spawn([script, 'remove', this.dir])

  /** The path here of one there. */
  at = (path: string) => join(this.dir, 'root', path)
  run = (command: string) => spawn([script, 'run', this.dir, command])
  must = async (command: string) => {
    const { code, out, err } = await this.run(command)
    if (code !== 0) throw new Error(`${command} ended with ${code}: ${out}\n${err}\n${await this.journal()}`)
    return out.trim()
  }
  private journal = async () => (await this.run('journalctl -u berth -u berth-agent -n 20 -o cat --no-pager')).out

  admin = async (operation: string, body: object = {}) =>
    JSON.parse(await this.must(`berth admin ${operation} '${JSON.stringify(body)}'`))
  property = (unit: string, name: string) => this.must(`systemctl show -P ${name} ${unit}`)
  ssh = (command: string) =>
    this.run(
      `ssh -i /root/key -o StrictHostKeyChecking=no -o LogLevel=ERROR -o ConnectTimeout=3 ` +
        `root@${SERVER_ADDRESS} '${command}'`,
    )

  /** The boot of the server, once it answers. */
  async bootOf() {
    let boot = ''
    await eventually(async () => {
      boot = (await this.ssh('cat /proc/sys/kernel/random/boot_id')).out.trim()
      return /^[0-9a-f-]{36}$/.test(boot)
    }, 120)
    return boot
  }

  /** A server of a customer, at `SERVER_ADDRESS`; answers its id. */
  async orderServer(): Promise<string> {
    await this.must(`ssh-keygen -q -t ed25519 -N '' -f /root/key
      install -D -o berth -g berth /opt/berth/guest.qcow2 /var/lib/berth/incoming/tiny.qcow2`)
    const [{ id: nodeGroupId }] = (await this.admin('locations.list')).data
    const { nodeId } = JSON.parse(await this.must('cat /var/lib/berth-agent/agent.json'))
    await this.admin('pools.create', {
      ...{ name: 'Servers', network: '10.88.0.0/24', gateway: '10.88.0.1', first: SERVER_ADDRESS, last: '10.88.0.20' },
      ...{ resolvers: ['10.88.0.1'], nodeIds: [nodeId] },
    })
    const { id: packageId } = await this.admin('packages.create', { name: 'S', vcpus: 1, memoryMb: 256, diskGb: 1 })
    const image = { file: 'tiny.qcow2', name: 'Tiny', format: 'qcow2', minDiskGb: 1, published: true }
    const { id: imageId } = await this.admin('images.import', image)
    const { id: ownerId } = await this.admin('customers.create', { name: 'C', email: 'c@example.com' })
    const publicKey = await this.must('cat /root/key.pub')
    const { id: key } = await this.admin('ssh-keys.create', { id: ownerId, publicKey })
    const order = { ownerId, packageId, nodeGroupId, imageId, hostname: 'web01' }
    const ordered = await this.admin('servers.create', { ...order, access: { mode: 'ssh_keys', sshKeyIds: [key] } })
    return ordered.serverId
  }

  /** Of its systemd, in whose namespaces everything runs. */
  pid = async () => Number((await spawn([script, 'pid', this.dir])).out)

  /** Pings an address from there until the answer's `end` is called, which says how many were sent and answered. */
  async ping(address: string) {
    const child = Bun.spawn(['nsenter', '-t', String(await this.pid()), '-n', 'ping', '-n', '-i', '0.2', address], {
      stdout: 'pipe',
    })
    return {
      async end() {
        child.kill('SIGINT')
        const [, sent, answered] =
          /(\d+) packets transmitted, (\d+) received/.exec(await new Response(child.stdout).text()) ?? []
        return { sent: Number(sent), answered: Number(answered) }
      },
    }
  }
}
