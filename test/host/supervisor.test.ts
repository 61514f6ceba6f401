// The supervisor of services on a machine without systemd, as processes: it is killed, its services are killed, and
// both go on.
import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporary } from '../agent/temporary.ts'
import { eventually } from '../support/waiting/eventually.ts'
import { freePort } from '../support/world/program.ts'

setDefaultTimeout(60_000)
const entry = join(import.meta.dir, 'supervised.ts')

type Launch = { command: string[]; env?: Record<string, string>; final?: number[]; listen?: string }
const opened: { services: (...args: string[]) => Promise<unknown> }[] = []
afterEach(async () => {
  for (const { services } of opened.splice(0)) await services('stop')
})

/** A machine with these services, listed in this order. */
function machineWith(launches: Record<string, Launch>) {
  const dir = temporary('supervisor')
  for (const name of ['settings', 'logs']) mkdirSync(join(dir, name))
  const set = (changed: Record<string, Launch>) =>
    writeFileSync(join(dir, 'launches.json'), JSON.stringify({ ...launches, ...changed }))
  set({})
  writeFileSync(
    join(dir, 'settings/services'),
    Object.keys(launches)
      .map((name) => `${name}\n`)
      .join(''),
  )
  const services = async (...args: string[]) => {
    const child = Bun.spawn([process.execPath, entry, dir, ...args], {
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [out, err, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    return { code, out: out.trim(), err: err.trim() }
  }
  const log = (name: string) => {
    const path = join(dir, 'logs', `${name}.log`)
    return existsSync(path) ? readFileSync(path, 'utf8') : ''
  }
  const pidOf = (name: string) => {
    const path = join(dir, 'run', `${name}.pid`)
    return existsSync(path) ? Number(readFileSync(path, 'utf8').split(' ')[0]) : 0
  }
  const machine = { dir, services, log, pidOf, set }
  opened.push(machine)
  return machine
}

/** Writes a line at its start and one at its end, in a file that all share. */
const noting = (dir: string, name: string): Launch => ({
  command: [
    process.execPath,
    '-e',
    `const { appendFileSync } = require('fs'); appendFileSync('${dir}', '+${name}\\n')
     process.on('SIGTERM', () => { appendFileSync('${dir}', '-${name}\\n'); process.exit(0) })
     setInterval(() => {}, 1e6)`,
  ],
})
const sleeping: Launch = { command: ['sleep', '600'] }
const isAlive = (pid: number) => existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))

describe('the supervisor', () => {
  test('starts services in their order, stops them in the opposite one, and ends with the last', async () => {
    const file = join(temporary('order'), 'order')
    const noted = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [])
    const { services, dir, pidOf } = machineWith({ a: noting(file, 'a'), b: noting(file, 'b'), c: noting(file, 'c') })
    expect(await services('status')).toEqual({
      code: 1,
      out: 'a does not run\nb does not run\nc does not run',
      err: '',
    })
    expect(await services('start')).toEqual({ code: 0, out: '', err: '' })
    await eventually(() => noted().length === 3)
    expect(noted().toSorted()).toEqual(['+a', '+b', '+c'])
    expect(await services('status')).toEqual({ code: 0, out: 'a runs\nb runs\nc runs', err: '' })
    const pids = ['a', 'b', 'c'].map(pidOf)
    // Services that run are left alone.
    expect((await services('start')).code).toBe(0)
    expect(['a', 'b', 'c'].map(pidOf)).toEqual(pids)
    expect(await services('stop')).toEqual({ code: 0, out: '', err: '' })
    expect(noted().slice(3)).toEqual(['-c', '-b', '-a'])
    expect(pids.some(isAlive)).toBe(false)
    await eventually(() => !existsSync(join(dir, 'run/supervisor.sock')))
  })

  test('starts a killed service again, with pauses that grow, and leaves the others alone', async () => {
    const { services, pidOf, log } = machineWith({ other: sleeping, killed: sleeping })
    await services('start')
    const other = pidOf('other')
    for (const pause of [1, 2]) {
      const before = pidOf('killed')
      process.kill(before, 'SIGKILL')
      await eventually(() => ![0, before].includes(pidOf('killed')))
      expect(log('killed')).toContain(`killed ended with status 137; it is started again in ${pause} s\n`)
      expect(isAlive(pidOf('killed'))).toBe(true)
    }
    expect(pidOf('other')).toBe(other)
    expect(log('other')).toBe('')
  })

  test('does not try again what has said that its settings cannot work', async () => {
    const tries = join(temporary('tries'), 'tries')
    const script = `require('fs').appendFileSync('${tries}', 'x'); process.exit(2)`
    const { services, log } = machineWith({ wrong: { command: [process.execPath, '-e', script], final: [2] } })
    await services('start')
    await eventually(async () => (await services('status')).out === 'wrong does not run')
    expect(log('wrong')).toContain('wrong cannot work as it is set up; put that right and start it')
    await Bun.sleep(1500)
    expect(readFileSync(tries, 'utf8')).toBe('x')
    await services('start')
    await eventually(() => readFileSync(tries, 'utf8') === 'xx')
  })

  test('that is killed leaves services running; the next one takes them over and keeps them', async () => {
    const { services, dir, pidOf } = machineWith({ kept: sleeping })
    await services('start')
    const pid = pidOf('kept')
    const supervisor = Number(
      Bun.spawnSync(['pgrep', '-f', `${entry} ${dir} supervise`])
        .stdout.toString()
        .trim()
        .split('\n')[0],
    )
    process.kill(supervisor, 'SIGKILL')
    await eventually(() => !isAlive(supervisor))
    expect(isAlive(pid)).toBe(true)
    expect((await services('start')).code).toBe(0)
    expect(pidOf('kept')).toBe(pid)
    process.kill(pid, 'SIGKILL')
    await eventually(() => ![0, pid].includes(pidOf('kept')))
    const next = pidOf('kept')
    expect((await services('stop')).code).toBe(0)
    expect(isAlive(next)).toBe(false)
  })

  test('empties a log that is full, and keeps the one before', async () => {
    const script = "setInterval(() => console.log('x'.repeat(99)), 2)"
    const { services, dir, log } = machineWith({ talks: { command: [process.execPath, '-e', script] } })
    await services('start')
    const [path, older] = ['talks.log', 'talks.log.1'].map((name) => join(dir, 'logs', name)) as [string, string]
    await eventually(() => existsSync(older))
    expect(statSync(older).size).toBeGreaterThanOrEqual(2000)
    await eventually(() => log('talks').length > 0)
    // Its next lines stand at the beginning: nothing is left empty before them.
    expect(log('talks')).toStartWith('x')
    expect(statSync(path).size).toBeLessThan(200_000)
  })

  test('holds the socket of a service while it is started anew, and lets go at a stop', async () => {
    const port = freePort()
    const listen = `127.0.0.1:${port}`
    // Takes one connection at a time from the descriptor that it was handed.
    const held = join(import.meta.dir, '../../src/app/commands/held-socket.ts')
    const script = `const { listenHeld } = await import('${held}')
      listenHeld({ hostname: '127.0.0.1', port: ${port} }, process.env, (at) =>
        Bun.serve({ ...at, fetch: () => new Response(String(process.pid)) }))
      process.on('SIGTERM', () => process.exit(0))`
    const { services } = machineWith({ web: { command: [process.execPath, '-e', script], listen } })
    const answer = () =>
      fetch(`http://${listen}`, { keepalive: false }).then(
        (response) => response.text(),
        (error) => String((error as { code?: string }).code),
      )
    await services('start')
    // The socket is there before the program is.
    const pids = [await answer()]
    for (let i = 0; i < 2; i++) {
      expect((await services('restart', 'web')).code).toBe(0)
      pids.push(await answer())
    }
    expect(pids.filter((pid) => !/^\d+$/.test(pid))).toEqual([])
    expect(new Set(pids).size).toBe(3)
    await services('stop')
    expect(await answer()).toMatch(/REFUSED/i)
  })

  test('refuses a service or a verb that there is not', async () => {
    const { services } = machineWith({ a: sleeping })
    expect(await services('start', 'other')).toMatchObject({
      code: 2,
      err: expect.stringContaining('no service other'),
    })
    expect((await services('begin')).code).toBe(2)
  })

  test('in the foreground starts all services, and stops them at SIGTERM', async () => {
    const { dir, pidOf } = machineWith({ a: sleeping, b: sleeping })
    const child = Bun.spawn([process.execPath, entry, dir, 'run'], { stdio: ['ignore', 'ignore', 'inherit'] })
    await eventually(() => pidOf('a') > 0 && pidOf('b') > 0)
    const pids = [pidOf('a'), pidOf('b')]
    child.kill('SIGTERM')
    expect(await child.exited).toBe(0)
    expect(pids.some(isAlive)).toBe(false)
  })
})
