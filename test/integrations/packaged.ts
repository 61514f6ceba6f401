// The PHP modules as they are installed, in a folder of the test file.
import { join } from 'node:path'
import { temporary } from '../agent/temporary.ts'
import { closedAtEnd } from '../support/opened.ts'

let folder: string | undefined

/** The folder of a packaged module: `whmcs`, `fossbilling`, `blesta` or `paymenter`. */
export function packaged(module: string): string {
  if (folder === undefined) {
    const into = temporary('modules')
    const { exitCode, stderr } = Bun.spawnSync(['integrations/package', into])
    if (exitCode !== 0) throw new Error(`integrations/package: ${stderr}`)
    folder = into
    closedAtEnd(() => void (folder = undefined))
  }
  return join(folder, module)
}
