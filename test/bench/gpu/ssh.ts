// A container instance until its first command by SSH, by the agent's drivers beside Podman and SSH by hand: both with
// a file system for /workspace, user ids of their own, few rights, limits and a mapped port. Then SSH's throughput
// beside that of a plain connection. As root, with Podman; the image is on the host already, cards are none.
//
//   bun test/bench/gpu/ssh.ts [--runs 10] [--mb 512]

import { chmodSync, copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { HostAccess } from '../../../agent/drivers/access/host-access.ts'
import { uidBase } from '../../../agent/drivers/container/ids.ts'
import { PodmanContainers } from '../../../agent/drivers/container/podman/podman.ts'
import { FilePool } from '../../../agent/drivers/storage/file.ts'
import { Ext4Workspaces } from '../../../agent/drivers/workspace/ext4.ts'
import { containerOf } from '../../agent/instances/examples.ts'
import { openRegistry } from '../../drivers/containers/registry.ts'
import { enterOwnMounts, enterOwnNetwork } from '../../drivers/namespace.ts'
import { newKey, run, sshOptions } from '../../support/guest.ts'
import { closeOpened } from '../../support/opened.ts'
import { tempDir } from '../cleanup.ts'
import { flags, goal, median, ms, percentile, round, say, table } from '../words.ts'

const { runs, mb } = flags('A container instance until its first command by SSH, beside Podman by hand.', {
  runs: 10,
  mb: 512,
})
const GOAL = 1.15
const WORKSPACE_BYTES = 256 * 2 ** 20
const CAPABILITIES = 'CHOWN,DAC_OVERRIDE,FOWNER,FSETID,SETUID,SETGID,KILL,NET_BIND_SERVICE,SYS_CHROOT'

if (!enterOwnNetwork() || !enterOwnMounts()) throw new Error('this bench needs root')
await Bun.$`ip link set lo up`.quiet()
chmodSync(tempDir, 0o711)
const key = await newKey()
const image = { id: `gim_${'0'.repeat(26)}`, mostBytes: 1e9 }

// ---------------------------------------------------------------- the agent's drivers
const registry = await openRegistry()
const containers = new PodmanContainers({
  dir: join(tempDir, 'lib'),
  runDir: join(tempDir, 'run'),
  minimum: { podman: '4.3', crun: '1.8', cgroup: 'v1' },
  serviceSocket: join(tempDir, 'none.sock'),
  localRegistries: [registry.host],
  cgroup: `berth-bench-${process.pid}`,
})
const access = new HostAccess(tempDir)
const workspaces = new Ext4Workspaces([new FilePool('local', join(tempDir, 'pool'))])
await containers.ensureImage({ ...image, reference: registry.reference }, undefined)

const numberOf = (n: number) => 3000 + n
const instance = (n: number) =>
  containerOf(numberOf(n), {
    image: image.id,
    authorizedKeys: [key.publicKey],
    ports: [{ container: 22, host: 21_000 + n }],
    memoryMb: 512,
  })

/** The steps of a job, in its order. Answers the address. */
async function byDrivers(n: number): Promise<string> {
  const container = instance(n)
  const { workload, number } = container
  await workspaces.create(workload, number, WORKSPACE_BYTES)
  const workspace = await workspaces.ready(workload)
  const fittings = await access.fit(container, undefined)
  await containers.create(container, { ...fittings, workspace, devices: [] })
  await workspaces.ready(workload)
  await access.open()
  await containers.start(workload)
  await access.started(workload)
  return fittings.network.address
}

async function removeInstance(n: number) {
  const { workload } = instance(n)
  await containers.remove(workload)
  await access.remove(workload)
  await workspaces.remove(workload)
  await access.forget(workload)
}

// ---------------------------------------------------------------- by hand
const hand = join(tempDir, 'hand')
const network = `hand-${process.pid}`
const podman = ['podman', '--root', join(hand, 'storage'), '--runroot', join(hand, 'run')]
podman.push('--cgroup-manager', 'cgroupfs', '--network-config-dir', join(hand, 'networks'))

/** An image that brings the same SSH server, with the key in it. */
async function prepareByHand() {
  const root = join(hand, 'root')
  for (const directory of ['bin', 'etc', 'root/.ssh', '.berth', 'tmp', 'workspace', 'networks'])
    mkdirSync(join(directory === 'networks' ? hand : root, directory), { recursive: true })
  await access.fit(instance(999), undefined)
  await Bun.$`cp -a ${tempDir}/ssh-kit/$(ls ${tempDir}/ssh-kit)/lib ${root}/.berth/`.quiet()
  await Bun.$`dropbearkey -t ed25519 -f ${root}/etc/host_key`.quiet()
  await access.forget(instance(999).workload)
  copyFileSync('/bin/busybox', join(root, 'bin/busybox'))
  await Bun.$`ln -s busybox ${root}/bin/sh && ln -s busybox ${root}/bin/cat`.quiet()
  await Bun.write(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n')
  await Bun.write(join(root, 'root/.ssh/authorized_keys'), `${key.publicKey}\n`)
  await Bun.$`tar --owner=0 --group=0 -cf ${hand}/image.tar -C ${root} .`.quiet()
  await Bun.$`${podman} import -q ${hand}/image.tar localhost/ssh`.quiet()
  await Bun.$`${podman} network create --subnet 10.99.0.0/24 ${network}`.quiet()
}

async function byHand(n: number): Promise<string> {
  const [name, file, base] = [`hand-${n}`, join(hand, `${n}.ext4`), uidBase(numberOf(n))]
  await Bun.$`fallocate -l ${WORKSPACE_BYTES} ${file}`.quiet()
  await Bun.$`mke2fs -q -t ext4 -E nodiscard,root_owner=${base}:${base} ${file}`.quiet()
  const mount = ['--opt', 'type=ext4', '--opt', `device=${file}`, '--opt', 'o=loop,nosuid,nodev']
  await Bun.$`${podman} volume create ${mount} ${name}`.quiet()
  const address = `10.99.0.${10 + n}`
  const how = ['--uidmap', `0:${base}:65536`, '--gidmap', `0:${base}:65536`, '--cap-drop', 'ALL']
  how.push(
    '--cap-add',
    CAPABILITIES,
    '--security-opt',
    'no-new-privileges',
    '--memory',
    '512m',
    '--cpus',
    '1',
    '--init',
  )
  how.push('--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=1024:1024', '--log-driver', 'k8s-file')
  how.push(
    '--network',
    `${network}:ip=${address}`,
    '--publish',
    `${22_000 + n}:22`,
    '--volume',
    `${name}:/workspace:nocopy`,
  )
  const server = ['/.berth/lib/dropbear', '-F', '-s', '-W', '2097152', '-r', '/etc/host_key']
  await Bun.$`${podman} run -d --name ${name} ${how} localhost/ssh ${server}`.quiet()
  return address
}

async function removeByHand(n: number) {
  // The engine's own cleaning up may still be under way.
  for (const what of [
    ['rm', '-f', '-t', '0'],
    ['volume', 'rm', '-f'],
  ])
    while ((await Bun.$`${podman} ${what} hand-${n}`.quiet().nothrow()).exitCode) await Bun.sleep(100)
  await Bun.$`rm ${hand}/${n}.ext4`.quiet()
}

// ---------------------------------------------------------------- measuring
const ssh = (address: string, command: string) => ['ssh', ...sshOptions, '-i', key.path, `root@${address}`, command]

/** Milliseconds until a command by SSH has answered. */
async function untilSsh(make: (n: number) => Promise<string>, n: number) {
  const began = performance.now()
  const address = await make(n)
  const started = performance.now() - began
  while ((await run(ssh(address, 'echo ready'))).out !== 'ready') await Bun.sleep(10)
  return { started, ready: performance.now() - began }
}

/** Megabytes a second of a command that moves `mb` MiB. */
async function throughput(command: string): Promise<number> {
  const took: number[] = []
  for (let i = 0; i < 3; i++) {
    const began = performance.now()
    const { code, error } = await run(['bash', '-c', command])
    if (code) throw new Error(`${command}: ${error}`)
    took.push((performance.now() - began) / 1000)
  }
  return (mb * 2 ** 20) / 1e6 / median(took)
}

try {
  await prepareByHand()
  const took = { drivers: [], hand: [] } as Record<'drivers' | 'hand', { started: number; ready: number }[]>
  const sides = {
    drivers: { make: byDrivers, remove: removeInstance },
    hand: { make: byHand, remove: removeByHand },
  }
  for (let n = 0; n <= runs; n++)
    for (const side of n % 2 ? (['drivers', 'hand'] as const) : (['hand', 'drivers'] as const)) {
      const one = await untilSsh(sides[side].make, n)
      await sides[side].remove(n)
      // The first ones fill caches.
      if (n > 0) took[side].push(one)
    }
  const of = (side: 'drivers' | 'hand', what: 'started' | 'ready') => median(took[side].map((one) => one[what]))
  const row = (words: string, what: 'started' | 'ready') => [
    words,
    ms(of('drivers', what)),
    ms(of('hand', what)),
    round(of('drivers', what) / of('hand', what), 2),
  ]
  table(
    ['', 'drivers', 'by hand', 'ratio'],
    [row('order to started container', 'started'), row('order to first command by SSH', 'ready')],
  )
  const worst = (side: 'drivers' | 'hand') =>
    ms(
      percentile(
        took[side].map(({ ready }) => ready),
        90,
      ),
    )
  say(`nine of ten within ${worst('drivers')}, and ${worst('hand')} by hand`)
  say(goal(of('drivers', 'ready') / of('hand', 'ready') <= GOAL, `at most ${GOAL} times as long:`))

  const address = await byDrivers(0)
  const words = (command: string) => ssh(address, `'${command}'`).join(' ')
  while ((await run(ssh(address, 'echo ready'))).out !== 'ready') await Bun.sleep(10)
  const zeros = `head -c ${mb * 2 ** 20} /dev/zero`
  const plain = { up: '/bin/cat >/dev/null', down: zeros }
  const servers = Object.values(plain).map((command, i) =>
    Bun.spawn(ssh(address, `exec nc -ll -p ${7000 + i} -e /bin/sh -c '${command}'`), { stdout: 'ignore' }),
  )
  await Bun.sleep(1000)
  const up = await throughput(`${zeros} | ${words('cat >/dev/null')}`)
  const down = await throughput(`${words(zeros)} >/dev/null`)
  const plainUp = await throughput(`${zeros} >/dev/tcp/${address}/7000`)
  const plainDown = await throughput(`cat </dev/tcp/${address}/7001 >/dev/null`)
  for (const server of servers) server.kill()
  table(
    ['MB/s', 'SSH', 'plain connection'],
    [
      ['to the instance', round(up), round(plainUp)],
      ['from the instance', round(down), round(plainDown)],
    ],
  )
  await removeInstance(0)
} catch (error) {
  say(String(error instanceof Bun.$.ShellError ? error.stderr : error))
  process.exitCode = 1
} finally {
  for (const { id } of await containers.look()) await containers.remove(id)
  containers.close()
  await Bun.$`${podman} rm -af -t 0; ${podman} system reset -f`.quiet().nothrow()
  for (const line of readFileSync('/proc/self/mounts', 'utf8').split('\n').toReversed())
    if (line.split(' ')[1]?.startsWith(tempDir)) await Bun.$`umount -l ${line.split(' ')[1]}`.quiet().nothrow()
  closeOpened()
}
process.exit()
