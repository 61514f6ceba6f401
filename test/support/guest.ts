// A real guest as a person outside sees it: SSH by key and by password, ping. And whether this machine can run one at
// all.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'

/** The tiny Linux that test/run built. */
export const guestImage = process.env['BERTH_GUEST_IMAGE'] ?? '/tmp/guest.qcow2'

export async function run(command: readonly string[], env: Record<string, string> = {}) {
  const child = Bun.spawn([...command], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: { ...process.env, ...env } as Record<string, string>,
  })
  const [out, error, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { out: out.trim(), error: error.trim(), code }
}
/** Throws what it said when it fails. */
export async function must(...command: string[]) {
  const { out, error, code } = await run(command)
  if (code) throw new Error(`${command.join(' ')}: ${error || out}`)
  return out
}

/** Why no real guest can be run here; undefined when one can. */
export async function noGuests(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'not root'
  if (!existsSync(guestImage)) return `no guest image at ${guestImage}`
  const { code } = await run(['virsh', '-c', 'qemu:///system', 'version'])
  return code ? 'libvirt does not answer' : undefined
}

export async function newKey() {
  const dir = mkdtempSync(`${tmpdir()}/berth-key-`)
  await must('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', `${dir}/id`)
  return {
    path: `${dir}/id`,
    publicKey: readFileSync(`${dir}/id.pub`, 'utf8').trim(),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  }
}

/** Options for the SSH of tests: guests come and go under the same addresses. */
export const sshOptions = [
  '-o',
  'StrictHostKeyChecking=no',
  '-o',
  'UserKnownHostsFile=/dev/null',
  '-o',
  'ConnectTimeout=5',
  '-o',
  'LogLevel=ERROR',
]
export const sshWithKey = (address: string, key: string, command: string) =>
  run(['ssh', ...sshOptions, '-i', key, '-o', 'PasswordAuthentication=no', `root@${address}`, command])
export const sshWithPassword = (address: string, password: string, command: string) =>
  run(
    [
      'sshpass',
      '-e',
      'ssh',
      ...sshOptions,
      '-o',
      'PubkeyAuthentication=no',
      '-o',
      'PreferredAuthentications=password',
      `root@${address}`,
      command,
    ],
    { SSHPASS: password },
  )

/** A bridge with an address of its own, as a node has one; gone when the test is over. */
export async function bridge(name: string, address: string) {
  await run(['ip', 'link', 'del', name])
  await must('ip', 'link', 'add', name, 'type', 'bridge')
  await must('ip', 'addr', 'add', address, 'dev', name)
  await must('ip', 'link', 'set', name, 'up')
  return { name, remove: () => run(['ip', 'link', 'del', name]) }
}

/** The rules that an agent leaves on this machine when it ends: guests run on under them. */
export async function removeRules() {
  for (const family of ['bridge', 'inet'])
    for (const table of ['berth', 'berth_traffic', 'berth_private'])
      await run(['nft', 'delete', 'table', family, table])
}

/** Pings five times a second until `stop`, which answers how many went out and how many came back. */
export function pinging(address: string) {
  const child = Bun.spawn(['ping', '-n', '-i', '0.2', '-W', '2', address], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const said = new Response(child.stdout).text()
  return {
    async stop() {
      child.kill('SIGINT')
      const [, sent, received] = /(\d+) packets transmitted, (\d+) received/.exec(await said) ?? []
      return { sent: Number(sent), received: Number(received) }
    },
  }
}

/** The file of an empty disk: header, counts and an empty first table. `spoil` changes the header. */
export function emptyQcow2(diskBytes = 2 ** 30, spoil: (head: Buffer) => void = () => {}): Buffer {
  const cluster = 65_536
  const file = Buffer.alloc(4 * cluster)
  file.writeUInt32BE(0x514649fb, 0)
  file.writeUInt32BE(3, 4)
  file.writeUInt32BE(16, 20)
  file.writeBigUInt64BE(BigInt(diskBytes), 24)
  file.writeUInt32BE(Math.ceil(diskBytes / 2 ** 29), 36)
  file.writeBigUInt64BE(BigInt(3 * cluster), 40)
  file.writeBigUInt64BE(BigInt(cluster), 48)
  file.writeUInt32BE(1, 56)
  file.writeUInt32BE(4, 96)
  file.writeUInt32BE(104, 100)
  spoil(file)
  return file
}
