// The program's own administration, as the user who owns the data.
import { settingsIn } from '../../src/kernel/command-line/settings-file.ts'
import { type Ended, ProgramFailed } from '../machine/exec.ts'
import type { Machine } from '../machine/machine.ts'

/** Runs `berth admin WORDS`, with the settings of the installed service, and answers how it ended. */
export function tryAdmin({ exec, paths }: Machine, words: readonly string[], input?: string): Ended {
  const env = {
    ...settingsIn(`${paths.settings}/controller.env`),
    ...settingsIn(`${paths.settings}/controller.local.env`),
  }
  const user = ['--reuid=berth', '--regid=berth', '--init-groups']
  return exec.ask('setpriv', [...user, paths.program, 'admin', ...words], {
    env,
    cwd: '/',
    ...(input !== undefined && { input }),
  })
}

/** The same; answers what it printed. Throws `ProgramFailed`, with what it said in the log. */
export function admin(machine: Machine, words: readonly string[], input?: string): string {
  const { code, out, err } = tryAdmin(machine, words, input)
  machine.report.write(err)
  if (code !== 0) throw new ProgramFailed(`berth admin ${words[0]} ended with ${code}`)
  return out.trim()
}

/** Calls an operation with this body. Answers its response. */
export const call = (machine: Machine, operation: string, body: object = {}): any =>
  JSON.parse(admin(machine, [operation, JSON.stringify(body)]))

/** The identifier of the first in a list, or undefined. */
export const firstOf = (machine: Machine, operation: string): string | undefined => call(machine, operation).data[0]?.id
