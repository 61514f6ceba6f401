// The steps of a removal on this host, found by looking; each says which file or service it touches.
import { readdir, readlink, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { quoted } from '../../protocol/shell-quote.ts'
import { printable } from '../../protocol/text.ts'
import type {
  LeftAlone,
  RemovalBridge,
  RemovalItem,
  RemovalPreview,
  RemovalScope,
} from '../../protocol/values/source-removal.ts'
import { type ContainerFound, containersOf } from './containers.ts'
import { bridgeOfNetwork, type DomainFound, domains } from './domains.ts'
import { isBelow, isThere, mountPoints, namesIn, sizeOf, statOf } from './files.ts'
import { leftovers } from './leftovers.ts'
import { cronOf, keysOf } from './lines.ts'
import { judgeBridge } from './network/bridges.ts'
import { becomesOf, type ServiceFound, servicesOf } from './services.ts'

export type Work =
  | { type: 'service'; service: ServiceFound }
  | { type: 'processes'; folders: readonly string[] }
  | { type: 'container'; container: ContainerFound }
  | { type: 'file'; path: string }
  | { type: 'lines'; path: string; lines: string[] }
export type Step = { item: RemovalItem; work: Work }
export type Plan = { steps: Step[]; preview: RemovalPreview; domains: DomainFound[] }

/** The folder of everything as the preview names it: its time is that of the removal. */
export const ANY_FOLDER = '/root/removed-<time>'
/** Where a path is moved to: the same path below the folder. */
export const placeIn = (folder: string, path: string) => join(folder, path)

const countable = (n: number, one: string, many = `${one}s`) => `${n} ${n === 1 ? one : many}`
export const bytesInWords = (bytes: number) => {
  const [unit, of] = bytes >= 2 ** 30 ? (['GiB', 2 ** 30] as const) : (['MiB', 2 ** 20] as const)
  return bytes < 2 ** 20 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / of).toFixed(bytes / of < 10 ? 1 : 0)} ${unit}`
}
const plain = (text: string, most: number) => printable(text.slice(0, most))

/** `protectedPaths`: folders of Berth's own that nothing above is ever moved. Throws `removal_libvirt_silent`. */
export async function planOf(scope: RemovalScope, protectedPaths: readonly string[]): Promise<Plan> {
  const panel = leftovers[scope.panel]
  const held = await domains()
  const bridges = panel.foldersMakeBridges ? await bridgesOf(held) : []
  const undefinedOnes = bridges.filter(({ definedIn }) => definedIn === null).map(({ name }) => name)
  const networkStays = undefinedOnes.length > 0
  const are = undefinedOnes.length === 1 ? 'is' : 'are'
  const whyStays = `${undefinedOnes.join(', ')} ${are} not defined in the node's own network settings`
  const left: LeftAlone[] = []
  const steps: Step[] = []
  const add = (work: Work, item: Omit<RemovalItem, 'files' | 'bytes'>, size?: { files: number; bytes: number }) => {
    const { kind, name, now, becomes } = item
    const shown = { kind, name: plain(name, 1024), now: plain(now, 300), becomes: plain(becomes, 1024) }
    steps.push({ work, item: { ...shown, files: size?.files ?? null, bytes: size?.bytes ?? null } })
  }

  for (const found of await cronOf(panel)) {
    const { path } = found
    if (found.kind === 'cron_file') {
      const becomes = placeIn(ANY_FOLDER, path)
      add(
        { type: 'file', path },
        { kind: 'cron_file', name: path, now: countable(found.jobs, 'job'), becomes },
        await sizeOf(path),
      )
    } else {
      const now = `${found.lines.length} of ${countable(found.jobs, 'job')}`
      const becomes = `${countable(found.lines.length, 'line')} taken out; copy in ${placeIn(ANY_FOLDER, path)}`
      add({ type: 'lines', path, lines: found.lines }, { kind: 'cron_lines', name: path, now, becomes })
    }
  }

  const keys = await keysOf(panel, scope)
  if (keys.line) {
    const { path, lines } = keys.line
    const becomes = `${countable(lines.length, 'line')} taken out; copy in ${placeIn(ANY_FOLDER, path)}`
    add({ type: 'lines', path, lines }, { kind: 'key_line', name: path, now: "the control server's key", becomes })
  } else if (keys.ambiguous.length) {
    const why = `more than one key could be the control server's: ${keys.ambiguous.slice(0, 5).join(', ')}`
    left.push({ name: '/root/.ssh/authorized_keys', why: plain(why, 500) })
  }

  for (const service of await servicesOf(panel)) {
    if (service.isNetwork && networkStays) {
      left.push({ name: `${service.name}.service`, why: plain(whyStays, 500) })
      continue
    }
    const now = service.wasActive ? 'running' : 'starts at boot'
    const where = service.isNetwork ? placesOf(bridges) : ''
    const item = { kind: 'service' as const, name: `${service.name}.service`, now, becomes: becomesOf(service, where) }
    add({ type: 'service', service }, item)
  }

  const mounts = await mountPoints()
  const folders: string[] = []
  for (const path of await foldersOf(panel.folders)) {
    const why =
      panel.foldersMakeBridges && networkStays ? whyStays : await whyFolderStays(path, held, mounts, protectedPaths)
    if (why) left.push({ name: path, why: plain(why, 500) })
    else folders.push(path)
  }
  const programs = panel.programs.filter((path) => folders.includes(path))
  const running = await processesIn(programs)
  if (running.length) {
    const names = [...new Set(running.map(({ name }) => name))]
    const item = {
      name: `${countable(running.length, 'process', 'processes')} of ${programs.join(', ')}`,
      now: names.join(', '),
    }
    add({ type: 'processes', folders: programs }, { kind: 'processes', ...item, becomes: 'ended' })
  }

  const containers = await containersOf(panel.container)
  for (const container of containers) {
    const name = `${container.name} (${container.image})`
    if (container.isDeletedAtEnd) {
      left.push({ name: plain(name, 1024), why: 'Docker deletes it when it stops (it was started with --rm)' })
      continue
    }
    if (!container.isRunning && container.restart === 'no') continue
    const now = `${container.isRunning ? 'running' : 'stopped'}, restart ${container.restart}`
    add({ type: 'container', container }, { kind: 'container', name, now, becomes: 'stopped, restart no' })
  }

  for (const path of folders) {
    const size = await sizeOf(path)
    const now = (await statOf(path))?.isSymbolicLink()
      ? `a link to ${await readlink(path)}`
      : `${size.isWhole ? '' : 'more than '}${bytesInWords(size.bytes)}, ${countable(size.files, 'file')}`
    add({ type: 'file', path }, { kind: 'folder', name: path, now, becomes: placeIn(ANY_FOLDER, path) }, size)
  }

  const foreign = held.filter(({ isOurs }) => !isOurs).map(({ name }) => name)
  const preview: RemovalPreview = {
    items: steps.map(({ item }) => item).slice(0, 500),
    left: left.slice(0, 500),
    bridges,
    networkStays: networkStays && left.length > 0,
    foreign: foreign.slice(0, 100).map((name) => plain(name, 200)),
    foreignCount: foreign.length,
    runningServers: held.filter(({ isOurs, isRunning }) => isOurs && isRunning).length,
    panelRunsHere: containers.some(({ isRunning }) => isRunning),
    rootKeys: keys.all.slice(0, 100),
    commands: steps.length ? byHand(steps).slice(0, 65_536) : null,
  }
  return { steps, preview, domains: held }
}

