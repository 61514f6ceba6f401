// The compiled program as controller and as agents, each beside a libvirt and an SSH server of its own, with a router
// that calls guests as their owners would; and what breaks such nodes.
import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporary } from '../../agent/temporary.ts'
import { missing } from '../../drivers/tools.ts'
import { guestImage, must, newKey, run, sshOptions } from '../guest.ts'
import { eventually } from '../waiting/eventually.ts'
import { type Installation, installation } from '../world/processes.ts'
import { Spaces, withLibvirt } from './nodes.ts'

export const nodeNames = ['a', 'b'] as const
export type NodeName = (typeof nodeNames)[number]
export const otherNode = (name: NodeName): NodeName => (name === 'a' ? 'b' : 'a')
/** A busy machine is slow and not wrong. */
const SECONDS = 240

/** Why this machine cannot have such nodes; undefined: it can. */
export async function noRealNodes(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'not root'
  if (!existsSync(guestImage)) return `no guest image at ${guestImage}`
  const PATH = `${process.env['PATH']}:/usr/sbin`
  const programs = ['gcc', 'ping', 'sshd', 'libvirtd', 'virtlogd', 'tini', 'unshare', 'nsenter', 'qemu-system-x86_64']
  const lacks = programs.filter((program) => !Bun.which(program, { PATH }))
  return lacks.length ? `no ${lacks.join(', ')}` : await missing('qemu-img', 'xorriso', 'nft', 'ip', 'bridge')
}

export type Ordered = { serverId: string; jobId: string; ipv4: string }
export type Equipment = { floatingId: string; floating: string; networkId: string }

/**
 * `before`: called when the networks are there, before the first node. `onNode`: when a node has a libvirt, before its
 * agent starts. `pools`: the pools of each node. `pack`: what the package has beside the usual, and `image` the image.
 */
type More = {
  before?(): Promise<unknown>
  onNode?(inside: readonly string[]): Promise<unknown>
  pools?(): readonly object[]
  pack?: object
  image?: object
}
export class RealNodes {
  readonly spaces: Spaces
  readonly inside = {} as Record<NodeName, string[]>
  readonly ids = {} as Record<NodeName, string>
  live!: Installation
  token = ''
  /** The id of the address pool of both nodes. */
  lan = ''
  private children: Bun.Subprocess[] = []
  private agents = {} as Record<NodeName, Bun.Subprocess>
  private homes = {} as Record<NodeName, string>
  private dirs = {} as Record<NodeName, string>
  private controller!: Bun.Subprocess
  /** Lets the tests into guests. */
  key!: Awaited<ReturnType<typeof newKey>>
  private orderOf!: (more: object) => object

  constructor(
    prefix: string,
    private more: More = {},
  ) {
    this.spaces = new Spaces(`${prefix}${process.pid}`)
  }

  async open() {
    const { spaces } = this
    this.key = await newKey()
    this.live = await installation()
    this.controller = await this.live.serve()
    this.token = await this.live.ownerToken()
    await this.start([process.execPath, join(import.meta.dir, 'relay.ts'), this.outside, new URL(this.live.url).port])
    await spaces.add('router', 'switch', ...nodeNames)
    await spaces.wire(['router', 'r0'], ['switch', 'p0'])
    await spaces.ip('router', 'address', 'add', '10.78.0.1/24', 'dev', 'r0')
    for (const [i, name] of nodeNames.entries()) {
      await spaces.wire([name, 'up0'], ['switch', `p${i + 1}`])
      await spaces.bridge(name, ['up0'])
      await spaces.ip(name, 'address', 'add', `10.78.0.${i + 2}/24`, 'dev', 'br0')
    }
    await spaces.bridge('switch', ['p0', 'p1', 'p2'])
    await this.more.before?.()
    await this.fill()
  }

