// Under systemd a unit each; elsewhere a name in a list that the supervisor starts and keeps alive.
import { existsSync, rmSync } from 'node:fs'
import { type Machine, place, setting, textOf } from '../machine/machine.ts'
import { agentProgram, controllerEnv, hostProgram, servicesCommand } from '../machine/paths.ts'
import { listedServices, tellService } from './command.ts'
import { oldKeeperOf } from './old-keeper.ts'
import { dropIns, packaged, renderUnit, type Unit, upgradeRequests } from './units.ts'

const unitFile = ({ paths }: Machine, unit: string) => `${paths.units}/${unit}.service`
export const dropInFile = ({ paths }: Machine, { unit, name }: { unit: string; name: string }) =>
  `${paths.units}/${unit}.service.d/${name}`

/** Writes and enables a unit, and shows it to systemd if it has changed. `docs`: where the documents are. */
export function installUnit(machine: Machine, unit: Unit, docs = packaged.docs) {
  const { changed, exec, paths } = machine
  const dataDir = setting(controllerEnv(paths), 'PANEL_DATA_DIR') || packaged.dataDir
  const systemdVersion = systemdVersionOf(machine)
  place(
    machine,
    unitFile(machine, unit),
    0o644,
    renderUnit(unit, {
      ...{ program: paths.program, agentProgram: agentProgram(paths), hostProgram: hostProgram(paths) },
      ...{ docs, dataDir, systemdVersion },
    }),
  )
  if (changed.has(unitFile(machine, unit))) exec.run('systemctl', ['daemon-reload'])
  exec.run('systemctl', ['enable', '--quiet', unit])
}

/** Root takes the requests of the controller to be upgraded; the supervisor does so elsewhere. */
export function installUpgradeRequests(machine: Machine, docs: string) {
  const { changed, exec, hasSystemd, paths } = machine
  if (!hasSystemd) return
  const dataDir = setting(controllerEnv(paths), 'PANEL_DATA_DIR') || packaged.dataDir
  const places = { program: paths.program, docs, dataDir, systemdVersion: systemdVersionOf(machine) }
  const path = `${paths.units}/${upgradeRequests.name}`
  place(machine, unitFile(machine, 'berth-upgrade'), 0o644, renderUnit('berth-upgrade', places))
  place(machine, path, 0o644, upgradeRequests.text(docs, dataDir))
  if (changed.has(path) || changed.has(unitFile(machine, 'berth-upgrade'))) exec.run('systemctl', ['daemon-reload'])
  exec.run('systemctl', ['enable', '--now', '--quiet', upgradeRequests.name])
}

/** Puts a drop-in file of packaging/ in place, or takes it away. */
export function setDropIn(machine: Machine, which: keyof typeof dropIns, isThere: boolean) {
  const { changed, exec } = machine
  const dropIn = dropIns[which]
  const file = dropInFile(machine, dropIn)
  if (isThere) place(machine, file, 0o644, dropIn.text)
  else if (existsSync(file)) {
    rmSync(file)
    changed.add(file)
  }
  if (changed.has(file)) exec.run('systemctl', ['daemon-reload'])
}

/** 0 where there is none. */
export const systemdVersionOf = ({ exec }: Machine) =>
  Number(/^systemd (\d+)/.exec(exec.ask('systemctl', ['--version']).out)?.[1] ?? 0)

/** The end of the list is started last. */
export function addSupervised(machine: Machine, name: string) {
  const { paths } = machine
  const usage = '# Without systemd: start|stop|restart|status [NAME…], or run'
  const command = `#!/bin/sh\n${usage}\nexec ${hostProgram(paths)} host services "$@"\n`
  place(machine, servicesCommand(paths), 0o755, command)
  const names = [...new Set([...listedServices(paths), name])]
  place(machine, `${paths.settings}/services`, 0o644, names.map((each) => `${each}\n`).join(''))
}

export function removeSupervised(machine: Machine, ...names: string[]) {
  const { paths } = machine
  if (textOf(`${paths.settings}/services`) === undefined) return
  const left = listedServices(paths).filter((name) => !names.includes(name))
  place(machine, `${paths.settings}/services`, 0o644, left.map((each) => `${each}\n`).join(''))
}

/** Makes it a service of this machine, whichever way services are kept here. */
export function installService(machine: Machine, unit: Unit, docs?: string) {
  if (machine.hasSystemd) installUnit(machine, unit, docs)
  else addSupervised(machine, unit)
}

/**
 * Starts a service, or starts it anew if one of the files, its program or its own definition has changed. Answers
 * which, for the line of the step. Whether it works is looked at by whoever needs it.
 */
export async function runService(machine: Machine, name: string, ...files: string[]): Promise<string> {
  const { changed, exec, hasSystemd, paths } = machine
  const parts = [
    ...files,
    ...(hasSystemd ? [unitFile(machine, name)] : []),
    ...(name === 'berth' ? [paths.program] : name === 'berth-agent' ? [agentProgram(paths)] : []),
    ...Object.values(dropIns).flatMap((dropIn) => (dropIn.unit === name ? [dropInFile(machine, dropIn)] : [])),
  ]
  // A keeper of the time before hands its service over to the supervisor.
  const isAnew = parts.some((file) => changed.has(file)) || (!hasSystemd && oldKeeperOf(paths, name) !== undefined)
  const isActive = hasSystemd
    ? exec.try('systemctl', ['is-active', '--quiet', name]) === 0
    : (await tellService(machine, name, 'status')).isDone
  if (isActive && !isAnew) return 'already running'
  const action = isActive ? 'restart' : 'start'
  if (hasSystemd) exec.try('systemctl', [action, name], { limitSeconds: 120 })
  else {
    const told = await tellService(machine, name, action)
    if (!told.isDone) throw new Error(told.words)
  }
  return isActive ? 'started anew' : 'started'
}

/** Where a person reads what a service says, under systemd and without systemd. */
export const journalOf = ({ hasSystemd, paths }: Machine, name: string) =>
  hasSystemd ? `journalctl -u ${name}` : `${paths.logs}/${name}.log`
