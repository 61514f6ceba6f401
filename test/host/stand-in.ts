// A machine of a test, on which programs of the distribution are stand-ins.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Flags, flagsFrom } from '../../host/flags.ts'
import { type Ended, Exec } from '../../host/machine/exec.ts'
import { type Machine, openMachine } from '../../host/machine/machine.ts'
import { installed } from '../../host/machine/paths.ts'
import { temporary } from '../agent/temporary.ts'

export type Call = {
  line: string
  input?: string | undefined
  env?: Readonly<Record<string, string | undefined>> | undefined
}

/** A machine without anything on it. `answers`: what a program prints, by the beginning of its command line. */
export function machineWith(answers: Record<string, string> = {}): Machine & { calls: Call[] } {
  const dir = temporary('host')
  mkdirSync(join(dir, 'settings'))
  const paths = { ...installed, settings: `${dir}/settings`, agentState: `${dir}/state`, authorities: '/nonexistent' }
  const calls: Call[] = []
  class StandIn extends Exec {
    override ask(program: string, args: readonly string[], options: { input?: string; env?: Call['env'] } = {}): Ended {
      const line = [program, ...args].join(' ')
      calls.push({ line, input: options.input, env: options.env })
      const found = Object.keys(answers).find((start) => line.startsWith(start))
      return { code: found === undefined ? 1 : 0, out: found === undefined ? '' : answers[found]!, err: '' }
    }
  }
  return { ...openMachine(`${dir}/log`, paths), exec: new StandIn(), calls }
}
export const flags = (text = ''): Flags => flagsFrom(text.split(' ').filter(Boolean), () => 'enr_x')