  /** The catalog, the nodes, and a customer. */
  private async fill() {
    const { live } = this
    const locationId = (await live.admin('locations.create', { name: 'Lab' })).id
    for (const name of nodeNames) await this.startNode(name, locationId)
    this.lan = (
      await live.admin('pools.create', {
        ...{ name: 'lan', network: '10.78.0.0/24', gateway: '10.78.0.1', first: '10.78.0.10', last: '10.78.0.20' },
        nodeIds: [this.ids.a, this.ids.b],
      })
    ).id
    const pack = { name: 'Tiny', vcpus: 1, memoryMb: 128, diskGb: 1, volumeGb: 10, portMbps: 900, ...this.more.pack }
    const packageId = (await live.admin('packages.create', pack)).id
    copyFileSync(guestImage, `${live.dir}/incoming/tiny.qcow2`)
    const imageId = (
      await live.admin('images.import', { file: 'tiny.qcow2', name: 'Tiny Linux', tpm: true, ...this.more.image })
    ).id
    const ownerId = (await live.admin('customers.create', { name: 'Cal', email: 'cal@example.com' })).id
    const sshKey = (await live.admin('ssh-keys.create', { id: ownerId, publicKey: this.key.publicKey })).id
    this.orderOf = (more) => ({
      ...{ ownerId, packageId, imageId, nodeGroupId: locationId, nodeId: this.ids.a, hostname: 'web01.example.com' },
      access: { mode: 'ssh_keys', sshKeyIds: [sshKey] },
      ...more,
    })
  }

  /** `seconds`: for its installation, which waits minutes for a guest that answers nobody. */
  async order(more: object = {}, seconds = SECONDS): Promise<Ordered> {
    const { status, body } = await this.live.api(this.token, 'POST', '/admin/servers', this.orderOf(more))
    if (status !== 201) throw new Error(JSON.stringify(body))
    const job = await this.ended(body.jobId, seconds)
    if (job.state !== 'succeeded') throw new Error(JSON.stringify(job))
    return body
  }

  /** Gives a server a volume, a floating address and a private network. */
  async equip({ serverId }: Ordered): Promise<Equipment> {
    const { ownerId, nodeGroupId: locationId } = this.orderOf({}) as { ownerId: string; nodeGroupId: string }
    await this.done('POST', `/servers/${serverId}/volumes`, { name: 'data', sizeGb: 1 })
    const floating = await this.done('POST', `/customers/${ownerId}/floating-ips`, { locationId })
    await this.done('POST', `/floating-ips/${floating.id}/actions/assign`, { serverId })
    const network = { name: 'backend', locationId, ipv4: '10.20.0.0/24' }
    const { id: networkId } = await this.done('POST', `/customers/${ownerId}/networks`, network)
    await this.done('POST', `/networks/${networkId}/servers`, { serverId })
    await this.isIdle(serverId)
    return { floatingId: floating.id, floating: floating.address, networkId }
  }
  /** Takes the floating address and the private network from a server, which then can get other addresses. */
  async takeFromNetworks({ serverId }: Ordered, { floatingId, networkId }: Equipment) {
    await this.done('POST', `/floating-ips/${floatingId}/actions/unassign`)
    await this.isIdle(serverId)
    await this.done('DELETE', `/networks/${networkId}/servers/${serverId}`)
    await this.isIdle(serverId)
  }
  /** The answer of a call that must succeed, with its job where it starts one. */
  private async done(method: string, path: string, body?: object) {
    const answer = await this.api(method, path, body)
    if (answer.status > 299) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
    if (answer.body?.jobId && (await this.ended(answer.body.jobId)).state !== 'succeeded') throw new Error(path)
    return answer.body
  }
  private isIdle = (serverId: string) =>
    this.live.until('all of that to be done', async () => {
      const { body } = await this.api('GET', `/servers/${serverId}`)
      return body.job === null
    })

  async close() {
    this.key?.remove()
    for (const child of this.children.reverse()) {
      child.kill('SIGKILL')
      await child.exited
    }
    await this.live?.close()
    await this.spaces.remove()
  }

