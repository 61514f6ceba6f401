// Starts the agent as an operator does: a process and a data directory of its own.
import { join } from 'node:path'
import { temporary } from './temporary.ts'

const ENTRY = join(import.meta.dir, 'berth-agent.ts')

export const dataDir = () => temporary('agent-test')

/** Runs `berth agent ARGS` to its end. `input`: its standard input. */
export async function berthAgent(args: string[], env: Record<string, string> = {}, input = '') {
  const child = Bun.spawn([process.execPath, ENTRY, ...args], {
    env: { ...process.env, ...env },
    stdin: Buffer.from(input),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, out, err }
}

/** Starts `berth agent run` and leaves it running. */
export function agentProcess(
  dir: string,
  env: Record<string, string> = {},
  stderr: 'pipe' | 'ignore' | 'inherit' = process.env['SHOW_AGENT'] ? 'inherit' : 'ignore',
) {
  const child = Bun.spawn([process.execPath, ENTRY, 'run', '--data-dir', dir], {
    env: { ...process.env, ...env },
    stdout: 'inherit',
    stderr,
  })
  return {
    child,
    stop: async (signal: NodeJS.Signals = 'SIGTERM') => {
      child.kill(signal)
      return child.exited
    },
  }
}
