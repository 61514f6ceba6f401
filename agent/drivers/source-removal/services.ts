// Services of the panel: systemd units, and scripts of SysV init, which systemd runs too. They are disabled by moving
// the links that start them at boot, so that putting the links back is all that enables them again.
import { readlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { run } from '../../host/exec.ts'
import { isThere, namesIn, statOf, textOf } from './files.ts'
import type { Leftovers } from './leftovers.ts'

const UNIT_DIRS = [
  '/etc/systemd/system',
  '/usr/local/lib/systemd/system',
  '/usr/lib/systemd/system',
  '/lib/systemd/system',
]
const LINK_DIR = '/etc/systemd/system'
const INIT_DIRS = ['/etc/init.d', '/etc/rc.d/init.d'] as const
const RC_DIRS = ['/etc', '/etc/rc.d'] as const
const RUNS = { limitSeconds: 120, mayFail: true } as const

/** `stops`: it is stopped as well; a network service only does not start at the next boot. */
export type ServiceFound = {
  name: string
  manager: 'systemd' | 'sysv'
  wasActive: boolean
  stops: boolean
  isNetwork: boolean
  links: string[]
}

export const hasSystemd = () => isThere('/run/systemd/system')

/** The services of the panel that run, or start at boot. */
export async function servicesOf(panel: Leftovers): Promise<ServiceFound[]> {
  const systemd = await hasSystemd()
  const held = new Set([...panel.heldServices, ...panel.networkServices])
  const names = new Map<string, 'unit' | 'script'>()
  for (const name of [...panel.services, ...panel.heldServices, ...panel.networkServices]) {
    if (await unitFile(`${name}.service`)) names.set(name, 'unit')
    else if (await initScript(name)) names.set(name, 'script')
  }
  for (const unit of await unitsThatRun(panel.programs)) names.set(unit.replace(/\.service$/, ''), 'unit')
  const found: ServiceFound[] = []
  for (const [name, kind] of names) {
    const units = [`${name}.service`, `${name}.socket`, `${name}.timer`, `${name}.path`]
    const links = [
      ...(kind === 'unit' ? (await Promise.all(units.map(unitLinks))).flat() : []),
      ...((await initScript(name)) ? await rcLinks(name) : []),
    ]
    const manager = systemd ? 'systemd' : 'sysv'
    const wasActive = await isActive(manager, name)
    const stops = !held.has(name)
    if (links.length === 0 && !(stops && wasActive)) continue
    const isNetwork = panel.networkServices.includes(name)
    found.push({ name, manager, wasActive, stops, isNetwork, links })
  }
  return found
}

const unitFile = async (unit: string) => {
  for (const dir of UNIT_DIRS) {
    const found = await statOf(join(dir, unit))
    // A masked unit is a link to nowhere: nothing starts it.
    if (found && !(found.isSymbolicLink() && (await readlink(join(dir, unit))) === '/dev/null')) return join(dir, unit)
  }
  return undefined
}
const initScript = async (name: string) => {
  for (const dir of INIT_DIRS) if (await isThere(join(dir, name))) return join(dir, name)
  return undefined
}

/** Units whose program lies in one of these folders. */
async function unitsThatRun(folders: readonly string[]): Promise<string[]> {
  const units = new Set<string>()
  for (const dir of UNIT_DIRS)
    for (const name of await namesIn(dir)) {
      if (!name.endsWith('.service')) continue
      const text = (await textOf(join(dir, name))) ?? ''
      const starts = [...text.matchAll(/^\s*ExecStart\s*=\s*[-@:+!]*"?(\/[^\s"]*)/gm)].map((found) => found[1]!)
      if (starts.some((path) => folders.some((folder) => path.startsWith(`${folder}/`)))) units.add(name)
    }
  return [...units]
}

/** The links that start a unit: in the folders of targets, and other names of it. */
async function unitLinks(unit: string): Promise<string[]> {
  const found: string[] = []
  for (const name of await namesIn(LINK_DIR)) {
    const path = join(LINK_DIR, name)
    if (/\.(?:wants|requires|upholds)$/.test(name)) {
      if ((await statOf(join(path, unit)))?.isSymbolicLink()) found.push(join(path, unit))
    } else if (name !== unit && (await statOf(path))?.isSymbolicLink()) {
      if (basename(await readlink(path)) === unit) found.push(path)
    }
  }
  return found
}

/** The links of the run levels. On Red Hat /etc/rc3.d is itself a link to the folder that counts. */
async function rcLinks(name: string): Promise<string[]> {
  const found: string[] = []
  for (const base of RC_DIRS)
    for (const dir of await namesIn(base)) {
      if (!/^rc[0-9S]\.d$/.test(dir) || (await statOf(join(base, dir)))?.isSymbolicLink()) continue
      for (const link of await namesIn(join(base, dir)))
        if (/^[SK]\d\d/.test(link) && link.slice(3) === name) found.push(join(base, dir, link))
    }
  return found
}

/** Is a service of the node's own settings started at boot? */
export async function isEnabled(name: string): Promise<boolean> {
  const unit = `${name}.service`
  for (const dir of [LINK_DIR, '/usr/lib/systemd/system', '/lib/systemd/system'])
    for (const folder of await namesIn(dir))
      if (/\.(?:wants|requires)$/.test(folder) && (await isThere(join(dir, folder, unit)))) return true
  return (await rcLinks(name)).some((link) => basename(link).startsWith('S'))
}

async function isActive(manager: ServiceFound['manager'], name: string): Promise<boolean> {
  const quietly = { ...RUNS, quietly: true }
  if (manager === 'sysv') return (await run('service', [name, 'status'], quietly)).code === 0
  return (await run('systemctl', ['is-active', '--quiet', `${name}.service`], quietly)).code === 0
}

/** Stops a service. What does not stop within two minutes fails. */
export async function stopService({ manager, name }: Pick<ServiceFound, 'manager' | 'name'>) {
  if (manager === 'sysv') await run('service', [name, 'stop'], RUNS)
  else await run('systemctl', ['stop', `${name}.service`], { ...RUNS, mayFail: false })
}
export async function startService({ manager, name }: Pick<ServiceFound, 'manager' | 'name'>) {
  if (await isActive(manager, name)) return
  if (manager === 'sysv') await run('service', [name, 'start'], { ...RUNS, mayFail: false })
  else await run('systemctl', ['start', `${name}.service`], { ...RUNS, mayFail: false })
}
/** systemd reads its units anew; it stops and starts nothing by that. */
export async function reloadUnits() {
  if (await hasSystemd()) await run('systemctl', ['daemon-reload'], RUNS)
}

export const becomesOf = ({ stops, links }: ServiceFound, why = '') => {
  const words = stops ? (links.length ? 'stopped and disabled' : 'stopped') : 'disabled, not stopped'
  return why ? `${words}: ${why}` : words
}
