// A Debian whose first process is its own systemd, with the parts that keep the network of a card: what a guest is to
// the script that changes its addresses. Its card is in a bridge, with a router that has gateways and answers names.
import { join } from 'node:path'
import { readdress } from '../../../agent/commands/vms/readdress.ts'
import { loggingTo } from '../../../agent/controller-link/job-log.ts'
import type { Host } from '../../../agent/host/host.ts'
import type { GuestNetwork } from '../../../agent/protocol/values/guests.ts'
import { temporary } from '../../agent/temporary.ts'
import { runs } from '../../support/nodes/transfer-lab.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { enterNetwork } from '../namespace.ts'

const script = join(import.meta.dir, '../../install/systemd-machine.sh')
const packages =
  'systemd-sysv dbus udev iproute2 iputils-ping systemd-resolved netplan.io network-manager cloud-init python3'
const debian = { SUITE: 'bookworm', PACKAGES: packages }
const workload = `srv_${'0'.repeat(26)}`

export const MAC = '02:00:00:00:00:0a'
/** Behind the gateways. It answers every name with `NAMED`. */
export const RESOLVER = '192.0.2.53'
export const NAMED = '192.0.2.80'
const BESIDE = [`${RESOLVER}/32`, '2001:db8::53/128', 'fe80::1/64']

async function must(command: string[], env: Record<string, string> = {}, input?: string) {
  const child = Bun.spawn(command, {
    env: { ...process.env, ...env },
    stdin: input === undefined ? 'ignore' : new TextEncoder().encode(input),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return {
    out,
    err,
    code,
    ok: () => (code === 0 ? out.trim() : fail(`${command.join(' ')} ended with ${code}: ${out}\n${err}`)),
  }
}
const fail = (words: string): never => {
  throw new Error(words)
}

export type Router = Awaited<ReturnType<typeof router>>
/** `gateways`: with the lengths of their networks. The test is in its network until it ends. */
export async function router(gateways: readonly string[]) {
  // The packages are fetched before the test leaves this machine's network.
  const base = temporary('readdress-base')
  ;(await must([script, 'root', base], debian)).ok()
  const name = `berth-readdress-${process.pid}`
  const inside = ['ip', 'netns', 'exec', name]
  ;(await must(['ip', 'netns', 'add', name])).ok()
  const lines = [
    ...['link set lo up', 'link add br0 type bridge', 'link set br0 up'],
    ...[...gateways, ...BESIDE].map((one) => `address add ${one} dev br0 ${one.includes(':') ? 'nodad' : ''}`),
  ]
  for (const line of lines) (await must([...inside, 'ip', ...line.trim().split(' ')])).ok()
  const leave = enterNetwork(`/run/netns/${name}`)
  const names = await Bun.udpSocket({
    ...{ hostname: RESOLVER, port: 53 },
    socket: { data: (socket, question, port, address) => void socket.send(answerTo(question), port, address) },
  })
  return {
    ...{ name, base },
    async end() {
      names.close()
      leave()
      await runs(['ip', 'netns', 'del', name])
      await runs([script, 'remove', base])
    },
  }
}

/** One address for a question of type A, none for others. */
function answerTo(question: Buffer): Buffer {
  const end = question.indexOf(0, 12) + 5
  const isA = question.readUInt16BE(end - 4) === 1
  const head = Buffer.from(question.subarray(0, 12))
  head.writeUInt16BE(0x8180, 2)
  for (const [at, count] of [1, isA ? 1 : 0, 0, 0].entries()) head.writeUInt16BE(count, 4 + 2 * at)
  const address = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...NAMED.split('.').map(Number)])
  return Buffer.concat([head, question.subarray(12, end), ...(isA ? [address] : [])])
}

export type BootedGuest = Awaited<ReturnType<typeof bootedGuest>>
/**
 * `files`: by path; those of NetworkManager and netplan are readable by root alone. `enabled`: units that
 * start with the system.
 */
