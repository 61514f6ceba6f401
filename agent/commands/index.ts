import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { Failure, UndeclaredFailure } from '../failure.ts'
import type { Handlers, Host } from '../host/host.ts'
import { type CommandDeclaration, everyFailure } from '../protocol/commands/declare.ts'
import { type CommandName, commands } from '../protocol/wire.ts'
import { backup } from './backup.ts'
import { container } from './container.ts'
import { firewall } from './firewall.ts'
import { gpu } from './gpu.ts'
import { guestAgent } from './guest-agent.ts'
import { httpNames } from './http-names.ts'
import { hypervisor } from './hypervisor.ts'
import { images } from './images.ts'
import { sourceRemoval } from './imports/source-removal.ts'
import { privateNetwork } from './private-network.ts'
import { seed } from './seed.ts'
import { sourceHost } from './source-host.ts'
import { storage } from './storage.ts'
import { transfer } from './transfer.ts'
import { workspace } from './workspace.ts'

/** Every command of the protocol. One that has no handler here does not compile. */
export const handlers: Handlers<typeof commands> = {
  ...images,
  ...storage,
  ...seed,
  ...firewall,
  ...guestAgent,
  ...privateNetwork,
  ...hypervisor,
  ...backup,
  ...gpu,
  ...container,
  ...workspace,
  ...httpNames,
  ...transfer,
  ...sourceHost,
  ...sourceRemoval,
}

const checks = new Map(Object.entries(commands).map(([name, { input }]) => [name, Compile(input as TSchema)]))

/** Checks a command's name and input. Throws `invalid_command`, before anything is done or journalled. */
export function parseCommand(
  name: string,
  input: unknown,
): {
  name: CommandName
  kind: 'look' | 'act'
  work: (host: Host) => Promise<unknown>
  workload: string | undefined
  /** The workload whose other commands must wait; undefined for a command that takes no turn. */
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
  const { kind, outOfTurn }: CommandDeclaration = commands[known]
  return {
    name: known,
    kind,
    work: async (host) => {
      try {
        return await handlers[known](input as never, host)
      } catch (error) {
        throw error instanceof Failure && !mayFailWith(known, error.code) ? new UndeclaredFailure(name, error) : error
      }
    },
    workload,
    turn: kind === 'look' || outOfTurn ? undefined : workload,
  }
}

export const mayFailWith = (name: CommandName, code: string): boolean =>
  [...everyFailure, ...commands[name].failures].some((declared) => declared === code)

function workloadOf(input: unknown): string | undefined {
  const { workload, volume, vm } = input as {
    workload?: string
    volume?: { workload: string }
    vm?: { workload: string }
  }
  return workload ?? volume?.workload ?? vm?.workload
}
