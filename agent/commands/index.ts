import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Failure } from '../failure.ts'
import type { Host } from '../host/host.ts'
import { type CommandName, commands } from '../protocol/wire.ts'
import { backupCommands } from './backup.ts'
import type { Commands } from './commands.ts'
import { containerCommands } from './container.ts'
import { drillCommands } from './drill.ts'
import { extraVolumeCommands } from './extra-volume.ts'
import { firewallCommands } from './firewall.ts'
import { guestCommands } from './guest.ts'
import { guestAddressCommands } from './guest-addresses.ts'
import { imageCommands } from './image.ts'
import { privateNetworkCommands } from './private-network.ts'
import { seedCommands } from './seed.ts'
import { vmCommands } from './vm.ts'
import { volumeCommands } from './volume.ts'

/** Every command of the protocol. One that has no implementation here does not compile. */
export const run: Commands = {
  ...imageCommands,
  ...volumeCommands,
  ...extraVolumeCommands,
  ...seedCommands,
  ...firewallCommands,
  ...guestAddressCommands,
  ...vmCommands,
  ...privateNetworkCommands,
  ...guestCommands,
  ...backupCommands,
  ...drillCommands,
  ...containerCommands,
}

const checks = new Map(Object.entries(commands).map(([name, { input }]) => [name, Compile(input as TSchema)]))

/** Checks a command's name and input. Throws `invalid_command`, before anything is done or journalled. */
export function parseCommand(
  name: string,
  input: unknown,
): {
  name: CommandName
  work: (host: Host) => Promise<unknown>
  workload: string | undefined
  /** The workload whose other commands must wait; undefined for a command that looks or waits. */
  turn: string | undefined
} {
  const check = checks.get(name)
  if (!check)
    throw new Failure('invalid_command', `this agent knows no command ${name}; is it older than the controller?`)
  if (!check.Check(input)) {
    const where = check.Errors(input).map((error) => `${error.instancePath || '/'} ${error.message}`)
    throw new Failure('invalid_command', `${name}: ${where.slice(0, 3).join('; ')}`)
  }
  const known = name as CommandName
  const workload = workloadOf(input)
  return {
    name: known,
    work: (host) => run[known](input as never, host),
    workload,
    turn: looking.has(known) ? undefined : workload,
  }
}

/**
 * Commands that change nothing of the workload. Those that await may take minutes and end when the workload is stopped,
 * and `backup.make` takes hours, so nothing waits for them. Those of the firewall wait for its rules alone: they also
 * reach a vm that is shutting down.
 */
const looking: ReadonlySet<CommandName> = new Set([
  'volume.look',
  'vm.look',
  'vm.await',
  'drill.await',
  'firewall.float',
  'guest.look',
  'firewall.look',
  'firewall.set-policy',
  'backup.make',
  'container.look',
  'container.await',
  'container.logs',
])

function workloadOf(input: unknown): string | undefined {
  const { workload, volume, vm } = input as {
    workload?: string
    volume?: { workload: string }
    vm?: { workload: string }
  }
  return workload ?? volume?.workload ?? vm?.workload
}