/** The bridges that servers use, running or not. */
async function bridgesOf(held: readonly DomainFound[]): Promise<RemovalBridge[]> {
  const users = new Map<string, { servers: number; madeBy?: string }>()
  const use = (bridge: string, madeBy?: string) => {
    const seen = users.get(bridge)
    users.set(bridge, { servers: (seen?.servers ?? 0) + 1, ...(madeBy && { madeBy }) })
  }
  for (const { bridges, networks } of held) {
    for (const bridge of bridges) use(bridge)
    for (const name of networks) {
      const network = await bridgeOfNetwork(name)
      if (network) use(network.bridge, network.isOwn ? `the network ${name} of libvirt` : undefined)
    }
  }
  const judged: RemovalBridge[] = []
  for (const [name, { servers, madeBy }] of users) judged.push(await judgeBridge(name, servers, madeBy))
  return judged.slice(0, 60)
}
const placesOf = (bridges: readonly RemovalBridge[]) =>
  bridges.map(({ name, definedIn }) => `${name} is in ${definedIn}`).join(', ')

async function foldersOf(patterns: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const pattern of patterns) {
    const name = basename(pattern)
    if (!name.endsWith('*')) {
      if (await isThere(pattern)) found.push(pattern)
      continue
    }
    const begin = name.slice(0, -1)
    for (const one of await namesIn(dirname(pattern)))
      if (one.startsWith(begin) && !one.includes('.berth-')) found.push(join(dirname(pattern), one))
  }
  return found
}

