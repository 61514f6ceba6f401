// The real thing: the compiled program as processes, a controller and its agents, on loopback with data of their own.
import { Database } from 'bun:sqlite'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { Subprocess } from 'bun'
import { hashPassword } from '../../../src/identity/auth/passwords/hash.ts'
import { berth, type Env, freePort, program } from './program.ts'
import { scopes } from './rights.ts'

/** `relay`: a socket that leads to the controller, for a test whose calls cannot reach it otherwise. */
export async function installation(settings: Env = {}, relay?: string) {
  const dir = mkdtempSync(`${existsSync('/dev/shm') ? '/dev/shm' : tmpdir()}/berth-live-`)
  const listen = settings['PANEL_LISTEN'] ?? `127.0.0.1:${freePort()}`
  const url = `${settings['PANEL_TLS_CERT'] ? 'https' : 'http'}://${listen}`
  /** A test that sets a certificate also names it as an authority. */
  const tls = settings['PANEL_TLS_CERT'] ? { tls: { ca: readFileSync(settings['PANEL_TLS_CERT'], 'utf8') } } : {}
  const env = {
    PANEL_DATA_DIR: dir,
    PANEL_LISTEN: listen,
    PANEL_AGENT_INSECURE: '1',
    PANEL_LOCAL_SERVICES: '127.0.0.0/8',
    ...settings,
  }
  const how = { ...tls, ...(relay && { unix: relay }) }
  const started: Subprocess[] = []

  const spawn = (name: string, args: string[], more: Env) => {
    const child = Bun.spawn([...program, ...args], {
      env: { PATH: process.env['PATH']!, HOME: '/root', ...env, ...more },
      stdout: 'ignore',
      stderr: Bun.file(`${dir}/${name}.log`),
      stdin: 'ignore',
    })
    started.push(child)
    return child
  }
  /** The last errors in the journals of the controllers, for the message of a test that fails. */
  const errorsOfControllers = () =>
    readdirSync(dir)
      .filter((file) => /^controller-\d+\.log$/.test(file))
      .flatMap((file) => readFileSync(`${dir}/${file}`, 'utf8').split('\n'))
      .filter((line) => line.includes('"level":"error"'))
      .slice(-5)
      .join('\n')
  const live = {
    dir,
    url,
    env,
    program,
    /** Resolves when it answers. */
    async serve(more: Env = {}) {
      const child = spawn(`controller-${started.length}`, ['serve'], more)
      for (let i = 0; i < 400; i++) {
        if (child.exitCode !== null || child.signalCode !== null) return child
        if (
          await fetch(`${url}/api/v1/status`, how).then(
            (r) => r.ok,
            () => false,
          )
        )
          return child
        await Bun.sleep(25)
      }
      throw new Error('the controller does not answer')
    },
    agent: (home: string, more: Env = {}) =>
      spawn(`agent-${started.length}`, ['agent', 'run', '--data-dir', home], more),
    async admin(operation: string, body: unknown = {}): Promise<any> {
      const { code, out, error } = await berth(['admin', operation, JSON.stringify(body)], env)
      if (code) throw new Error(`${operation}: ${error}\n${errorsOfControllers()}`)
      return JSON.parse(out)
    },
    /** The API, as a billing system uses it. */
    async api(token: string, method: string, path: string, body?: unknown, headers: Env = {}) {
      const response = await fetch(`${url}/api/v1${path}`, {
        method,
        headers: {
          Authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...how,
      })
      return { status: response.status, body: (await response.json()) as any, headers: response.headers }
    },
    async staffToken(): Promise<string> {
      await berth(
        ['admin', 'create-staff', '--email', 'ada@example.com', '--name', 'Ada'],
        env,
        'seven green bicycles\n',
      )
      const { out } = await berth(
        [
          'admin',
          'create-token',
          '--account',
          'ada@example.com',
          '--name',
          'tests',
          '--scopes',
          [
            'servers:read,servers:create,servers:suspend,servers:terminate,servers:power,servers:reinstall',
            'customers:read,customers:write,nodes:read,nodes:write,network:write,images:write,packages:write',
            'audit:read',
          ].join(),
        ],
        env,
      )
      return out
    },
    /** A token with every scope, of an owner whose password is that of the tests. */
    async ownerToken(): Promise<string> {
      await berth(
        ['admin', 'create-staff', '--email', 'ada@example.com', '--name', 'Ada'],
        env,
        'seven green bicycles\n',
      )
      const args = ['--account', 'ada@example.com', '--name', 'tests', '--scopes', Object.keys(scopes).join(',')]
      return (await berth(['admin', 'create-token', ...args], env)).out
    },
    /** As if its holder had chosen it through the link that is mailed. */
    async givePassword(email: string, password: string) {
      const db = new Database(`${dir}/berth.db`)
      db.run('PRAGMA busy_timeout = 5000')
      db.run('UPDATE accounts SET password_hash = ? WHERE email = ?', [await hashPassword(password), email])
      db.close()
    },
    /** Enrolls an agent with data of its own, in this directory or a new one; answers the directory. */
    async enroll(
      locationId: string,
      name: string,
      args: readonly string[] = ['--fake'],
      fake: object = { bootMs: 5 },
      home = `${dir}/${name}`,
    ) {
      const { token } = await live.admin('nodes.enroll', { locationId, name })
      const { code, error } = await berth(
        ['agent', 'enroll', '--controller', url, '--token-file', '-', '--data-dir', home, ...args],
        env,
        token,
      )
      if (code) throw new Error(error)
      if (args.includes('--fake')) writeFileSync(`${home}/fake.json`, JSON.stringify(fake))
      return home
    },
    async until<T>(what: string, look: () => Promise<T | undefined | false | null>, seconds = 30): Promise<T> {
      const end = Date.now() + seconds * 1000
      while (Date.now() < end) {
        const found = await look().catch(() => undefined)
        if (found) return found
        await Bun.sleep(60) // within the 1200 calls a minute that a token has
      }
      throw new Error(`waited ${seconds} s in vain: ${what}`)
    },
    /** The column `words` of what a query finds in the controller's database, whether it runs or not. */
    query(sql: string): string[] {
      const db = new Database(`${dir}/berth.db`)
      try {
        db.run('PRAGMA busy_timeout = 5000')
        return db
          .query<{ words: string }, []>(sql)
          .all()
          .map(({ words }) => words)
      } finally {
        db.close()
      }
    },
    async log(name: string) {
      return Bun.file(`${dir}/${name}.log`).text()
    },
    async close() {
      for (const child of started) {
        child.kill('SIGKILL')
        await child.exited
      }
      rmSync(dir, { recursive: true, force: true })
    },
  }
  return live
}
export type Installation = Awaited<ReturnType<typeof installation>>
