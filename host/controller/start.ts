// The controller as a service, and its first member of staff.
import { randomBytes } from 'node:crypto'
import type { Flags } from '../flags.ts'
import { becomes, type Machine, place, textOf } from '../machine/machine.ts'
import { controllerEnv } from '../machine/paths.ts'
import { Failed } from '../machine/report.ts'
import { installService, installUpgradeRequests, journalOf, runService } from '../services/install-service.ts'
import { admin } from './admin.ts'
import { allowPort, type ControllerSettings, localUrl } from './settings.ts'

/** Answers how it was started. Throws `Failed` where it does not answer within 30 s. */
export async function startController(machine: Machine, flags: Flags, { listen }: ControllerSettings): Promise<string> {
  const { exec, hasSystemd, paths } = machine
  installService(machine, 'berth', `${flags.source}/docs`)
  installUpgradeRequests(machine, `${flags.source}/docs`)
  if (hasSystemd) allowPort(machine, listen)
  const note = await runService(machine, 'berth', controllerEnv(paths))
  const status = ['-fsS', '--noproxy', '*', '-o', '/dev/null', '--max-time', '2', `${localUrl(listen)}/api/v1/status`]
  if (!(await becomes(30, () => exec.ask('curl', status).code === 0)))
    throw new Failed('The controller was started but does not answer.', `Its journal: ${journalOf(machine, 'berth')}`)
  return note
}

/** `password` is there when this run made it. */
export type Staff = { email: string; password?: string; note: string }

/** The first staff sign-in, once. */
export function createStaff(machine: Machine, { email, domain, name }: Flags): Staff {
  const made = `${machine.paths.settings}/staff`
  const before = textOf(made)?.trim()
  if (before) return { email: before, note: `${before}, made earlier` }
  const wanted = email ?? `admin@${domain ?? hostName(machine)}`
  const address = wanted.slice(wanted.indexOf('@') + 1).includes('.') ? wanted : 'admin@localhost.localdomain'
  const password = randomBytes(15)
    .toString('base64url')
    .replace(/.{5}(?!$)/g, '$&-')
  admin(machine, ['create-staff', '--email', address, '--name', name ?? 'Administrator'], `${password}\n`)
  place(machine, made, 0o644, `${address}\n`)
  return { email: address, password, note: address }
}

const hostName = ({ exec }: Machine) => {
  const full = exec.ask('hostname', ['-f'])
  return (full.code === 0 ? full : exec.ask('hostname', [])).out.trim()
}
