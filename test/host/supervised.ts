// A supervisor for tests, as a process of its own: `bun supervised.ts DIR supervise`. With `start NAME…` and the like
// in place of `supervise` it is told something. Its services are small programs; `launches.json` says what each runs.
import { readFileSync } from 'node:fs'
import type { Machine } from '../../host/machine/machine.ts'
import { openMachine } from '../../host/machine/machine.ts'
import { installed } from '../../host/machine/paths.ts'
import { services } from '../../host/services/command.ts'
import type { launches } from '../../host/services/launch.ts'
import { supervise } from '../../host/services/supervisor.ts'

type Known = Record<string, { command: string[]; env?: Record<string, string>; final?: number[]; listen?: string }>

export const pathsIn = (dir: string) => ({
  ...installed,
  settings: `${dir}/settings`,
  library: `${dir}/library`,
  logs: `${dir}/logs`,
  run: `${dir}/run`,
})

if (import.meta.main) {
  const [dir = '', verb = '', ...names] = process.argv.slice(2)
  const known = JSON.parse(readFileSync(`${dir}/launches.json`, 'utf8')) as Known
  // Read anew at each start, as settings are.
  const all = Object.fromEntries(
    Object.keys(known).map((name) => [
      name,
      () => (JSON.parse(readFileSync(`${dir}/launches.json`, 'utf8')) as Known)[name]!,
    ]),
  ) as unknown as typeof launches
  const paths = pathsIn(dir)
  if (verb === 'supervise') {
    await supervise(paths, { all, mostLogBytes: 2000, capLogsEveryMs: 100 })
    process.exit(0)
  }
  const machine: Machine = { ...openMachine('/dev/null', paths), hasSystemd: false }
  const supervisor = [process.execPath, import.meta.path, dir, 'supervise']
  process.exit(await services(machine, [verb, ...names], { supervisor, known: Object.keys(known) }))
}
