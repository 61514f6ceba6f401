// This machine as a host with two cards, as far as processes of this test see it: the programs and libraries of
// NVIDIA's driver, its folder in /proc, its devices and its list of devices for containers. All of it is in mounts of
// the test's own, so that nothing of it is left, and a host that starts again is one whose mounts are emptied.
// The engine is a service beside the agent, as on a host with systemd; what stands in for files of the kernel is seen
// by the agent alone, because the kernel lets a container with user ids of its own have no /proc that is covered.
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import type { Subprocess } from 'bun'
import { H100, OTHER_UUID, report, UUID } from '../../drivers/cards/report.ts'
import { compileStub } from '../../drivers/cards/rig.ts'
import { enterOwnMounts, enterOwnNetwork } from '../../drivers/namespace.ts'
import { must } from '../guest.ts'
import { eventually } from '../waiting/eventually.ts'

/** Before /usr/bin in the path of the agent, and empty on most machines. */
const PROGRAMS = '/usr/local/sbin'
const DRIVER = join(PROGRAMS, 'driver')
const RUN = '/run/berth'
/** Directories that a boot empties: the agent's, and that in which crun knows its containers. */
const EMPTIED = [RUN, '/run/crun']
const UVM = '/dev/nvidia-uvm'
const BOOT_ID = '/proc/sys/kernel/random/boot_id'
const COVERS_PROC = [
  'mount -t tmpfs tmpfs /proc/driver',
  `cp -r ${DRIVER}/proc/. /proc/driver`,
  `mount --bind ${DRIVER}/boot-id ${BOOT_ID}`,
  'exec "$@"',
].join(' && ')
const MEMORY_MB = 32
export const CARD_MODEL = H100
export const CARDS = [UUID, OTHER_UUID] as const
/** The first card's device can be read; all of them look alike to programs. */
const devices = [
  ['nvidia0', '5'],
  ['nvidia1', '5'],
  ['nvidiactl', '3'],
] as const

export type CardHost = Awaited<ReturnType<typeof cardHost>>

/** Enters mounts and a network of the test's own. Throws where this machine does not allow it. */
export async function cardHost(address: string) {
  const leaves = [enterOwnNetwork(), enterOwnMounts()]
  if (leaves.includes(undefined)) throw new Error('this machine gives the test no mounts of its own')
  await must('ip', 'link', 'set', 'lo', 'up')
  await must('ip', 'address', 'add', `${address}/32`, 'dev', 'lo')
  const made = EMPTIED.filter((path) => !existsSync(path))
  for (const path of EMPTIED) mkdirSync(path, { recursive: true })
  await must('mount', '--make-rshared', '/')
  for (const path of [PROGRAMS, ...EMPTIED]) await must('mount', '-t', 'tmpfs', 'tmpfs', path)
  for (const path of ['lib', 'dev', 'upper', 'work']) mkdirSync(join(DRIVER, path), { recursive: true })
  const layers = `lowerdir=/etc,upperdir=${DRIVER}/upper,workdir=${DRIVER}/work`
  await must('mount', '-t', 'overlay', 'overlay', '-o', layers, '/etc')
  writeFileSync('/etc/resolv.conf', 'nameserver 192.0.2.53\n')
  const hadUvm = existsSync(UVM)
  if (!hadUvm) await must('mknod', UVM, 'c', '1', '3')
  await addDriver()
  const bootId = readFileSync(BOOT_ID, 'utf8')
  const closing: (() => void)[] = []
  let boots = 0
  const bootAs = (n: number) =>
    writeFileSync(join(DRIVER, 'boot-id'), bootId.replace(/^.{8}/, String(n).padStart(8, '0')))
  bootAs(boots)
  let engine: Subprocess | undefined

  return {
    /** Before the words of a program that is to see the driver in /proc. */
    seesDriver: ['unshare', '--mount', '--propagation', 'slave', 'sh', '-c', COVERS_PROC, 'sh'] as const,
    /** Starts the service of the engine, with the settings that the agent has written there. */
    async startEngine(dir: string) {
      engine = Bun.spawn(
        ['podman', '--log-level', 'error', 'system', 'service', '--time=0', `unix://${RUN}/podman.sock`],
        {
          env: { ...process.env, ...engineSettings(dir) } as Record<string, string>,
          // The helper of a container that used up its memory leaves a file where it was started.
          cwd: RUN,
          stdio: ['ignore', 'ignore', 'ignore'],
        },
      )
      closing.push(() => engine?.kill('SIGKILL'))
      await eventually(() => existsSync(join(RUN, 'podman.sock')))
    },
    /**
     * A socket at `path` that leads to this port of the host's loopback: calls of the test itself are made by a thread
     * that stayed in the machine's own network.
     */
    relay(path: string, port: number) {
      const server = createServer((here) => {
        const there = connect(port, '127.0.0.1')
        here.pipe(there).pipe(here)
        for (const [end, other] of [
          [here, there],
          [there, here],
        ] as const)
          end.on('error', () => other.destroy())
      })
      server.listen(path)
      closing.push(() => server.close())
      return path
    },
    /** The memory of a card, as the next customer would find it. */
    memory: (uuid: string) => readFileSync(memoryOf(uuid)),
    /** A customer's program leaves this text all over it. */
    use: (uuid: string, text: string) => writeFileSync(memoryOf(uuid), Buffer.alloc(MEMORY_MB << 20, text)),
    /** Words and numbers for the stub of the driver’s library (stub-libraries.c). */
    behave: (words: string) => writeFileSync(join(DRIVER, 'lib/card'), words),
    /** Takes away all that a boot does, when no process of the agent and its containers is left. */
    async boot(mountsBelow: string) {
      engine?.kill('SIGKILL')
      await engine?.exited
      await unmountBelow(mountsBelow)
      for (const path of EMPTIED) {
        await must('umount', '--lazy', path)
        await must('mount', '-t', 'tmpfs', 'tmpfs', path)
      }
      await must('nft', 'flush', 'ruleset')
      for (const [, name] of (await must('ip', '-o', 'link')).matchAll(/^\d+: (bgi[^:@]*)[:@]/gm))
        await must('ip', 'link', 'delete', name!)
      bootAs(++boots)
    },
    async close(mountsBelow: string) {
      for (const close of closing) close()
      await unmountBelow(mountsBelow)
      if (!hadUvm) rmSync(UVM)
      for (const path of EMPTIED) await must('umount', '--lazy', path)
      for (const leave of leaves.toReversed()) leave!()
      for (const path of made) rmSync(path, { recursive: true, force: true })
    },
  }
}

