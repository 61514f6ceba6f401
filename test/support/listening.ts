// A controller behind a real port of loopback, with settings of its own and a clock that stands still until it is
// turned.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { configFrom } from '../../src/app/config.ts'
import { createController } from '../../src/app/controller.ts'
import { registry } from '../../src/app/features.ts'
import { insertSession } from '../../src/identity/auth/sessions/sessions.ts'
import { addStaff } from '../../src/identity/staff/staff-member.ts'
import { makeToken } from '../../src/identity/tokens/model.ts'
import { secretsWith } from '../../src/kernel/crypto/secrets.ts'
import { openDb, write } from '../../src/kernel/db/open.ts'
import { quieten } from '../../src/kernel/log.ts'
import { withRawPath } from '../../src/kernel/net/raw-path.ts'
import { emptyDatabase } from './world/fresh-db.ts'
import { inThisThread } from './world/reader.ts'
import { allScopes } from './world/rights.ts'

export type Listening = Awaited<ReturnType<typeof listening>>

export async function listening(env: Record<string, string> = {}) {
  quieten(true)
  const dir = mkdtempSync(`${existsSync('/dev/shm') ? '/dev/shm' : tmpdir()}/berth-port-`)
  const config = configFrom({ PANEL_DATA_DIR: dir, PANEL_PUBLIC_URL: 'https://panel.test', ...env })
  let now = 1_800_000_000_000
  writeFileSync(`${dir}/berth.db`, emptyDatabase())
  const db = openDb(`${dir}/berth.db`)
  let wallClockOffMs = 0
  const controller = await createController({
    config,
    clock: () => now + wallClockOffMs,
    monotonic: () => now,
    secrets: secretsWith(Buffer.alloc(32, 7)),
    startReader: inThisThread(registry),
    db,
  })
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    ...(withRawPath(controller.fetch) as any),
    websocket: controller.websocket as any,
  })
  const staff = write(db, (tx) =>
    addStaff(tx, { email: 'ada@staff.test', name: 'Ada', passwordHash: 'x', role: 'Owner', now }),
  )
  const token = write(
    db,
    (tx) => makeToken(tx, staff, { name: 'test', scopes: [...allScopes], allow: [], expiresAt: null }, now).token,
  )
  const cookie = write(db, (tx) => insertSession(tx, staff, { now, from: '127.0.0.1', userAgent: 'test' }))

  return {
    dir,
    db,
    controller,
    url: `http://127.0.0.1:${server.port}`,
    port: server.port!,
    staff,
    token,
    cookie,
    now: () => now,
    turnClock: (ms: number) => void (now += ms),
    /** Somebody sets the host's clock by so much; no time goes by. */
    setWallClock(byMs: number) {
      wallClockOffMs += byMs
      controller.app.time.observe()
    },
    /** Over the wire; the body is read as text, so that bytes can be compared. */
    async ask(method: string, path: string, headers: Record<string, string> = {}, body?: BodyInit) {
      const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body }),
      })
      const text = await response.text()
      return { status: response.status, headers: response.headers, text, code: /"code":"(\w+)"/.exec(text)?.[1] }
    },
    async [Symbol.asyncDispose]() {
      await server.stop(true)
      controller.runner.stop()
      controller.reports.stop()
      controller.app.reader.stop()
      db.$client.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
