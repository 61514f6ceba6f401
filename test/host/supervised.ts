// A supervisor for tests, as a process of its own: `bun supervised.ts DIR supervise`. With `start NAME…` and the like
// in place of `supervise` it is told something. Its services are small programs; `launches.json` says what each runs.
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import type { Machine } from '../../host/machine/machine.ts'
import { openMachine } from '../../host/machine/machine.ts'
import { installed } from '../../host/machine/paths.ts'
import { services } from '../../host/services/command.ts'
import type { launches } from '../../host/services/launch.ts'
import { supervise } from '../../host/services/supervisor.ts'
import { stopServices } from '../../host/uninstall.ts'

export type Known = {
  command: string[]
  env?: Record<string, string>
  final?: number[]
  listen?: string
  isKilled?: boolean
  /** A file that is copied to another place before each start. */
  copied?: [from: string, to: string]
}

export const pathsIn = (dir: string) => ({
  ...installed,
  settings: `${dir}/settings`,
  library: `${dir}/library`,
  logs: `${dir}/logs`,
  run: `${dir}/run`,
})

if (import.meta.main) {
  const [dir = '', command = '', ...names] = process.argv.slice(2)
  const read = () => JSON.parse(readFileSync(`${dir}/launches.json`, 'utf8')) as Record<string, Known>
  const known = read()
  // Read anew at each start, as settings are.
  const all = Object.fromEntries(
    Object.keys(known).map((name) => [
      name,
      () => {
        const { copied, ...launch } = read()[name]!
        return { ...launch, ...(copied && { prepare: async () => copyFileSync(...copied) }) }
      },
    ]),
  ) as unknown as typeof launches
  const paths = pathsIn(dir)
  if (command === 'supervise') {
    const stopMs = existsSync(`${dir}/stop-ms`) ? Number(readFileSync(`${dir}/stop-ms`, 'utf8')) : undefined
    await supervise(paths, { all, mostLogBytes: 2000, capLogsEveryMs: 100, ...(stopMs && { stopMs }) })
    process.exit(0)
  }
  const machine: Machine = { ...openMachine('/dev/null', paths), hasSystemd: false }
  const way = { supervisor: [process.execPath, import.meta.path, dir, 'supervise'], known: Object.keys(known) }
  if (command === 'uninstall') {
    const { problem } = (await stopServices(machine, way).catch((error) => error)) ?? {}
    console.log(problem ?? 'stopped')
    process.exit(0)
  }
  process.exit(await services(machine, [command, ...names], way))
}
