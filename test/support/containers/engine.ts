// Podman with a storage of the test's own, for the parts of an instance that are not the engine's: it makes a container
// as the agent's driver does.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Fittings } from '../../../agent/drivers/access/access.ts'
import { IDS_EACH, uidBase } from '../../../agent/drivers/container/ids.ts'
import { temporary } from '../../agent/temporary.ts'
import { closedAtEnd } from '../opened.ts'
import { archiveOf, type ImageKind } from './root-file-systems.ts'

const CAPABILITIES = 'CHOWN,DAC_OVERRIDE,FOWNER,FSETID,SETUID,SETGID,KILL,NET_BIND_SERVICE,SYS_CHROOT'

export type Given = {
  name: string
  number: number
  image: ImageKind
  fittings: Fittings
  /** The image's user; left out: root. */
  user?: string
  command: readonly string[]
  environment?: Readonly<Record<string, string>>
  workspace?: string
}

export class TestEngine {
  private dir = temporary('podman')
  private names = new Set<string>()
  /** Removes its containers. */
  readonly close: () => void

  constructor() {
    chmodSync(this.dir, 0o711)
    const directories = Object.fromEntries(
      ['storage', 'run', 'networks', 'archives'].map((name) => [name, join(this.dir, name)] as const),
    )
    for (const path of Object.values(directories)) mkdirSync(path, { mode: 0o711 })
    const conf = [
      '[engine]',
      'cgroup_manager = "cgroupfs"',
      'events_logger = "file"',
      // Nothing is shared with another engine of this machine.
      'lock_type = "file"',
      `static_dir = "${this.dir}/libpod"`,
      `tmp_dir = "${this.dir}/run/libpod"`,
      `volume_path = "${this.dir}/volumes"`,
      'runtime = "crun"',
      '[containers]',
      'log_driver = "k8s-file"',
      'default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]',
      '[network]',
      'network_backend = "netavark"',
      `network_config_dir = "${directories['networks']}"`,
    ]
    writeFileSync(join(this.dir, 'containers.conf'), `${conf.join('\n')}\n`)
    this.close = closedAtEnd(() => this.end())
  }

  import(kind: ImageKind) {
    const archive = archiveOf(kind, join(this.dir, 'archives'))
    this.podman('import', '-q', archive, `localhost/${kind}:latest`)
  }

  /** Makes the container and starts it. */
  start({ name, number, image, fittings, user = 'root', command, environment = {}, workspace }: Given) {
    const { network, mounts, wrapper, nameServers } = fittings
    this.addNetwork(network)
    const base = uidBase(number)
    if (workspace) {
      const options = ['type=ext4', `device=${workspace}`, 'o=loop,nosuid,nodev,noatime'].flatMap((option) => [
        '--opt',
        option,
      ])
      this.podman('volume', 'create', ...options, name)
    }
    const [first, ...rest] = [...wrapper, user, ...command]
    this.names.add(name)
    this.podman(
      ...['run', '--detach', '--name', name, '--init', '--user', '0:0', '--hostname', name],
      ...['--uidmap', `0:${base}:${IDS_EACH}`, '--gidmap', `0:${base}:${IDS_EACH}`],
      ...['--cap-drop', 'ALL', '--cap-add', CAPABILITIES, '--security-opt', 'no-new-privileges', '--memory', '256m'],
      ...['--network', `${network.name}:ip=${network.address},mac=${network.mac}`],
      ...nameServers.flatMap((server) => ['--dns', server]),
      ...mounts.flatMap(({ source, target }) => ['--volume', `${source}:${target}:ro`]),
      ...(workspace ? ['--volume', `${name}:/workspace:nocopy`] : []),
      ...Object.entries(environment).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
      ...['--entrypoint', JSON.stringify([first]), `localhost/${image}:latest`, ...rest],
    )
  }

  /** Podman 4.3 has no flag for the name of the bridge. */
  private addNetwork({ name, interface: device, subnet, gateway }: Fittings['network']) {
    const id = new Bun.CryptoHasher('sha256').update(name).digest('hex')
    const network = {
      ...{ name, id, driver: 'bridge', network_interface: device, created: '2026-01-01T00:00:00Z' },
      subnets: [{ subnet, gateway }],
      ...{ ipv6_enabled: false, internal: false, dns_enabled: false, ipam_options: { driver: 'host-local' } },
    }
    writeFileSync(join(this.dir, 'networks', `${name}.json`), JSON.stringify(network))
  }

  stop = (name: string) => this.podman('stop', '--time', '1', name)
  again = (name: string) => this.podman('start', name)
  logs = (name: string) => this.podman('logs', name)

  remove(name: string) {
    this.podman('stop', '--time', '0', name)
    this.patiently('rm', '--force', '--time', '0', name)
    // The engine's helper has mounts of its own, so what it unmounts stays mounted here where it was the first.
    Bun.spawnSync(['umount', '--quiet', join(this.dir, 'storage/volumes', name, '_data')])
    this.patiently('volume', 'rm', '--force', name)
    this.names.delete(name)
  }

  inside = (name: string, command: readonly string[]) =>
    Bun.spawn([...this.words(), 'exec', '--user', '0:0', name, ...command], { env: this.env() }).exited

  private patiently(...words: string[]) {
    for (let tries = 0; ; tries++)
      try {
        return this.podman(...words)
      } catch (error) {
        if (tries === 50) throw error
        Bun.sleepSync(100)
      }
  }

  /** Answers its output. Throws what it wrote on its other output when it fails. */
  podman(...words: string[]): string {
    const { exitCode, stdout, stderr } = Bun.spawnSync([...this.words(), ...words], { env: this.env() })
    if (exitCode !== 0) throw new Error(`podman ${words.slice(0, 2).join(' ')}: ${stderr}`)
    return stdout.toString().trim()
  }

  private words = () => ['podman', '--root', join(this.dir, 'storage'), '--runroot', join(this.dir, 'run')]
  private env = () => ({ ...process.env, CONTAINERS_CONF: join(this.dir, 'containers.conf') })

  private end() {
    for (const name of this.names) this.remove(name)
    Bun.spawnSync(['umount', '--lazy', join(this.dir, 'storage/overlay')])
  }
}
