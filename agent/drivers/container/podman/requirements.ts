// The requirements of a host on which instances of strangers may run.
import { existsSync } from 'node:fs'
import { HOST_PROFILE } from './seccomp.ts'

/** The answer of `podman info`, as far as it is read. */
export type Info = {
  host: {
    cgroupVersion: string
    networkBackend?: string
    ociRuntime: { name: string; version: string }
    security?: { rootless?: boolean }
  }
  store: { graphDriverName: string }
  version: { Version: string }
}

export type Minimum = { podman: string; crun: string; cgroup: 'v1' | 'v2' }

/**
 * Those of Debian 13. Older ones were measured not to limit which devices a container with user ids of its own opens,
 * and to give it devices that only its user 0 can write.
 */
export const MINIMUM: Minimum = { podman: '5.4.0', crun: '1.21', cgroup: 'v2' }

/** For the tests of Berth on machines that have nothing newer. They keep devices and memory apart less well. */
export const OLDER: Minimum = { podman: '4.3', crun: '1.8', cgroup: 'v1' }

/** The program that is process 1 of an instance, in the places that Podman looks for it. */
const INITS = ['/usr/libexec/podman/catatonit', '/usr/bin/catatonit']

/** The reasons why this host cannot run instances, each with its remedy. */
export function problemsOf({ host, store, version }: Info, minimum: Minimum, has = existsSync): string[] {
  const { name, version: words } = host.ociRuntime
  const crun = /crun version ([\d.]+)/.exec(words)?.[1]
  const found: [isWrong: boolean, problem: string][] = [
    [
      isOlder(version.Version, minimum.podman),
      `Podman ${version.Version} is too old: ${minimum.podman} or newer is needed, which Debian 13 has.`,
    ],
    [name !== 'crun' || !crun, `Containers are run by ${name}: install crun.`],
    [
      crun !== undefined && isOlder(crun, minimum.crun),
      `crun ${crun} is too old: ${minimum.crun} or newer is needed, which Debian 13 has.`,
    ],
    [
      minimum.cgroup === 'v2' && host.cgroupVersion !== 'v2',
      `The kernel runs with control groups ${host.cgroupVersion}: boot with systemd.unified_cgroup_hierarchy=1.`,
    ],
    [
      host.networkBackend !== undefined && host.networkBackend !== 'netavark',
      `The network backend is ${host.networkBackend}: install netavark.`,
    ],
    [store.graphDriverName !== 'overlay', `The storage driver is ${store.graphDriverName}: overlay is needed.`],
    [host.security?.rootless === true, 'Podman does not run as root: run the agent as root.'],
    [!INITS.some((path) => has(path)), 'Install catatonit.'],
    [!has(HOST_PROFILE), `${HOST_PROFILE} is missing: install golang-github-containers-common.`],
  ]
  return found.flatMap(([isWrong, problem]) => (isWrong ? [problem] : []))
}

/** Compares versions by their numbers; a part that is missing is 0. */
export function isOlder(version: string, than: string): boolean {
  const parts = (text: string) => text.split(/[^0-9]+/).map(Number)
  const [mine, other] = [parts(version), parts(than)]
  for (let i = 0; i < Math.max(mine.length, other.length); i++) {
    const difference = (mine[i] ?? 0) - (other[i] ?? 0)
    if (difference !== 0) return difference < 0
  }
  return false
}
