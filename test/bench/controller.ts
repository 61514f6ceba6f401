// Starting the product as its users do: the executable when it is built, otherwise the sources.
import { program as command } from '../support/world/program.ts'
import { end, start, tempDir } from './cleanup.ts'

/** How the product is called, and in words what is being measured. */
export const program = {
  command,
  words: command.length === 1 ? command[0]! : 'bun src/main.ts (dist/berth is not built)',
}

/** A bun script of this directory, in a process of its own. */
export const script = (name: string, ...args: string[]) => [process.execPath, `${import.meta.dir}/${name}`, ...args]

export type Running = { process: Bun.Subprocess; url: string; startedMs: number }

/** Answers once it has answered its first call; `startedMs` counts from the spawn. */
export async function startController(
  dataDir: string,
  port: number,
  env: Record<string, string> = {},
  command = program.command,
): Promise<Running> {
  const url = `http://127.0.0.1:${port}`
  const began = performance.now()
  const child = start([...command, 'serve'], {
    env: { PANEL_LISTEN: `127.0.0.1:${port}`, PANEL_DATA_DIR: dataDir, ...env },
    stderr: Bun.file(`${tempDir}/controller.log`),
  })
  await firstAnswer(`${url}/api/v1/status`, child)
  return { process: child, url, startedMs: performance.now() - began }
}

/**
 * Asks without a pause until something answers, whatever it says. Throws when the process ends or a minute has passed.
 */
export async function firstAnswer(url: string, child: Bun.Subprocess) {
  const until = Date.now() + 60_000
  while (Date.now() < until) {
    if (child.exitCode !== null)
      throw new Error(`it ended with ${child.exitCode} before it answered; see ${tempDir}/controller.log`)
    const answered = await fetch(url, { signal: AbortSignal.timeout(5000) }).then(
      (response) => response.arrayBuffer(),
      () => undefined,
    )
    if (answered) return
    await Bun.sleep(1)
  }
  throw new Error(`${url} did not answer within a minute`)
}

export const stopController = (running: Running) => end(running.process)
