// Instances on real Podman as their owner sees them: SSH in images of three kinds, keys, files, ports, an address of
// their own, and what they cannot reach. The test has a network of its own, with an outside that is the internet.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { networkOf } from '../../../agent/drivers/access/addresses.ts'
import { HostAccess } from '../../../agent/drivers/access/host-access.ts'
import { missingPackages } from '../../../agent/drivers/access/kit.ts'
import { FilePool } from '../../../agent/drivers/storage/file.ts'
import { Ext4Workspaces } from '../../../agent/drivers/workspace/ext4.ts'
import { run as runTool } from '../../../agent/host/exec.ts'
import type { Container } from '../../../agent/protocol/gpu.ts'
import { containerOf, instanceId } from '../../agent/instances/examples.ts'
import { TestEngine } from '../../support/containers/engine.ts'
import { type ImageKind, idleCommands, imageKinds } from '../../support/containers/root-file-systems.ts'
import { must, newKey, run, sshOptions } from '../../support/guest.ts'
import { Spaces } from '../../support/nodes/nodes.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { enterNetwork, enterOwnMounts, enterOwnNetwork } from '../namespace.ts'
import { note } from '../tools.ts'

const absent = ['podman', 'crun', 'nft', 'ssh', 'scp', 'sftp', 'rsync'].filter((program) => !Bun.which(program))
const reason =
  (process.getuid?.() === 0 ? undefined : 'not root') ??
  (absent.length ? `no ${absent.join(', ')}` : undefined) ??
  (missingPackages().length ? `no ${missingPackages().join(', ')}` : undefined)

const MiB = 2 ** 20
const HOST = '203.0.113.1'
const OUTSIDE = '203.0.113.254'
const INTERNET = '198.51.100.7'
const PRIVATE = '192.168.77.7'
const METADATA = '169.254.169.254'
const OWN = '203.0.113.50'
const numberOf: Record<ImageKind, number> = { glibc: 1, busybox: 2, static: 3 }
const SSH_PORT = 20_001

