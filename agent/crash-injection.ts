// A failpoint for tests: BERTH_CRASH_AT='vm.start:after' kills this process at that moment, once. A marker file
// remembers it, so that the next start goes through.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type Moment = 'before' | 'after'

/**
 * `before`: the command has arrived and nothing is done. `after`: everything is done and nothing is journalled.
 * The pattern is a command's name or a glob over its key. Without a setting the function that it returns does nothing.
 */
export function crashInjection(dataDir: string, setting = process.env['BERTH_CRASH_AT']) {
  const [, pattern, when] = /^(.+):(before|after)$/.exec(setting ?? '') ?? []
  if (!pattern) return () => {}
  const marker = join(dataDir, 'crash-done')
  const glob = new Bun.Glob(pattern)
  return (moment: Moment, command: { key: string; name: string }) => {
    if (moment !== when || !(pattern === command.name || glob.match(command.key)) || existsSync(marker)) return
    writeFileSync(marker, `${command.key} ${moment}\n`)
    process.kill(process.pid, 'SIGKILL')
  }
}
