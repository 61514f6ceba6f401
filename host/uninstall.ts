// `berth host uninstall`: services and program go; data and guests stay, unless the operator purges them.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { removeSite } from './controller/caddy.ts'
import type { Flags } from './flags.ts'
import { type Machine, setting } from './machine/machine.ts'
import { agentProgram, controllerEnv } from './machine/paths.ts'
import { Failed } from './machine/report.ts'
import { networkDown } from './node/bridge.ts'
import { deleteGuests, guestsOf } from './node/guests.ts'
import { identityOf } from './node/identity.ts'
import { listedServices, services, tellService, type Way } from './services/command.ts'
import { dropInFile, journalOf, removeSupervised } from './services/install-service.ts'
import { dropIns } from './services/units.ts'

/** In the order in which they stop. */
const stopped = ['berth-agent', 'berth-containers', 'berth-http-proxy', 'berth']

export async function uninstall(machine: Machine, { purge, force }: Pick<Flags, 'purge' | 'force'>) {
  const { paths, report } = machine
  const identity = identityOf(paths)
  const dataDir = setting(controllerEnv(paths), 'PANEL_DATA_DIR') || '/var/lib/berth'
  const guests = guestsOf(machine)
  if (purge && !force && guests.length)
    throw new Failed(
      `These guests are still here: ${guests.join(' ')}`,
      'Nothing was changed. Terminate them in the panel first, or add --force: then they are stopped and deleted ' +
        'with all their disks.',
    )
  await report.step('Stopping the controller and the agent', () => stopServices(machine))
  await report.step('Removing the program', () => removeProgram(machine))
  if (!purge) {
    const kept = [dataDir, paths.agentState].filter((path) => existsSync(path)).join(' ')
    report.say(
      `\nGuests keep running. Data stays in ${kept || 'no place: there was none'}, settings in ${paths.settings}; ` +
        './install.sh continues with them.\nTo delete all of it: ./install.sh --uninstall --purge',
    )
    return
  }
  if (guests.length) await report.step('Deleting guests', () => deleteGuests(machine))
  let hasSites = false
  await report.step("Deleting data, settings and the guests' network", async () => {
    hasSites = await purgeAll(machine, dataDir)
  })
  report.say('\nBerth is gone. Packages that were installed for it stay; apt removes them.')
  if (identity)
    report.say(`This machine was node ${identity.name} of ${identity.controller}: remove it there too, under Nodes.`)
  if (hasSites)
    report.say(`Caddy ran under Berth's supervision: start it yourself for your own sites in ${paths.caddyMain}.`)
}

/** Throws `Failed` for one that runs on: it would lose its data under it. */
export async function stopServices(machine: Machine, way?: Way) {
  const { exec, hasSystemd } = machine
  for (const name of stopped) {
    let isStopped = true
    if (hasSystemd) {
      exec.try('systemctl', ['disable', '--now', '--quiet', name])
      isStopped = exec.try('systemctl', ['is-active', '--quiet', name]) !== 0
    } else if (name !== 'berth-containers') isStopped = (await tellService(machine, name, 'stop', way)).isDone
    if (!isStopped)
      throw new Failed(
        `${name} does not stop.`,
        `Nothing was removed. What it says: ${journalOf(machine, name)}. Then run this again.`,
      )
  }
}

async function removeProgram(machine: Machine) {
  const { exec, hasSystemd, paths } = machine
  for (const program of [paths.program, agentProgram(paths)]) rmSync(program, { force: true })
  rmSync(`${paths.library}/upgrade`, { recursive: true, force: true })
  for (const name of stopped) rmSync(`${paths.units}/${name}.service`, { force: true })
  for (const dropIn of [dropIns.lowPort, dropIns.gpu]) removeDropIn(machine, dropIn)
  removeSupervised(machine, 'berth', 'berth-agent', 'berth-http-proxy')
  if (existsSync(paths.caddySite)) await removeSite(machine)
  if (hasSystemd) exec.run('systemctl', ['daemon-reload'])
}

/** A directory that holds files of the operator's own stays. */
function removeDropIn(machine: Machine, dropIn: { unit: string; name: string }) {
  const file = dropInFile(machine, dropIn)
  if (!existsSync(file)) return
  rmSync(file)
  const dir = file.slice(0, file.lastIndexOf('/'))
  if (readdirSync(dir).length === 0) rmSync(dir, { recursive: true })
}

/** Answers whether Caddy served other sites under the supervisor, which is gone then. */
async function purgeAll(machine: Machine, dataDir: string): Promise<boolean> {
  const { exec, hasSystemd, paths } = machine
  let hasSites = false
  if (hasSystemd) {
    exec.try('systemctl', ['disable', '--now', '--quiet', 'berth-network'])
    rmSync(`${paths.units}/berth-network.service`, { force: true })
    removeDropIn(machine, dropIns.libvirtGuests)
    exec.run('systemctl', ['daemon-reload'])
  } else {
    hasSites = listedServices(paths).includes('caddy')
    if (listedServices(paths).length && (await services(machine, ['stop'])) !== 0)
      throw new Failed('Not all services stop.', 'Data and settings were not deleted. Stop them and run this again.')
  }
  networkDown(machine)
  const tables = exec.ask('nft', ['list', 'tables']).out
  for (const [, family, table] of tables.matchAll(/^table (\S+) (berth\S*)$/gm))
    exec.run('nft', ['delete', 'table', family!, table!])
  for (const directory of [dataDir, paths.agentState]) emptyDirectory(machine, directory)
  for (const path of [
    ...[paths.settings, paths.library, paths.run, paths.logs, '/run/berth-http-names', '/var/lib/berth-http-proxy'],
    '/etc/cdi/berth-gpu.json',
  ])
    rmSync(path, { recursive: true, force: true })
  exec.try('userdel', ['berth'])
  return hasSites
}

/** Removes a directory. One that is a file system of its own is emptied, and nothing that is mounted below it. */
function emptyDirectory({ exec }: Machine, directory: string) {
  if (exec.ask('mountpoint', ['-q', directory]).code !== 0) rmSync(directory, { recursive: true, force: true })
  else exec.run('find', [directory, '-xdev', '-mindepth', '1', '-delete'])
}
