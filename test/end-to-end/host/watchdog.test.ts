// The program tells a service manager that it works and lives (sd_notify(3)), as systemd hears it: on a datagram socket
// that another program owns.
import { afterAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Subprocess } from 'bun'
import { ServiceManager } from '../../../agent/protocol/systemd.ts'
import { controller } from '../../agent/controller.ts'
import { temporary } from '../../agent/temporary.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { installation } from '../../support/world/processes.ts'
import { berth } from '../../support/world/program.ts'

const WATCHDOG_MS = 1500
const receiver = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1].replace('@', '\\0', 1) if sys.argv[1].startswith('@') else sys.argv[1])
print('listens', flush=True)
while True:
    print(s.recv(4096).decode().replace('\\n', ' '), flush=True)
`
const closing: (() => unknown)[] = []
afterAll(async () => {
  for (const close of closing.reverse()) await close()
})

/** A receiver at this socket, and what it has heard. */
async function manager(socket: string) {
  const child = Bun.spawn(['python3', '-c', receiver, socket], { stdout: 'pipe', stderr: 'inherit', stdin: 'ignore' })
  closing.push(() => child.kill('SIGKILL'))
  const heard: string[] = []
  void (async () => {
    const decoder = new TextDecoder()
    let rest = ''
    for await (const bytes of child.stdout) {
      const whole = (rest + decoder.decode(bytes, { stream: true })).split('\n')
      rest = whole.pop()!
      heard.push(...whole)
    }
  })()
  await eventually(() => heard.shift() === 'listens')
  const env = { NOTIFY_SOCKET: socket, WATCHDOG_USEC: String(WATCHDOG_MS * 1000) }
  return { heard, env, pings: () => heard.filter((text) => text === 'WATCHDOG=1').length }
}
type Manager = Awaited<ReturnType<typeof manager>>

/** The life of a program, as its manager sees it. */
async function isWatched({ heard, pings }: Manager, child: Subprocess) {
  await eventually(() => heard.includes('WATCHDOG=1'), 30)
  expect(heard).toContain('READY=1')
  expect(heard.indexOf('WATCHDOG=1')).toBeGreaterThan(heard.indexOf('READY=1'))
  const before = pings()
  await Bun.sleep(WATCHDOG_MS * 2)
  expect(pings() - before).toBeGreaterThanOrEqual(4)
  // One whose event loop does not turn tells nothing, so systemd kills it.
  child.kill('SIGSTOP')
  await Bun.sleep(200)
  const stopped = pings()
  await Bun.sleep(WATCHDOG_MS * 1.5)
  expect(pings()).toBe(stopped)
  child.kill('SIGCONT')
  await eventually(() => pings() > stopped, 10)
  expect(heard).not.toContain('STOPPING=1')
  child.kill('SIGTERM')
  expect(await child.exited).toBe(0)
  await eventually(() => heard.includes('STOPPING=1'))
  const last = pings()
  await Bun.sleep(WATCHDOG_MS)
  expect(pings()).toBe(last)
}

describe('a service manager hears', () => {
  test('from the controller, at a socket that is a file, that it works, that it lives, and that it stops', async () => {
    const live = await installation()
    closing.push(() => live.close())
    const told = await manager(join(live.dir, 'notify'))
    const child = await live.serve(told.env)
    expect((await fetch(`${live.url}/api/v1/status`)).status).toBe(200)
    await isWatched(told, child)
  }, 60_000)

  test('the same from the agent, at an abstract socket, also while libvirt and its storage hang', async () => {
    const fakeController = controller()
    closing.push(fakeController.close)
    const dir = temporary('watchdog')
    const how = ['--controller', fakeController.url, '--token-file', '-', '--name', 'n1', '--data-dir', dir, '--fake']
    expect(await berth(['agent', 'enroll', ...how], {}, 'good')).toMatchObject({ code: 0 })
    writeFileSync(join(dir, 'faults.json'), JSON.stringify([{ hangs: 'hypervisor' }, { hangs: 'pool', pool: 'local' }]))
    const live = await installation()
    closing.push(() => live.close())
    const told = await manager(`@berth-test-${process.pid}`)
    await isWatched(told, live.agent(dir, told.env))
  }, 60_000)

  test('nothing while the program says itself that it does not live, and that long work may hold it up', async () => {
    const told = await manager(join(temporary('watchdog'), 'notify'))
    const warned: string[] = []
    const ours = new ServiceManager((text) => void warned.push(text), told.env)
    let isAlive = false
    // Work of the start, which nobody watches, does not begin it.
    expect(ours.patiently(() => 7)).toBe(7)
    ours.ready(() => {
      if (!isAlive) throw new Error('the database is not read')
    })
    await Bun.sleep(WATCHDOG_MS * 1.5)
    expect([told.pings(), warned]).toEqual([0, ['the watchdog is not told that this program lives']])
    isAlive = true
    await eventually(() => told.pings() > 0)
    const usual = `WATCHDOG_USEC=${WATCHDOG_MS * 1000}`
    expect(ours.patiently(() => 7)).toBe(7)
    await eventually(() => told.heard.at(-1) === usual)
    expect(told.heard.slice(-2)).toEqual(['WATCHDOG_USEC=600000000', usual])
    ours.suspend()
    ours.patiently(() => {})
    await Bun.sleep(WATCHDOG_MS)
    expect(told.heard.at(-1)).toBe('WATCHDOG_USEC=86400000000')
    ours.stopping()
    await eventually(() => told.heard.at(-1) === 'STOPPING=1')
    expect(told.heard.filter((text) => text.startsWith('WATCHDOG_USEC='))).toHaveLength(4)
  }, 60_000)

  test('nothing from a program that it did not start, or that asks for no watchdog', async () => {
    const live = await installation()
    closing.push(() => live.close())
    const told = await manager(join(live.dir, 'notify'))
    const child = await live.serve({ ...told.env, WATCHDOG_PID: '1' })
    await Bun.sleep(WATCHDOG_MS)
    expect(told.heard.filter((text) => !text.startsWith('FDSTORE'))).toEqual(['READY=1'])
    child.kill('SIGTERM')
    await child.exited
  }, 60_000)

  test('nothing where it has gone: the program works on, and says so once', async () => {
    const live = await installation()
    closing.push(() => live.close())
    const child = await live.serve({ NOTIFY_SOCKET: join(live.dir, 'nobody'), WATCHDOG_USEC: '300000' })
    await Bun.sleep(1000)
    expect((await fetch(`${live.url}/api/v1/status`)).status).toBe(200)
    child.kill('SIGTERM')
    expect(await child.exited).toBe(0)
    const said = await Bun.file(join(live.dir, 'controller-0.log')).text()
    expect(said.match(/the service manager cannot be told/g)).toHaveLength(1)
  }, 60_000)
})
