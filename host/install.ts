// `berth host install`: what install.sh does once there is a program. Run again, it changes what has changed.
import { copyFileSync, linkSync, renameSync, rmSync } from 'node:fs'
import { VERSION } from '../src/kernel/version.ts'
import { installCaddy } from './controller/caddy.ts'
import { configureController, controllerSettings } from './controller/settings.ts'
import { createStaff, type Staff, startController } from './controller/start.ts'
import { makeFirstServerReady } from './first-server.ts'
import type { Flags } from './flags.ts'
import { isSameFile, type Machine, makeDirectory } from './machine/machine.ts'
import { hostProgram } from './machine/paths.ts'
import { identityOf } from './node/identity.ts'
import { installNode } from './node/install.ts'
import { type Result, sayResult } from './result.ts'

/** `program`: the file that is put in place, which is this process's own. */
export async function install(machine: Machine, flags: Flags, program = process.execPath) {
  const { paths, report } = machine
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

/** Two names of one file: that of the program, and that which the network and the supervisor of services run under. */
export function placeProgram({ changed, paths }: Machine, from: string): string {
  const { program, library } = paths
  makeDirectory(library)
  const isNew = !isSameFile(from, program)
  if (isNew) {
    putFile(from, program, copyFileSync)
    changed.add(program)
  }
  if (!isSameFile(program, hostProgram(paths))) putFile(program, hostProgram(paths), linkOrCopy)
  return isNew ? VERSION : 'the newest already'
}

/** A process keeps the old file until it is started anew. */
function putFile(from: string, to: string, put: (from: string, to: string) => void) {
  rmSync(`${to}.new`, { force: true })
  put(from, `${to}.new`)
  renameSync(`${to}.new`, to)
}

/** Two file systems have no file in common. */
function linkOrCopy(from: string, to: string) {
  try {
    linkSync(from, to)
  } catch {
    copyFileSync(from, to)
  }
}
