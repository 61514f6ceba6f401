// Podman for tests: storage, networks and settings of the test file's own, all gone at its end.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Given } from '../../../agent/drivers/container/container.ts'
import { slotOf, uidBase } from '../../../agent/drivers/container/ids.ts'
import { PodmanApi } from '../../../agent/drivers/container/podman/api.ts'
import { Cgroups } from '../../../agent/drivers/container/podman/cgroups.ts'
import { PodmanContainers, type PodmanOptions } from '../../../agent/drivers/container/podman/podman.ts'
import { OLDER } from '../../../agent/drivers/container/podman/requirements.ts'
import { find } from '../../../agent/host/exec.ts'
import { containerOf } from '../../agent/instances/examples.ts'
import { temporary } from '../../agent/temporary.ts'
import { enterOwnMounts } from '../namespace.ts'
import type { Rig } from './contract.ts'
import { isThere, type Oddities, openRegistry } from './registry.ts'

/** Instances of tests are numbered from here: addresses of several files on one machine do not meet. */
const FIRST = 1000 + (process.pid % 5000) * 8

export async function podmanIsMissing(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'not root'
  for (const program of ['podman', 'crun']) if (!Bun.which(program)) return `${program} not installed`
  if (!find('podman')) return 'podman not installed'
  return isThere() ? undefined : 'busybox-static not installed'
}

/** Fittings of an instance that has nothing but a network. */
export function givenWithout(n: number, workspace: string): Given {
  const offset = slotOf(n) * 4
  const at = (host: number) =>
    `10.${208 + ((offset + host) >> 16)}.${((offset + host) >> 8) & 255}.${(offset + host) & 255}`
  return {
    workspace,
    devices: [],
    mounts: [],
    wrapper: [],
    environment: {},
    nameServers: [],
    network: {
      name: `berth-test-${n}`,
      interface: `bgt${n}`,
      subnet: `${at(0)}/30`,
      gateway: at(1),
      address: at(2),
      mac: `02:00:00:01:${((n >> 8) & 255).toString(16).padStart(2, '0')}:${(n & 255).toString(16).padStart(2, '0')}`,
    },
  }
}

export type PodmanRig = Rig & { containers: PodmanContainers; api: PodmanApi; dir: string; options: PodmanOptions }

let opened: Promise<PodmanRig> | undefined
let leaveMounts: (() => void) | undefined
/** One engine for the whole file; each test removes its containers. */
export function podmanRig(): Promise<PodmanRig> {
  opened ??= open()
  return opened
}

/** Removes what is left of it, also after a test that failed. */
export async function closePodman() {
  if (!opened) return
  const { containers, dir, options } = await opened
  opened = undefined
  for (const { id } of await containers.look()) await containers.remove(id)
  containers.close()
  await removeGroups(options.cgroup!)
  await Bun.$`umount -l ${dir}/lib/storage/overlay`.quiet().nothrow()
  // Files after this one mount, and their mounts are for every thread of this process.
  leaveMounts?.()
  leaveMounts = undefined
}

/** A program that was run inside a container has a helper that stays for ten seconds. */
export async function removeGroups(name: string) {
  const find = (pattern: string) => [
    ...new Bun.Glob(`*/${name}${pattern}`).scanSync({ cwd: '/sys/fs/cgroup', absolute: true, onlyFiles: false }),
  ]
  for (const file of find('/**/cgroup.procs'))
    for (const pid of (await Bun.$`cat ${file}`.quiet().nothrow().text()).split('\n').filter(Boolean))
      await Bun.$`kill -9 ${pid}`.quiet().nothrow()
  const cgroups = new Cgroups(name)
  for (let tries = 0, left = find(''); left.length && tries < 20; left = find(''), tries++) {
    cgroups.sweep(new Set())
    await Bun.$`rmdir ${left}`.quiet().nothrow()
    await Bun.sleep(50)
  }
}

async function open(odd: Oddities = {}): Promise<PodmanRig> {
  leaveMounts = enterOwnMounts()
  const dir = temporary('podman')
  const registry = await openRegistry(odd)
  const options: PodmanOptions = {
    dir: join(dir, 'lib'),
    runDir: join(dir, 'run'),
    minimum: OLDER,
    serviceSocket: join(dir, 'none.sock'),
    localRegistries: [registry.host],
    cgroup: `berth-test-${process.pid}`,
  }
  const containers = new PodmanContainers(options)
  const workspaces = join(dir, 'workspaces')
  mkdirSync(workspaces)
  const number = (n: number) => FIRST + n
  return {
    dir,
    options,
    containers,
    api: new PodmanApi(join(options.runDir, 'engine.sock')),
    image: { id: 'gim_00000000000000000000000001', reference: registry.reference, mostBytes: 1e9 },
    container: (n, more) => containerOf(number(n), { image: 'gim_00000000000000000000000001', ...more }),
    async given(n) {
      const file = join(workspaces, `${n}.ext4`)
      if (!(await Bun.file(file).exists())) {
        const owner = `root_owner=${uidBase(number(n))}:${uidBase(number(n))}`
        await Bun.$`truncate -s 16M ${file} && mke2fs -q -t ext4 -E ${owner} ${file}`.quiet()
      }
      return givenWithout(number(n), file)
    },
    async kill(workload) {
      const { State } = (await new PodmanApi(join(options.runDir, 'engine.sock')).find<{ State: { Pid: number } }>(
        `/containers/${workload}/json`,
      ))!
      process.kill(State.Pid, 'SIGKILL')
    },
  }
}
