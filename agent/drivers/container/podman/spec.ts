// The container as Podman is told to make it: user ids of its own, few rights of root, its own cards, limits.
import { readFileSync } from 'node:fs'
import type { Container } from '../../../protocol/gpu.ts'
import type { Given } from '../container.ts'
import { IDS_EACH, uidBase } from '../ids.ts'

/** Root of an ordinary system needs them for its own files, users and ports; all within its own user ids. */
const CAPABILITIES = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'SETUID',
  'SETGID',
  'KILL',
  'NET_BIND_SERVICE',
  'SYS_CHROOT',
]
const CPU_PERIOD_US = 100_000
const MOST_PROCESSES = 8192
/** Of each of two files, the newer of which is kept. */
export const LOG_BYTES = 8 << 20
/** Of one program. */
const MOST_FILES = 1 << 20
const LABEL = 'berth.workload'

/** The configuration of an image, as far as it is read. */
export type ImageConfig = { Entrypoint?: string[] | null; Cmd?: string[] | null; User?: string; WorkingDir?: string }

/** The name of an instance's workspace among Podman's volumes. */
export const volumeName = (workload: string) => `berth-${workload}`

/**
 * The body of Podman's request to make a container. `parent` is its control group, `seccomp` the file with the profile
 * of system calls.
 */
export function specOf(
  container: Container,
  given: Given,
  { image, config, parent, seccomp }: { image: string; config: ImageConfig; parent: string; seccomp: string },
) {
  const { workload, number, hostname, vcpus, memoryMb, environment } = container
  const bytes = memoryMb * 2 ** 20
  const ids = [{ container_id: 0, host_id: uidBase(number), size: IDS_EACH }]
  const apart = { nsmode: 'private' }
  return {
    name: workload,
    labels: { [LABEL]: workload },
    image,
    hostname,
    ...programOf(container, given, config),
    env: { ...Object.fromEntries(environment.map(({ name, value }) => [name, value])), ...given.environment },
    image_volume_mode: 'ignore',
    init: true,
    systemd: 'false',
    sdnotifyMode: 'ignore',
    restart_policy: 'no',
    cap_drop: ['ALL'],
    cap_add: CAPABILITIES.map((name) => `CAP_${name}`),
    no_new_privileges: true,
    seccomp_profile_path: seccomp,
    userns: apart,
    idmappings: { HostUIDMapping: false, HostGIDMapping: false, UIDMap: ids, GIDMap: ids },
    ...{ pidns: apart, ipcns: apart, utsns: apart, cgroupns: apart },
    ...networkOf(given),
    cgroup_parent: parent,
    resource_limits: {
      cpu: { period: CPU_PERIOD_US, quota: vcpus * CPU_PERIOD_US },
      memory: { limit: bytes, swap: bytes },
      pids: { limit: MOST_PROCESSES },
    },
    r_limits: [limitOf('nofile', 'open files', MOST_FILES), limitOf('nproc', 'processes', MOST_PROCESSES)],
    shm_size: Math.floor(bytes / 2),
    log_configuration: { driver: 'k8s-file', size: LOG_BYTES },
    mounts: given.mounts.map(({ source, target, readOnly }) => ({
      type: 'bind',
      source,
      destination: target,
      options: ['rbind', 'rprivate', 'nosuid', 'nodev', readOnly ? 'ro' : 'rw'],
    })),
    volumes: [{ Name: volumeName(workload), Dest: '/workspace', Options: ['nocopy', 'nosuid', 'nodev'] }],
    devices: given.devices.map((path) => ({ path })),
  }
}

/** The wrapper runs as root, and the image's user is its first argument; without a wrapper the image decides. */
function programOf({ command }: Container, { wrapper }: Given, { Entrypoint, Cmd, User, WorkingDir }: ImageConfig) {
  const own = [...(Entrypoint ?? []), ...(command ?? Cmd ?? [])]
  const directory = { work_dir: WorkingDir || '/workspace' }
  if (!wrapper.length) return { ...directory, entrypoint: own, command: [] }
  return { ...directory, user: '0:0', entrypoint: [...wrapper, User || 'root', ...own], command: [] }
}

function networkOf({ network, nameServers }: Given) {
  const { name, address, mac } = network
  return {
    netns: { nsmode: 'bridge' },
    networks: { [name]: { static_ips: [address], static_mac: mac, interface_name: 'eth0' } },
    ...(nameServers.length && { dns_server: nameServers }),
  }
}

/** No container may have more than the agent, where the agent may not raise its own limit. */
function limitOf(type: 'nofile' | 'nproc', name: 'open files' | 'processes', most: number) {
  const hard = new RegExp(`^Max ${name}\\s+\\S+\\s+(\\d+)`, 'm').exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
  const limit = Math.min(most, Number(hard ?? most))
  return { type, soft: limit, hard: limit }
}