/** Why a folder is not moved: something in it is needed by servers, by Berth, or is mounted. */
async function whyFolderStays(
  folder: string,
  held: readonly DomainFound[],
  mounts: readonly string[],
  protectedPaths: readonly string[],
): Promise<string | undefined> {
  const real = await realpath(folder).catch(() => folder)
  const holds = (path: string) => isBelow(path, folder) || isBelow(path, real)
  const mount = mounts.find(holds)
  if (mount) return `a file system is mounted at ${mount}`
  for (const { name, paths } of held) {
    const path = paths.find(holds)
    if (path) return `the server ${name} uses ${path}`
  }
  for (const path of protectedPaths) {
    const there = await realpath(path).catch(() => path)
    if (holds(path) || holds(there)) return `Berth keeps ${path} in it`
  }
  return undefined
}

export type ProcessFound = { pid: number; name: string }
/** Processes whose program lies in one of these folders. */
export async function processesIn(folders: readonly string[]): Promise<ProcessFound[]> {
  if (!folders.length) return []
  const found: ProcessFound[] = []
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    const program = await readlink(`/proc/${entry}/exe`).catch(() => '')
    const path = program.replace(/ \(deleted\)$/, '')
    if (folders.some((folder) => path.startsWith(`${folder}/`)))
      found.push({ pid: Number(entry), name: basename(path) })
  }
  return found
}

/** The same by hand, for a person who runs it as root. */
function byHand(steps: readonly Step[]): string {
  const folder = '"$folder"'
  const into = (path: string) => `put ${quoted(path)}`
  const rows = [
    'folder=/root/removed-$(date +%Y%m%d-%H%M%S)',
    `mkdir -m 700 ${folder}`,
    `put() { mkdir -p ${folder}"$(dirname "$1")" && mv "$1" ${folder}"$1"; }`,
  ]
  let reload = false
  for (const { work } of steps) {
    if (work.type === 'file') rows.push(into(work.path))
    else if (work.type === 'lines') {
      const { path, lines } = work
      rows.push(`mkdir -p ${folder}${quoted(dirname(path))} && cp -a ${quoted(path)} ${folder}${quoted(path)}`)
      rows.push(
        `grep -vxF -f - ${folder}${quoted(path)} > ${quoted(path)} <<'END_OF_LINES'\n${lines.join('\n')}\nEND_OF_LINES`,
      )
    } else if (work.type === 'container') {
      rows.push(`docker update --restart=no ${work.container.id}`)
      if (work.container.isRunning) rows.push(`docker stop ${work.container.id}`)
    } else if (work.type === 'processes') {
      const patterns = work.folders.map((path) => `${quoted(`${path}/`)}*`).join('|')
      const ends = `${patterns}) kill "${'$'}{process#/proc/}" ;;`
      rows.push(`for process in /proc/[0-9]*; do case $(readlink "$process/exe") in ${ends} esac; done`)
    } else {
      const { manager, name, stops, wasActive, links } = work.service
      if (stops && wasActive)
        rows.push(
          // The command without systemd stands beside it: the host itself says which of them it has.
          manager === 'systemd' ? `systemctl stop ${quoted(`${name}.service`)}` : `service ${quoted(name)} stop`,
        )
      rows.push(...links.map(into))
      reload ||= manager === 'systemd'
    }
  }
  // A host without systemd has nothing to reload.
  if (reload) rows.push('systemctl daemon-reload')
  return rows.join('\n')
}
