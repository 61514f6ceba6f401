// `berth host uninstall`: services and program go; data and guests stay, unless the operator purges them.
import { existsSync, rmSync } from 'node:fs'
import { removeSite } from './controller/caddy.ts'
import type { Flags } from './flags.ts'
import { type Machine, setting } from './machine/machine.ts'
import { agentProgram, controllerEnv } from './machine/paths.ts'
import { Failed } from './machine/report.ts'
import { deleteGuests, guestsOf } from './node/guests.ts'
import { identityOf } from './node/identity.ts'
import { type Purged, purgeAll, removeDropIn } from './purge.ts'
import { tellService, type Way } from './services/command.ts'
import { journalOf, removeSupervised } from './services/install-service.ts'
import { dropIns, upgradeRequests } from './services/units.ts'

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
  let purged: Purged | undefined
  await report.step("Deleting data, settings and the guests' network", async () => {
    purged = await purgeAll(machine, dataDir)
  })
  report.say(`\nBerth is gone.${purged!.stays.map((line) => `\nWhat stays: ${line}.`).join('')}`)
  if (identity)
    report.say(`This machine was node ${identity.name} of ${identity.controller}: remove it there too, under Nodes.`)
  if (purged!.hasSites)
    report.say(`Caddy ran under Berth's supervision: start it yourself for your own sites in ${paths.caddyMain}.`)
}

/** Throws `Failed` for one that runs on: it would lose its data under it. */
export async function stopServices(machine: Machine, way?: Way) {
  const { exec, hasSystemd } = machine
  if (hasSystemd) exec.try('systemctl', ['disable', '--now', '--quiet', upgradeRequests.name])
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
  for (const name of [...stopped, 'berth-upgrade']) rmSync(`${paths.units}/${name}.service`, { force: true })
  rmSync(`${paths.units}/${upgradeRequests.name}`, { force: true })
  for (const dropIn of [dropIns.lowPort, dropIns.gpu]) removeDropIn(machine, dropIn)
  removeSupervised(machine, 'berth', 'berth-agent', 'berth-http-proxy')
  if (existsSync(paths.caddySite)) await removeSite(machine)
  if (hasSystemd) exec.run('systemctl', ['daemon-reload'])
}
