// Without systemd the supervisor looks for the request of the controller to be upgraded, as a path unit does elsewhere.
import { existsSync } from 'node:fs'
import { REQUEST_FILE, requestFolder } from '../../agent/protocol/release/upgrade.ts'
import { startService } from '../machine/exec.ts'
import { controllerEnv, hostProgram, type Paths } from '../machine/paths.ts'
import { dataDirOf } from '../upgrade/data.ts'

const LOOK_MS = 2000

/** Until `stop`. The request is taken and carried out by the last good program. */
export function watchRequests(paths: Paths): { stop(): void } {
  let isTaken = false
  const timer = setInterval(() => {
    if (isTaken || !existsSync(controllerEnv(paths))) return
    if (!existsSync(`${requestFolder(dataDirOf(paths))}/${REQUEST_FILE}`)) return
    isTaken = true
    const command = [hostProgram(paths), 'host', 'upgrade-requested']
    const env = process.env as Record<string, string>
    try {
      const { exited } = startService(command, { cwd: '/', env, log: `${paths.logs}/upgrade.log` })
      void exited.finally(() => (isTaken = false))
    } catch {
      isTaken = false
    }
  }, LOOK_MS)
  return { stop: () => clearInterval(timer) }
}