describe.skipIf(note(reason, 'instances on Podman'))('instances on Podman', () => {
  const spaces = new Spaces(`bi${process.pid}`)
  const leaves: ((() => void) | undefined)[] = []
  let dir: string
  let engine: TestEngine
  let access: HostAccess
  let workspaces: Ext4Workspaces
  let key: Awaited<ReturnType<typeof newKey>>
  let other: Awaited<ReturnType<typeof newKey>>
  const listeners: { stop(now?: boolean): void }[] = []

  const start = async (
    image: ImageKind,
    container: Container,
    given: Partial<Parameters<TestEngine['start']>[0]> = {},
    token?: string,
  ) => {
    const { workload: name, number } = container
    const fittings = await access.fit(container, token)
    await access.open()
    engine.start({ name, number, image, fittings, command: idleCommands[image], ...given })
    await access.started(name)
    await eventually(() => access.answers(name))
  }
  const options = (with_ = key) => [...sshOptions, '-o', 'BatchMode=yes', '-i', with_.path]
  const to = (n: number) => `root@${networkOf(n).address}`
  const ssh = (n: number, command: string, with_ = key) => run(['ssh', ...options(with_), to(n), command])
  const inside = (n: number, ...command: string[]) => engine.inside(instanceId(n), command)
  /** All that a TCP connection from the host brings within two seconds. */
  const lineFrom = async (address: string, port: number) =>
    (await run(['bash', '-c', `exec 3<>/dev/tcp/${address}/${port} && timeout 2 cat <&3`])).out
  /** Does a TCP connection from the instance get a greeting? */
  const reaches = async (n: number, address: string, port: number) =>
    (await inside(
      n,
      '/.berth/bin/sh',
      '-c',
      `nc -w 1 ${address} ${port} </dev/null 2>/dev/null | grep -qE "hello|SSH-"`,
    )) === 0

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'berth-test-instances-'))
    chmodSync(dir, 0o711)
    ;[key, other] = await Promise.all([newKey(), newKey()])
    leaves.push(enterOwnNetwork(), enterOwnMounts())
    await spaces.add('outside')
    const outside = (...words: string[]) => spaces.ip('outside', ...words)
    await runTool('ip', ['link', 'set', 'lo', 'up'])
    await runTool('ip', ['link', 'add', 'up0', 'type', 'veth', 'peer', 'name', 'out0', 'netns', spaces.ns('outside')])
    await runTool('ip', ['address', 'add', `${HOST}/24`, 'dev', 'up0'])
    await runTool('ip', ['link', 'set', 'up0', 'up'])
    await runTool('ip', ['route', 'add', 'default', 'via', OUTSIDE])
    await outside('address', 'add', `${OUTSIDE}/24`, 'dev', 'out0')
    await outside('link', 'set', 'out0', 'up')
    for (const address of [INTERNET, PRIVATE, METADATA]) await outside('address', 'add', `${address}/32`, 'dev', 'lo')
    const hello = { open: (socket: Bun.Socket) => void socket.end(`hello ${socket.remoteAddress}\n`), data() {} }
    const back = enterNetwork(`/run/netns/${spaces.ns('outside')}`)
    for (const port of [80, 25]) listeners.push(Bun.listen({ hostname: '0.0.0.0', port, socket: hello }))
    back()
    listeners.push(Bun.listen({ hostname: '0.0.0.0', port: 80, socket: hello }))
    engine = new TestEngine()
    for (const kind of imageKinds) engine.import(kind)
    access = new HostAccess(dir)
    workspaces = new Ext4Workspaces([new FilePool('local', join(dir, 'pool'))], MiB)
    await workspaces.create(instanceId(1), 1, 32 * MiB)
    for (const kind of imageKinds) {
      const n = numberOf[kind]
      const ports = [{ container: 22, host: SSH_PORT + n }]
      const container = containerOf(n, { authorizedKeys: [key.publicKey], ports, address: n === 2 ? OWN : null })
      const workspace = n === 1 ? await workspaces.ready(instanceId(1)) : undefined
      const environment = { PATH: '/opt/tools:/usr/bin:/bin', LD_PRELOAD: '/nowhere.so' }
      await start(kind, container, { environment, ...(workspace && { workspace }) })
    }
  }, 60_000)

  afterAll(async () => {
    for (const one of [key, other]) one?.remove()
    for (const listener of listeners) listener.stop(true)
    engine?.close()
    await spaces.remove()
    for (const leave of leaves.reverse()) leave?.()
    if (dir) rmSync(dir, { recursive: true, force: true })
  }, 60_000)

  for (const kind of imageKinds) {
    const n = numberOf[kind]
    test(`${kind}: a command, its exit code, and the environment of the image`, async () => {
      expect(await ssh(n, 'echo $((6 * 7)); exit 7')).toMatchObject({ out: '42', code: 7 })
      expect((await ssh(n, 'echo $PATH $LD_PRELOAD')).out).toBe('/opt/tools:/usr/bin:/bin:/.berth/bin /nowhere.so')
      expect((await run(['ssh', '-tt', ...options(), to(n), 'test -t 0 && echo a terminal'])).out).toContain(
        'a terminal',
      )
    })
    test(`${kind}: files by scp, sftp and rsync, there and back`, async () => {
      const files = mkdtempSync(join(dir, 'files-'))
      const content = Buffer.from(crypto.getRandomValues(new Uint8Array(60_000)))
      writeFileSync(join(files, 'sent'), content)
      const received = (name: string) => readFileSync(join(files, name)).equals(content)
      for (const how of [[], ['-O']]) {
        await must('scp', '-q', ...how, ...options(), join(files, 'sent'), `${to(n)}:/tmp/a`)
        await must('scp', '-q', ...how, ...options(), `${to(n)}:/tmp/a`, join(files, 'by-scp'))
        expect(received('by-scp')).toBe(true)
        rmSync(join(files, 'by-scp'))
      }
      writeFileSync(join(files, 'batch'), `rename /tmp/a /tmp/b\nget /tmp/b ${files}/by-sftp\n`)
      await must('sftp', '-q', ...options(), '-b', join(files, 'batch'), to(n))
      const shell = ['ssh', ...options()].join(' ')
      await must('rsync', '-e', shell, join(files, 'sent'), `${to(n)}:/tmp/c`)
      await must('rsync', '-e', shell, `${to(n)}:/tmp/c`, join(files, 'by-rsync'))
      expect([received('by-sftp'), received('by-rsync')]).toEqual([true, true])
    })
    test(`${kind}: a forwarded port reaches a program that is not published`, async () => {
      const server = Bun.spawn(['ssh', ...options(), to(n), 'echo hello | /.berth/bin/nc -l -p 7000'])
      const port = 30_000 + n
      const forward = Bun.spawn([
        'ssh',
        ...options(),
        '-N',
        '-o',
        'ExitOnForwardFailure=yes',
        '-L',
        `${port}:127.0.0.1:7000`,
        to(n),
      ])
      let answer = ''
      await eventually(async () => (answer = await lineFrom('127.0.0.1', port)) !== '')
      expect(answer).toBe('hello')
      for (const child of [forward, server]) child.kill()
    })
  }

  test('a mapped port of the host leads to the instance, from the outside and from the host', async () => {
    const words = ['ssh', ...options(), '-p', `${SSH_PORT + 1}`, `root@${HOST}`, 'cat /proc/sys/kernel/hostname']
    for (const prefix of [spaces.inside('outside'), []])
      expect(await run([...prefix, ...words])).toMatchObject({ code: 0, out: instanceId(1) })
    const refused = await run([
      ...spaces.inside('outside'),
      'ssh',
      ...options(),
      '-p',
      '22',
      '-o',
      'ConnectTimeout=1',
      to(1),
      'true',
    ])
    expect(refused.code).toBe(255)
  })

  test('an own address leads to the instance with all of its ports, and its connections come from it', async () => {
    const words = ['ssh', ...options(), `root@${OWN}`]
    expect((await run([...spaces.inside('outside'), ...words, 'echo $SSH_CONNECTION'])).out).toStartWith(OUTSIDE)
    expect((await run([...words, 'echo from the host'])).out).toBe('from the host')
    expect((await ssh(2, `/.berth/bin/nc -w 1 ${INTERNET} 80 </dev/null`)).out).toBe(`hello ${OWN}`)
    expect((await ssh(1, `/.berth/bin/nc -w 1 ${INTERNET} 80 </dev/null`)).out).toBe(`hello ${HOST}`)
    // No service of the host is there.
    expect((await run([...spaces.inside('outside'), 'bash', '-c', `exec 3<>/dev/tcp/${OWN}/80`])).code).toBe(1)
  })

  test('S44: an instance reaches the internet, and no host, instance, private network or mail server', async () => {
    // All of these are there: the host reaches them.
    for (const [address, port] of [[PRIVATE], [METADATA], [INTERNET, 25], [HOST]] as const)
      expect(await lineFrom(address, port ?? 80)).toStartWith('hello')
    expect(await lineFrom(networkOf(2).address, 22)).toStartWith('SSH-')
    const tried = await Promise.all(
      (
        [
          [INTERNET, 80],
          [HOST, 80],
          [networkOf(1).gateway, 80],
          [networkOf(2).address, 22],
          [PRIVATE, 80],
          [METADATA, 80],
          [INTERNET, 25],
        ] as const
      ).map(async ([address, port]) => [address, port, await reaches(1, address, port)] as const),
    )
    expect(tried.filter(([, , isReached]) => isReached)).toEqual([[INTERNET, 80, true]])
    // Another program removes the rules, and they come back.
    await runTool('nft', ['flush', 'ruleset'])
    expect(await access.ensure()).toBe(true)
    expect(await access.ensure()).toBe(false)
    expect(await reaches(1, HOST, 80)).toBe(false)
  })

  test('keys are in force at once, and the sessions of a removed key end', async () => {
    await access.setKeys(instanceId(1), [key.publicKey, other.publicKey])
    const session = (with_: typeof key) =>
      Bun.spawn(['ssh', ...options(with_), to(1), 'echo on; sleep 60'], { stdout: 'pipe' })
    const [stays, ends] = [session(key), session(other)]
    for (const { stdout } of [stays, ends]) await stdout.getReader().read()
    await access.setKeys(instanceId(1), [key.publicKey], (command) => engine.inside(instanceId(1), command))
    expect(await ends.exited).not.toBe(0)
    expect(stays.exitCode).toBeNull()
    expect((await ssh(1, 'true', other)).code).toBe(255)
    expect((await ssh(1, 'true')).code).toBe(0)
    stays.kill()
  })

  test('the workspace has its quota, and outlives the container with the host key', async () => {
    expect((await ssh(1, 'dd if=/dev/zero of=/workspace/big bs=1M count=64 2>&1; rm /workspace/big')).out).toContain(
      'No space left',
    )
    await ssh(1, 'echo kept > /workspace/file')
    const mounts = (await ssh(1, 'cat /proc/mounts')).out
    expect(mounts).toMatch(/ \/workspace ext4 rw,nosuid,nodev/)
    expect(mounts).toMatch(/ \/\.berth \S+ ro,/)
    await expect(workspaces.remove(instanceId(1))).rejects.toMatchObject({ code: 'workspace_busy' })
    const hostKey = async () => (await must('ssh-keyscan', '-t', 'ed25519', networkOf(1).address)).split(' ')[2]
    const before = await hostKey()
    engine.remove(instanceId(1))
    const container = containerOf(1, { authorizedKeys: [key.publicKey] })
    const workspace = await workspaces.ready(instanceId(1))
    // The image's user has the workspace, and a shell without a terminal does not end the instance.
    await start('busybox', container, { workspace, user: 'worker', command: ['sh'] }, 'a-token')
    expect((await ssh(1, 'cat /workspace/file')).out).toBe('kept')
    expect(await hostKey()).toBe(before)
    expect((await ssh(1, 'stat -c %U /workspace')).out).toBe('worker')
    expect((await ssh(1, 'ps -o user,args')).out).toMatch(/worker +\S*tail -f/)
    engine.remove(instanceId(1))
    await workspaces.remove(instanceId(1))
    await access.forget(instanceId(1))
    expect(existsSync(join(dir, 'instances', instanceId(1)))).toBe(false)
  })

  test('Jupyter starts with its token, which stands in no argument', async () => {
    const jupyter = join(dir, 'jupyter')
    mkdirSync(jupyter, { recursive: true })
    writeFileSync(
      join(jupyter, 'jupyter-lab'),
      [
        '#!/bin/sh',
        'config=$(echo "$1" | cut -d= -f2)',
        'while :; do (id -un; pwd; grep "^c.ServerApp.token" "$config") | nc -l -p 8888; done\n',
      ].join('\n'),
    )
    chmodSync(join(jupyter, 'jupyter-lab'), 0o755)
    const fittings = await access.fit(containerOf(9, { authorizedKeys: [key.publicKey] }), 'very-secret')
    const mounts = [...fittings.mounts, { source: jupyter, target: '/opt/jupyter', readOnly: true }]
    const environment = { PATH: '/opt/jupyter:/bin' }
    engine.start({
      name: instanceId(9),
      number: 9,
      image: 'busybox',
      user: '1000:1000',
      fittings: { ...fittings, mounts },
      command: ['sh', '-c', 'jupyter notebook --ip 0.0.0.0'],
      environment,
    })
    let answer = ''
    await eventually(async () => (answer = await lineFrom(networkOf(9).address, 8888)) !== '')
    expect(answer).toBe('worker\n/\nc.ServerApp.token = "very-secret"')
    const all = (await ssh(9, 'cat /proc/[0-9]*/cmdline /proc/1/environ | tr "\\0" " "')).out
    expect(all).toContain('jupyter-lab --config=')
    // The image's own Jupyter is not started beside it.
    expect(all).toContain('tail -f /dev/null')
    expect(all).not.toContain('very-secret')
    engine.remove(instanceId(9))
    await access.forget(instanceId(9))
  })
})
