// The crash seam. BERTH_CRASH_AT='vm.start:after' kills this process, once, at exactly that moment, so that tests can
// prove what a power cut there leaves behind. The marker file makes it once: the next start goes through.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type Moment = 'before' | 'after'

/**
 * `before`: the command has arrived, nothing is done. `after`: all is done, nothing is journalled.
 * The pattern is a command's name or a glob over its key.
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