/** The variables with which Podman's own command line speaks of the containers of an agent. */
export const engineSettings = (dir: string) => ({
  CONTAINERS_CONF: join(dir, 'containers.conf'),
  CONTAINERS_STORAGE_CONF: join(dir, 'storage.conf'),
  CONTAINERS_REGISTRIES_CONF: join(dir, 'registries.conf'),
})

const memoryOf = (uuid: string) => join(DRIVER, 'lib', uuid === UUID ? 'memory' : 'memory-5e')

async function addDriver() {
  for (const uuid of CARDS) writeFileSync(memoryOf(uuid), Buffer.alloc(MEMORY_MB << 20))
  for (const name of ['libcuda.so.1', 'libnvidia-ml.so.1']) compileStub(join(DRIVER, 'lib', name))
  writeFileSync('/etc/ld.so.conf.d/berth-test.conf', `${DRIVER}/lib\n`)
  await must('ldconfig', '-X')
  for (const [name, minor] of devices) await must('mknod', '-m', '666', join(DRIVER, 'dev', name), 'c', '1', minor)

  const proc = join(DRIVER, 'proc/nvidia')
  for (const bus of ['0000:3b:00.0', '0000:5e:00.0']) mkdirSync(join(proc, 'gpus', bus), { recursive: true })
  writeFileSync(join(proc, 'version'), 'NVRM version: NVIDIA UNIX Open Kernel Module  570.133.20  Release\n')

  const cards = [
    { uuid: UUID, memoryMb: MEMORY_MB },
    { uuid: OTHER_UUID, bus: '00000000:5E:00.0', memoryMb: MEMORY_MB },
  ]
  writeFileSync(join(DRIVER, 'report.xml'), report(...cards))
  writeFileSync(join(DRIVER, 'cdi.json'), JSON.stringify(devicesForContainers))
  program('nvidia-smi', `[ "$1" = nvlink ] || exec cat ${DRIVER}/report.xml`)
  program('nvidia-ctk', `[ "$1" = cdi ] && exec cat ${DRIVER}/cdi.json; echo NVIDIA Container Toolkit version 1.17.8`)
  // For inside: it names the cards that it finds.
  program('driver/nvidia-smi', 'for card in /dev/nvidia[0-9]*; do head -c 1 $card >/dev/null && echo GPU $card; done')
}

function program(name: string, text: string) {
  writeFileSync(join(PROGRAMS, name), `#!/bin/sh\n${text}\n`)
  chmodSync(join(PROGRAMS, name), 0o755)
}

const node = (name: string) => ({ path: `/dev/${name}`, hostPath: join(DRIVER, 'dev', name) })
/** As nvidia-ctk writes it. */
const devicesForContainers = {
  cdiVersion: '0.7.0',
  kind: 'nvidia.com/gpu',
  devices: CARDS.map((name, n) => ({ name, containerEdits: { deviceNodes: [node(`nvidia${n}`)] } })),
  containerEdits: {
    deviceNodes: [node('nvidiactl')],
    mounts: [
      {
        hostPath: join(DRIVER, 'nvidia-smi'),
        containerPath: '/usr/bin/nvidia-smi',
        options: ['ro', 'nosuid', 'nodev', 'rbind', 'rprivate'],
      },
    ],
  },
}

async function unmountBelow(folder: string) {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n')
  for (const path of mounts.flatMap((line) => line.split(' ')[1] ?? []).toReversed())
    if (path.startsWith(`${folder}/`)) await must('umount', '--lazy', path)
}
