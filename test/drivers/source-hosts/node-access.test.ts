// Node access to real source hypervisors: their SSH servers, root's keys and passwords.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type JobLog, loggingTo } from '../../../agent/controller-link/job-log.ts'
import { SshSourceHosts } from '../../../agent/drivers/source-host/ssh-source-hosts.ts'
import { importKeyLine, manualKeyCommand, type SourceHost } from '../../../agent/protocol/values/source-hosts.ts'
import { temporary } from '../../agent/temporary.ts'
import { noSourceLab, ROOT_PASSWORD, type SourceHypervisor, sourceLab } from '../../support/source-hypervisors/lab.ts'
import { enterNetwork } from '../namespace.ts'
import { note } from '../tools.ts'

const KEYS = '/root/.ssh/authorized_keys'
const PANEL_KEY = 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQDcontrol root@master.example.com'
const nodeId = (n: number) => `nod_${String(n).padStart(26, '0')}`

describe.skipIf(note(await noSourceLab(), 'node access to source hypervisors'))('node access', () => {
  let lab: Awaited<ReturnType<typeof sourceLab>>
  let source: SourceHypervisor
  let host: SourceHost
  let leave = () => {}
  const dirs = [temporary('source-node-1'), temporary('source-node-2')].map((dir) => join(dir, 'source-hosts'))
  const [one, two] = dirs.map((dir) => new SshSourceHosts(dir)) as [SshSourceHosts, SshSourceHosts]

  beforeAll(async () => {
    lab = await sourceLab(['a'])
    source = lab.hypervisors[0]!
    host = source.host
    leave = enterNetwork(lab.nodes)
  }, 60_000)
  afterAll(async () => {
    leave()
    await lab?.end()
  })

  const keys = async (from: string[] = []) => [
    { nodeId: nodeId(1), publicKey: await one.key(), from },
    { nodeId: nodeId(2), publicKey: await two.key(), from },
  ]
  const adding = async (more: { password?: string; host?: SourceHost; from?: string[] } = {}) => ({
    host,
    password: ROOT_PASSWORD,
    ...more,
    keys: await keys(more.from),
  })
  /** Root's keys are this text, with this mode. */
  const keysAre = (text: string, mode = '600') => source.write(KEYS, text, mode)

  test('the node’s key is made once, and its private half is for root alone', async () => {
    expect(await one.key()).toMatch(/^ssh-ed25519 [A-Za-z0-9+/]{68}$/)
    expect(await new SshSourceHosts(dirs[0]!).key()).toBe(await one.key())
    expect(await two.key()).not.toBe(await one.key())
    expect(statSync(join(dirs[0]!, 'key')).mode & 0o777).toBe(0o600)
    expect(statSync(dirs[0]!).mode & 0o777).toBe(0o700)
  })

  test('could not log in over SSH (key missing on the source)', async () => {
    await source.must('rm', '-rf', '/root/.ssh')
    const { hostKey, ...looked } = await one.look(host)
    expect(looked).toMatchObject({ login: 'refused', facts: null })
    expect(looked.refusal).toContain('Permission denied')
    const shown = (await source.read('/etc/ssh/ssh_host_ed25519_key.pub')).split(' ').slice(0, 2).join(' ')
    expect(hostKey).toBe(shown)
    expect(one.servers(host, [{ domain: 'v1001' }])).rejects.toMatchObject({ code: 'source_login_refused' })
  })

  test('signs in once on SSH port 22 and adds every copying node’s key, without duplicates', async () => {
    const before = source.sshLog()
    expect(await one.addKeys(await adding())).toMatchObject({ added: 2, present: 0 })
    expect(
      source
        .sshLog()
        .slice(before.length)
        .match(/Accepted password/g),
    ).toHaveLength(1)
    expect(await source.read(KEYS)).toBe((await keys()).map((key) => `${importKeyLine(key)}\n`).join(''))
    expect((await source.must('stat', '-c', '%a %U', KEYS, '/root/.ssh')).trim()).toBe('600 root\n700 root')
    for (const node of [one, two]) expect(await node.look(host)).toMatchObject({ login: 'accepted', refusal: null })
    expect(await one.addKeys(await adding())).toMatchObject({ added: 0, present: 2 })
    expect((await source.read(KEYS)).trim().split('\n')).toHaveLength(2)
  })

  test('what stands in the file stays, also a last line without an end', async () => {
    await keysAre(PANEL_KEY, '640')
    expect(await one.addKeys(await adding())).toMatchObject({ added: 2, present: 0 })
    const [panel, ...added] = (await source.read(KEYS)).trim().split('\n')
    expect([panel, added]).toEqual([PANEL_KEY, (await keys()).map(importKeyLine)])
    expect((await source.must('stat', '-c', '%a', KEYS)).trim()).toBe('640')
  })

  test('a key that the operator added is there once, and stays as it is', async () => {
    const own = `${await one.key()} root@node-1`
    await keysAre(`${PANEL_KEY}\n${own}\n`)
    expect(await one.addKeys(await adding())).toMatchObject({ added: 1, present: 1 })
    expect((await source.read(KEYS)).split('\n').slice(0, 2)).toEqual([PANEL_KEY, own])
  })

  test('a key works from the addresses of its node alone, and other addresses replace the line', async () => {
    await keysAre(`${PANEL_KEY}\n`)
    await one.addKeys(await adding({ from: ['10.79.0.99'] }))
    expect(await one.look(host)).toMatchObject({ login: 'refused' })
    expect(await one.addKeys(await adding({ from: ['10.79.0.1', '2001:db8::1'] }))).toMatchObject({ added: 2 })
    expect((await source.read(KEYS)).trim().split('\n')).toHaveLength(3)
    expect(await one.look(host)).toMatchObject({ login: 'accepted' })
    const forwards = await source.read(KEYS)
    expect(forwards).toContain('from="10.79.0.1,2001:db8::1",no-agent-forwarding,no-port-forwarding,no-pty')
  })

  test('the lines of an import are removed again, and nothing else', async () => {
    await keysAre(`${PANEL_KEY}\n\n# ${nodeId(1)}\n`)
    await one.addKeys(await adding())
    expect(await one.removeKeys(host, [nodeId(2), nodeId(1)])).toEqual({ removed: 2 })
    expect(await source.read(KEYS)).toBe(`${PANEL_KEY}\n\n# ${nodeId(1)}\n`)
    expect(await one.removeKeys(host, [nodeId(1)])).toEqual({ removed: 0 })
  })

  test('run the one command shown, as root, on each source hypervisor', async () => {
    await keysAre(PANEL_KEY)
    const command = manualKeyCommand(await keys(['10.79.0.1']))
    for (let n = 0; n < 2; n++) await source.must('sh', '-c', command)
    expect((await source.read(KEYS)).split('\n').filter(Boolean)).toEqual([
      PANEL_KEY,
      ...(await keys(['10.79.0.1'])).map(importKeyLine),
    ])
    expect(await two.look(host)).toMatchObject({ login: 'accepted' })
  })

  test('root password not accepted (wrong password or root password login disabled)', async () => {
    await keysAre(PANEL_KEY)
    const refused = async (code: string, more: { password?: string } = {}) =>
      expect(await one.addKeys(await adding(more)).catch((error) => error)).toMatchObject({ code })
    try {
      await refused('source_password_refused', { password: 'wrong' })
      await refused('source_password_refused', { password: 'two\nlines' })
      await source.configureSsh('PermitRootLogin prohibit-password')
      await refused('source_password_refused')
      await source.configureSsh('PasswordAuthentication no', 'KbdInteractiveAuthentication no')
      await refused('source_password_disabled')
    } finally {
      await source.configureSsh()
    }
    expect(await source.read(KEYS)).toBe(PANEL_KEY)
  })

  test('a server that asks in dialogs is answered once, and a wrong password does not hang', async () => {
    await keysAre(PANEL_KEY)
    try {
      await source.configureSsh('KbdInteractiveAuthentication yes', 'UsePAM yes')
      const began = performance.now()
      expect(one.addKeys(await adding({ password: 'wrong' }))).rejects.toMatchObject({
        code: 'source_password_refused',
      })
      expect(performance.now() - began).toBeLessThan(15_000)
    } finally {
      await source.configureSsh()
    }
  })

  test('a file that cannot be written is told', async () => {
    await keysAre(PANEL_KEY)
    await source.must('mount', '--bind', '-o', 'ro', '/root/.ssh', '/root/.ssh')
    try {
      const error = await one.addKeys(await adding()).catch((cause) => cause)
      expect(error).toMatchObject({ code: 'source_keys_not_written' })
      expect(error.message).toContain('Read-only file system')
    } finally {
      await source.must('umount', '/root/.ssh')
    }
    expect(await source.read(KEYS)).toBe(PANEL_KEY)
  })

  test('the keys go where the SSH server of the source reads them', async () => {
    await keysAre(PANEL_KEY)
    try {
      await source.configureSsh('AuthorizedKeysFile /etc/ssh/keys/%u .ssh/authorized_keys')
      expect(await one.addKeys(await adding())).toMatchObject({ added: 2 })
      expect(await one.look(host)).toMatchObject({ login: 'accepted' })
      expect(await source.read(KEYS)).toBe(PANEL_KEY)
    } finally {
      await source.configureSsh()
    }
  })

  test('a source that has another host key than at the first contact is refused', async () => {
    await one.addKeys(await adding())
    const { hostKey } = await one.look(host)
    const pinned = { ...host, hostKey }
    expect(await one.look(pinned)).toMatchObject({ login: 'accepted', hostKey })
    await source.must('mv', '/etc/ssh/ssh_host_ed25519_key', '/etc/ssh/kept')
    await source.must('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', '/etc/ssh/ssh_host_ed25519_key')
    try {
      await source.configureSsh()
      const before = source.sshLog().length
      for (const attempt of [
        async () => one.look(pinned),
        async () => one.servers(pinned, [{ domain: 'v1' }]),
        async () => one.addKeys(await adding({ host: pinned })),
      ])
        expect(await attempt().catch((error) => error)).toMatchObject({ code: 'source_host_key_changed' })
      expect(source.sshLog().slice(before)).not.toContain('Accepted')
    } finally {
      await source.must('mv', '/etc/ssh/kept', '/etc/ssh/ssh_host_ed25519_key')
      await source.configureSsh()
    }
  })

  test('a source that speaks only what is too old for this node, and one where nobody listens', async () => {
    try {
      await source.configureSsh('KexAlgorithms diffie-hellman-group1-sha1')
      expect(await one.look(host).catch((error) => error)).toMatchObject({ code: 'source_ssh_too_old' })
    } finally {
      await source.configureSsh()
    }
    expect(await one.look({ ...host, port: 23 }).catch((error) => error)).toMatchObject({ code: 'source_unreachable' })
  })

  test('the password is in no argument, no environment, no file and no line of a log', async () => {
    await keysAre(PANEL_KEY)
    const lines: string[] = []
    const log: JobLog = { line: (_, text) => lines.push(text), progress: () => {} }
    const seen: string[] = []
    let isOver = false
    const watching = (async () => {
      for (; !isOver; await Bun.sleep(5)) seen.push(...processTexts(), ...textsIn(dirs[0]!))
    })()
    const error = await loggingTo(log, async () => {
      await one.addKeys(await adding())
      return one.addKeys(await adding({ password: `${ROOT_PASSWORD} and more` })).catch((cause) => String(cause))
    })
    isOver = true
    await watching
    expect(seen.some((text) => text.includes('SSH_ASKPASS='))).toBeTrue()
    expect(lines.some((text) => text.includes('ssh'))).toBeTrue()
    expect([...seen, ...lines, error, source.sshLog()].join('\n').includes(ROOT_PASSWORD)).toBeFalse()
    expect(readdirSync(join(dirs[0]!, 'sessions'))).toEqual([])
  })
})

/** The arguments and the environment of every process but this one. */
const processTexts = () =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => [textOf(`/proc/${pid}/cmdline`), textOf(`/proc/${pid}/environ`)])
/** Pipes hold what is in the kernel alone, and reading one would take it away. */
const textsIn = (dir: string): string[] =>
  existsSync(dir)
    ? readdirSync(dir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => textOf(join(entry.parentPath, entry.name)))
    : []
function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
