// The program as its users call it, and a port to call it on.
import { existsSync } from 'node:fs'

/** The program that test/run built; for a quick look during work, the sources do. */
export const program: readonly string[] = (() => {
  const at = (file: string) => new URL(`../../../${file}`, import.meta.url).pathname
  const built = process.env['BERTH_PROGRAM'] ?? at('dist/berth')
  // Bun looks for tsconfig.json in the working directory alone, which is another one for some calls.
  return existsSync(built)
    ? [built]
    : [process.execPath, `--tsconfig-override=${at('tsconfig.json')}`, at('src/main.ts')]
})()

let port = 20_000 + (process.pid % 20_000)
export const freePort = () => {
  for (;;) {
    try {
      const probe = Bun.listen({ hostname: '127.0.0.1', port: ++port, socket: { data() {} } })
      probe.stop(true)
      return port
    } catch {
      // taken; the next one
    }
  }
}

export type Env = Record<string, string>

/** Runs `berth …` to its end. */
export async function berth(args: readonly string[], env: Env = {}, stdin = '') {
  const run = Bun.spawn([...program, ...args], {
    env: { PATH: process.env['PATH']!, HOME: '/root', ...env },
    stdin: new Blob([stdin]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, error, code] = await Promise.all([
    new Response(run.stdout).text(),
    new Response(run.stderr).text(),
    run.exited,
  ])
  return { code, out: out.trim(), error: error.trim() }
}

/** The same as another user of this machine; only root can. */
export async function berthAs(uid: number, args: readonly string[], env: Env = {}) {
  const user = ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups']
  const run = Bun.spawn([...user, ...program, ...args], {
    env: { PATH: process.env['PATH']!, HOME: '/', ...env },
    cwd: '/',
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, error, code] = await Promise.all([
    new Response(run.stdout).text(),
    new Response(run.stderr).text(),
    run.exited,
  ])
  return { code, out: out.trim(), error: error.trim() }
}