  private get outside() {
    return join(this.live.dir, 'controller.sock')
  }
  private get env() {
    return { ...process.env, ...this.live.env } as Record<string, string>
  }
  private async start(command: string[], said = 'ready') {
    const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'pipe', stderr: 'inherit', env: this.env })
    this.children.push(child)
    const reader = child.stdout.getReader()
    for (let out = ''; !out.includes(said); ) {
      const { value, done } = await reader.read()
      if (done) throw new Error(`${command.join(' ')} ended`)
      out += new TextDecoder().decode(value)
    }
    return child
  }

  /** A machine with a libvirt, an SSH server and the program's agent, which reaches the controller on loopback. */
  private async startNode(name: NodeName, locationId: string) {
    const { live } = this
    const dir = temporary(`move-${name}`)
    const libvirt = join(dir, 'libvirt')
    const ssh = join(import.meta.dir, 'ssh-node.sh')
    const child = await this.start([...withLibvirt(this.spaces, name, libvirt), ssh, libvirt])
    this.inside[name] = ['nsenter', '--target', childOf(child), '--mount', '--pid', '--net', '--']
    const machineId = join(dir, 'machine-id')
    writeFileSync(machineId, `${crypto.randomUUID().replaceAll('-', '')}\n`)
    await must(...this.inside[name], 'mount', '--bind', machineId, '/etc/machine-id')
    const relay = [process.execPath, join(import.meta.dir, 'relay.ts'), new URL(live.url).port, this.outside]
    await this.start([...this.inside[name], ...relay])
    const { token: enrolment } = await live.admin('nodes.enroll', { locationId, name: `node-${name}` })
    const file = join(dir, 'token')
    writeFileSync(file, enrolment)
    this.dirs[name] = dir
    this.homes[name] = join(dir, 'agent')
    const to = ['--controller', live.url, '--token-file', file, '--data-dir', this.homes[name], '--bridge', 'br0']
    await must(...this.inside[name], 'env', 'PANEL_AGENT_INSECURE=1', ...live.program, 'agent', 'enroll', ...to)
    await this.more.onNode?.(this.inside[name])
    const pools = this.more.pools?.()
    if (pools) writeFileSync(join(this.homes[name], 'pools.json'), JSON.stringify({ pools }))
    this.startAgent(name)
    const node = await live.until(`node ${name}`, async () =>
      (await live.admin('nodes.list')).data.find(
        (n: any) => n.name === `node-${name}` && n.connected && n.load?.pools.length,
      ),
    )
    await live.admin('nodes.update', { id: node.id, bridge: 'br0' })
    this.ids[name] = node.id
  }

  /** `crashAt`: see agent/crash-injection.ts. */
  startAgent(name: NodeName, crashAt?: string) {
    if (crashAt) rmSync(join(this.homes[name], 'crash-done'), { force: true })
    const agent = Bun.spawn(
      [...this.inside[name], ...this.live.program, 'agent', 'run', '--data-dir', this.homes[name]],
      {
        stdin: 'ignore',
        stdout: 'ignore',
        stderr: Bun.file(join(this.dirs[name], 'agent.log')),
        env: { ...this.env, ...(crashAt && { BERTH_CRASH_AT: crashAt }) },
      },
    )
    this.children.push(agent)
    this.agents[name] = agent
  }
  /** As a power cut of the agent alone: the rest of its node goes on. */
  async killAgent(name: NodeName) {
    const agent = this.agents[name]
    // The agent is the child of `nsenter`, which passes no signal on.
    if (agent.exitCode === null && agent.signalCode === null) process.kill(Number(childOf(agent)), 'SIGKILL')
    await agent.exited
  }
  agentEnded = (name: NodeName) => this.agents[name].exited
  isConnected = async (name: NodeName): Promise<boolean> =>
    (await this.live.admin('nodes.list')).data.find((n: any) => n.id === this.ids[name]).connected
  async restartAgent(name: NodeName, crashAt?: string) {
    await this.killAgent(name)
    this.startAgent(name, crashAt)
    await this.live.until(`node ${name}`, () => this.isConnected(name))
  }

  /** `crashAt`: see src/app/crash-injection.ts. */
  async serve(crashAt?: string) {
    if (crashAt) rmSync(join(this.live.dir, 'crash-done'), { force: true })
    this.controller = await this.live.serve(crashAt ? { BERTH_CRASH_AT: crashAt } : {})
    await this.live.until('both nodes', async () => {
      for (const name of nodeNames) if (!(await this.isConnected(name))) return false
      return true
    })
  }
  async killController() {
    this.controller.kill('SIGKILL')
    await this.controller.exited
  }
  async restartController() {
    await this.killController()
    await this.serve()
  }
  controllerEnded = () => this.controller.exited

  runOn = (name: NodeName, ...command: string[]) => run([...this.inside[name], ...command])
  private killIn = (name: NodeName, ...pgrep: string[]) =>
    this.runOn(name, 'sh', '-c', 'pids=$(pgrep "$@") && kill -9 $pids', 'kill', ...pgrep)
  async killLibvirt(name: NodeName, seconds = 0.5) {
    await this.killIn(name, '-x', 'libvirtd')
    await Bun.sleep(seconds * 1000)
    await this.runOn(name, 'libvirtd', '-d')
  }
  /** The server and all its sessions; it comes back after so many seconds. */
  async killSsh(name: NodeName, seconds = 0.5) {
    await this.killIn(name, '-f', 'sshd')
    await Bun.sleep(seconds * 1000)
    await this.runOn(name, '/usr/sbin/sshd', '-E', join(this.dirs[name], 'sshd.log'))
  }
  /** Nothing goes between the node and others, except the controller; or everything again. */
  cut = (name: NodeName, isCut: boolean) => this.spaces.ip(name, 'link', 'set', 'up0', isCut ? 'down' : 'up')

  api = (method: string, path: string, body?: object) => this.live.api(this.token, method, path, body)
  ended = (jobId: string, seconds = SECONDS) =>
    this.live.until(
      `the end of ${jobId}`,
      async () => {
        const { body } = await this.api('GET', `/jobs/${jobId}`)
        return (body.state === 'succeeded' || body.state === 'failed') && body
      },
      seconds,
    )
  async act(serverId: string, action: string, body: object = {}) {
    const answer = await this.api('POST', `/servers/${serverId}/actions/${action}`, body)
    if (answer.status !== 202) throw new Error(JSON.stringify(answer.body))
    return this.ended(answer.body.jobId)
  }
  async begin(serverId: string, to: NodeName, body: object = {}): Promise<{ jobId: string; transferId: string }> {
    const answer = await this.api('POST', `/admin/servers/${serverId}/actions/move`, { nodeId: this.ids[to], ...body })
    if (answer.status !== 202) throw new Error(JSON.stringify(answer.body))
    return answer.body
  }
  transfer = async (transferId: string) => (await this.api('GET', `/admin/transfers/${transferId}`)).body
  /** A move that must succeed; answers its record. */
  async move(serverId: string, to: NodeName, body: object = {}) {
    const { jobId, transferId } = await this.begin(serverId, to, body)
    const job = await this.ended(jobId)
    if (job.state !== 'succeeded') throw new Error(`${job.error?.code}: ${job.error?.message}`)
    return this.transfer(transferId)
  }
  /** Resolves when the job of a move has come to the step with these words. */
  async atStep(jobId: string, words: string) {
    const lines = `SELECT text AS words FROM job_log WHERE job_id = '${jobId}'`
    for (const end = Date.now() + SECONDS * 1000; !this.live.query(lines).includes(words); await Bun.sleep(10))
      if (Date.now() > end) throw new Error(`the move has not come to “${words}”`)
  }

  /** The power of the vm there, as libvirt tells it; empty where it is not defined. */
  powerOn = async (name: NodeName, serverId: string) =>
    (await this.runOn(name, 'virsh', '-c', 'qemu:///system', 'domstate', serverId)).out
  /** The processes of the vm there. */
  processesOn = async (name: NodeName, serverId: string) =>
    (await this.runOn(name, 'pgrep', '-f', `guest=${serverId}`)).out.split('\n').filter(Boolean)
  /** Nothing of the server is left on a node that it has left. */
  isClear = (name: NodeName, serverId: string) =>
    this.live.until(
      `node ${name} to be clear`,
      async () => {
        const left = await this.runOn(name, 'sh', '-c', 'ls /run/berth/transfers /root/.ssh; nft list ruleset')
        return (await this.powerOn(name, serverId)) === '' && !left.out.includes(serverId) && !left.out.includes('trf_')
      },
      SECONDS,
    )

  async inGuest(ipv4: string, command: string, stdinFile = '/dev/null') {
    const ssh = ['ssh', ...sshOptions, '-i', this.key.path, '-o', 'BatchMode=yes', `root@${ipv4}`, command]
    let answer = { out: '', error: '', code: 255 }
    await eventually(async () => {
      answer = await run(['sh', '-c', '"$@" <"$0"', stdinFile, ...this.spaces.inside('router'), ...ssh])
      return answer.code !== 255
    }, SECONDS)
    return answer.out
  }
}

const childOf = ({ pid }: Bun.Subprocess) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]!
