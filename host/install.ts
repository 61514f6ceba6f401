// `berth host install`: what install.sh does once there is a program. Run again, it changes what has changed.
import { copyFileSync, renameSync, rmSync } from 'node:fs'
import { VERSION } from '../src/kernel/version.ts'
import { installCaddy } from './controller/caddy.ts'
import { configureController, controllerSettings } from './controller/settings.ts'
import { createStaff, type Staff, startController } from './controller/start.ts'
import { makeFirstServerReady } from './first-server.ts'
import type { Flags } from './flags.ts'
import { lookBefore } from './look/look.ts'
import { putProgram } from './machine/durable.ts'
import { isSameFile, type Machine, makeDirectory } from './machine/machine.ts'
import { agentProgram, hostProgram } from './machine/paths.ts'
import { Failed } from './machine/report.ts'
import { identityOf } from './node/identity.ts'
import { installNode } from './node/install.ts'
import { type Result, sayResult } from './result.ts'
import { underWay } from './upgrade/store.ts'

/** `program`: the file that is put in place, which is this process's own. */
export async function install(machine: Machine, flags: Flags, program = process.execPath) {
  const { paths, report } = machine
  const upgrade = underWay(paths)
  if (upgrade)
    throw new Failed(
      `An upgrade of ${upgrade.service} to ${upgrade.to} is under way.`,
      'Nothing was changed. Wait until it has ended (berth upgrade --status shows it), and run this again.',
    )
  await report.step('Space, ports and networks', () => lookBefore(machine, flags))
  await report.step(`Program ${paths.program}`, () => placeProgram(machine, program))
  // install.sh fetched it there from the controller.
  rmSync(`${paths.library}/fetched`, { force: true })
  if (flags.mode === 'agent') {
    await installNode(machine, flags)
    const { name, controller } = identityOf(paths)!
    report.say(`\nThis machine is node ${name} of ${controller}. The panel shows it under Nodes.`)
    return
  }
  const result = await installController(machine, flags)
  if (flags.mode === 'all-in-one') {
    const { settings, staff } = result
    const network = await installNode(machine, flags, settings.listen)
    if (flags.firstGuest)
      result.token = await makeFirstServerReady(machine, { flags, network, settings, email: staff.email })
  }
  sayResult(machine, flags, result)
}

async function installController(machine: Machine, flags: Flags): Promise<Result> {
  const { report } = machine
  const settings = controllerSettings(machine, flags)
  await report.step('Settings of the controller', () => configureController(machine, flags, settings))
  await report.step('Service berth', () => startController(machine, flags, settings))
  let hasCertificate = true
  const { domain } = flags
  if (domain !== undefined) {
    const kind = settings.labCertificate ? 'certificate of its own authority' : 'automatic HTTPS'
    await report.step(`Caddy for ${domain}, ${kind}`, async () => {
      ;({ hasCertificate } = await installCaddy(machine, { ...flags, domain }, settings))
      return hasCertificate ? undefined : 'no certificate yet'
    })
  }
  let staff: Staff | undefined
  await report.step('First staff sign-in', () => (staff = createStaff(machine, flags)).note)
  return { settings, staff: staff!, hasCertificate }
}

/** One file has the names of people and the controller, of the agent, and of Berth's own services. */
export function placeProgram({ changed, paths }: Machine, from: string): string {
  const { program, library } = paths
  makeDirectory(library)
  const isNew = !isSameFile(from, program)
  if (isNew) {
    const part = `${program}.new`
    rmSync(part, { force: true })
    try {
      copyFileSync(from, part)
      renameSync(part, program)
    } catch (error) {
      // A part of it would fill a disk that is full already.
      rmSync(part, { force: true })
      throw error
    }
    changed.add(program)
  }
  for (const name of [hostProgram(paths), agentProgram(paths)]) {
    if (!isSameFile(program, name)) changed.add(name)
    putProgram(program, name)
  }
  return isNew ? VERSION : 'the newest already'
}
