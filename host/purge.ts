// Deleting all that Berth has on a machine. Each part is tried, whatever becomes of the others, so that one run says
// all that it could not delete, and another goes on with that.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { type Machine, textOf } from './machine/machine.ts'
import { Failed } from './machine/report.ts'
import { networkDown } from './node/bridge.ts'
import { listedServices, services } from './services/command.ts'
import { dropInFile } from './services/install-service.ts'
import { dropIns } from './services/units.ts'

/** Beside those of `Paths`. */
const elsewhere = ['/run/berth-http-names', '/var/lib/berth-http-proxy', '/etc/cdi/berth-gpu.json']

type Part = { what: string; remove(): void }

/** `stays`: in words. `hasSites`: Caddy served sites of the operator's under the supervisor, which is gone. */
export type Purged = { stays: string[]; hasSites: boolean }

/** Throws `Failed` with all that is left. The program for another run is deleted last, and only then. */
export async function purgeAll(machine: Machine, dataDir: string, others = elsewhere): Promise<Purged> {
  const { hasSystemd, paths } = machine
  const hadNetwork = existsSync(`${paths.settings}/network.env`)
  const hasSites = !hasSystemd && (await stopSupervisor(machine))
  const parts: Part[] = [
    ...(hasSystemd ? [{ what: 'the unit berth-network', remove: () => removeNetworkUnit(machine) }] : []),
    { what: "the guests' bridge and their way out", remove: () => networkDown(machine) },
    { what: 'tables of nftables', remove: () => removeTables(machine) },
    ...[dataDir, paths.agentState].map((path) => ({ what: path, remove: () => emptyDirectory(machine, path) })),
    ...[paths.run, paths.logs, ...others].map((path) => ({
      what: path,
      remove: () => rmSync(path, { recursive: true, force: true }),
    })),
    { what: 'the user berth', remove: () => removeUser(machine) },
  ]
  const failed = parts.flatMap(({ what, remove }) => {
    try {
      remove()
      return []
    } catch (error) {
      return [`${what}: ${(error as Error).message}`]
    }
  })
  if (failed.length)
    throw new Failed(
      `This is left:\n${failed.map((line) => `- ${line}`).join('\n')}`,
      'The rest is deleted. Put that right and run ./install.sh --uninstall --purge again.',
    )
  // Settings say where the data was, and the library has the program: a run that failed needs both once more.
  for (const path of [paths.settings, paths.library]) rmSync(path, { recursive: true, force: true })
  return { stays: staying(machine, [dataDir, paths.agentState], hadNetwork), hasSites }
}

/** Answers whether it had Caddy with sites of the operator's. Data is not deleted below a service that runs. */
async function stopSupervisor(machine: Machine): Promise<boolean> {
  const listed = listedServices(machine.paths)
  if (listed.length && (await services(machine, ['stop'])) !== 0)
    throw new Failed('Not all services stop.', 'Data and settings were not deleted. Stop them and run this again.')
  return listed.includes('caddy')
}

function removeNetworkUnit(machine: Machine) {
  const { exec, paths } = machine
  exec.try('systemctl', ['disable', '--now', '--quiet', 'berth-network'])
  rmSync(`${paths.units}/berth-network.service`, { force: true })
  removeDropIn(machine, dropIns.libvirtGuests)
  exec.run('systemctl', ['daemon-reload'])
}

/** A directory that holds files of the operator's own stays. */
export function removeDropIn(machine: Machine, dropIn: { unit: string; name: string }) {
  const file = dropInFile(machine, dropIn)
  if (!existsSync(file)) return
  rmSync(file)
  const dir = file.slice(0, file.lastIndexOf('/'))
  if (readdirSync(dir).length === 0) rmSync(dir, { recursive: true })
}

function removeTables({ exec }: Machine) {
  const tables = exec.ask('nft', ['list', 'tables']).out
  for (const [, family, table] of tables.matchAll(/^table (\S+) (berth\S*)$/gm))
    exec.run('nft', ['delete', 'table', family!, table!])
}

/** The places below a directory, and itself, that are file systems of their own. */
const mountsIn = (directory: string): string[] =>
  [...(textOf('/proc/self/mountinfo') ?? '').matchAll(/^\S+ \S+ \S+ \S+ (\S+) /gm)]
    .map(([, path]) => path!.replaceAll('\\040', ' '))
    .filter((path) => path === directory || path.startsWith(`${directory}/`))

/** Mounts stay as they are, with all that is in them. Throws where more than mounts is left. */
function emptyDirectory({ exec }: Machine, directory: string) {
  if (!existsSync(directory)) return
  exec.try('find', [directory, '-xdev', '-depth', '-delete'])
  const mounts = mountsIn(directory)
  const left = exec.ask('find', [directory, '-xdev', '-mindepth', '1']).out.split('\n').filter(Boolean)
  const strange = left.filter((path) => !mounts.some((mount) => mount === path || mount.startsWith(`${path}/`)))
  if (strange.length) throw new Error(`${strange[0]} and ${strange.length - 1} more cannot be deleted`)
  if (existsSync(directory) && mounts.length === 0) throw new Error('it cannot be deleted')
}

function removeUser({ exec }: Machine) {
  if (exec.ask('getent', ['passwd', 'berth']).code !== 0) return
  exec.try('userdel', ['berth'])
  if (exec.ask('getent', ['passwd', 'berth']).code === 0) throw new Error('a process of it still runs')
}

/** Packages for virtual servers. Other packages of a node may have been there before, and are not named. */
const packages = [
  ...['qemu-system-x86', 'qemu-system-arm', 'qemu-utils', 'libvirt-daemon-system', 'libvirt-clients'],
  ...['swtpm', 'swtpm-tools', 'restic', 'libnbd-bin', 'xorriso', 'caddy', 'podman'],
]

function staying({ exec }: Machine, directories: readonly string[], hadNetwork: boolean): string[] {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a format of dpkg-query
  const status = exec.ask('dpkg-query', ['-W', '-f=${db:Status-Abbrev} ${Package}\n', ...packages]).out
  const installed = [...status.matchAll(/^ii\s+(\S+)$/gm)].map(([, name]) => name!)
  return [
    ...(installed.length ? [`packages, which apt removes if nothing else needs them: ${installed.join(' ')}`] : []),
    ...directories.flatMap(mountsIn).map((path) => `${path}, a file system of its own`),
    ...(hadNetwork ? ['IP forwarding of the kernel is on until the next boot'] : []),
  ]
}