export async function bootedGuest(
  at: Router,
  files: Readonly<Record<string, string>>,
  enabled: readonly string[] = [],
) {
  const dir = temporary('readdress')
  const env = { ...debian, BASE: at.base, CARD: `${MAC} ${at.name} br0` }
  const act = async (action: string) => (await must([script, action, dir], env)).ok()
  const run = (command: string, input?: string) => must([script, 'run', dir, command], env, input)
  await act('root')
  const root = join(dir, 'root')
  await runs(['rm', '-f', join(root, 'etc/network/interfaces')])
  for (const [path, text] of Object.entries(files)) {
    await Bun.write(join(root, path), text)
    await runs(['chmod', /netplan|system-connections/.test(path) ? '600' : '644', join(root, path)])
  }
  for (const unit of enabled) (await must(['chroot', root, 'systemctl', 'enable', '--quiet', unit])).ok()
  await act('start')
  const ask = async (command: string) => (await run(command)).ok()
  const interfaces = async () =>
    (JSON.parse(await ask('ip -j address')) as Listed[]).map(({ ifname, address, addr_info }) => ({
      name: ifname,
      mac: address ?? '',
      addresses: addr_info.map(({ local, prefixlen }) => `${local}/${prefixlen}`),
    }))
  let ran = ''
  const guestAgent = {
    info: async () => ({ osId: 'debian' }),
    interfaces,
    exec: async (_: string, argv: string[], { stdin }: { stdin: string }) => {
      const words = argv.map((one) => `'${one}'`).join(' ')
      const { code, out, err } = await run(`cd / && exec ${words}`, stdin)
      ran = `${out}${err}`
      return { code, output: out + err }
    },
  }
  const host = {
    hypervisor: { power: async () => 'running' },
    state: { portRulesOf: () => undefined },
    guestAgent,
  } as unknown as Host
  /** Its addresses and gateways: nothing is left of others. */
  async function network(): Promise<Seen> {
    const card = (await interfaces()).find(({ name }) => name === 'eth0')
    const via = await ask('ip -4 route show default; ip -6 route show default')
    return {
      addresses: (card?.addresses ?? []).filter((one) => !one.startsWith('fe80:')).sort(),
      gateways: [...via.matchAll(/via (\S+)/g)].map(([, gateway]) => gateway!),
    }
  }
  return {
    ask,
    read: (path: string) => Bun.file(join(root, path)).text(),
    write: (path: string, text: string) => Bun.write(join(root, path), text),
    /** The command of the agent. Throws with what its job says where the guest did not obey. */
    async readdress(network: Omit<GuestNetwork, 'mac'>) {
      const lines: string[] = []
      const log = { line: (_: string, text: string) => void lines.push(text), progress: () => {} }
      const command = () => readdress['guest.readdress']({ workload, mac: MAC, ...network } as never, host)
      const { guest } = await loggingTo(log, command)
      if (guest !== 'applied') throw new Error(`${guest}: ${lines.join('\n')}\n${ran}`)
      return lines.at(-1)
    },
    async reboot() {
      await act('stop')
      await act('start')
    },
    /** Waits until it is so; throws with what there is instead. */
    async has(wanted: Seen) {
      let seen: Seen | undefined
      await eventually(async () => Bun.deepEquals((seen = await network()), wanted), 40)
      if (Bun.deepEquals(seen, wanted)) return
      const log = 'journalctl -b -n 40 -o cat --no-pager -u NetworkManager -u systemd-networkd; ip address; ip route'
      throw new Error(`it has ${JSON.stringify(seen)}, not ${JSON.stringify(wanted)}:\n${(await run(log)).out}`)
    },
    /** A duplicate address is looked for first, so IPv6 takes a second. */
    reaches: (target: string) => within(20, async () => (await run(`ping -c 1 -W 1 ${target}`)).code === 0),
    resolves: (name: string) =>
      within(20, async () => (await run(`getent ahostsv4 ${name}`)).out.startsWith(`${NAMED} `)),
    end: () => act('remove'),
  }
}
/** Does it come true in so many seconds? */
async function within(seconds: number, holds: () => Promise<boolean>) {
  let is = false
  await eventually(async () => (is = await holds()), seconds)
  return is
}
type Listed = { ifname: string; address?: string; addr_info: { local: string; prefixlen: number }[] }
export type Seen = { addresses: readonly string[]; gateways: readonly string[] }
