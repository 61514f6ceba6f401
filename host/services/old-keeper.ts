// Before there was the supervisor, a process of a shell script kept each service: `…/services keep NAME`, its number
// alone in a file. One that still runs after an upgrade ends before the supervisor gets the service.
import { textOf } from '../machine/machine.ts'
import type { Paths } from '../machine/paths.ts'

/** The keeper waits for its service without a limit. */
const END_MS = 30_000

type Keeper = { pid: number; name: string }

export function oldKeeperOf({ run }: Paths, name: string): Keeper | undefined {
  const noted = textOf(`${run}/${name}.pid`)?.trim() ?? ''
  const keeper = { pid: Number(noted), name }
  return /^\d+$/.test(noted) && lives(keeper) ? keeper : undefined
}

/** With its service, as the script's own `stop` did. Resolves to whether both are gone. */
export async function endOldKeeper(keeper: Keeper): Promise<boolean> {
  try {
    process.kill(keeper.pid, 'SIGTERM')
  } catch {
    // It has just ended.
  }
  for (const end = performance.now() + END_MS; lives(keeper); await Bun.sleep(50))
    if (performance.now() > end) return false
  return true
}

/** A number may be another process's by now. */
function lives({ pid, name }: Keeper): boolean {
  const [script, action, kept] = (textOf(`/proc/${pid}/cmdline`) ?? '').split('\0').slice(0, -1).slice(-3)
  return script?.endsWith('/services') === true && action === 'keep' && kept === name
}
