// The supervisor of services on a machine without systemd, as processes: it is killed, its services are killed, and
// both go on.
import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporary } from '../agent/temporary.ts'
import { eventually } from '../support/waiting/eventually.ts'
import { freePort } from '../support/world/program.ts'
import type { Known as Launch } from './supervised.ts'

setDefaultTimeout(60_000)
const entry = join(import.meta.dir, 'supervised.ts')

const opened: { services: (...args: string[]) => Promise<unknown>; kill: () => void }[] = []
afterEach(async () => {
  for (const { services, kill } of opened.splice(0)) {
    // Those that do not stop are killed first.
    kill()
    await services('stop')
  }
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
  const kill = () => {
    for (const name of Object.keys(launches))
      if (isDeaf(launches[name]!) && isAlive(pidOf(name))) process.kill(pidOf(name), 'SIGKILL')
  }
  opened.push({ services, kill })
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
/** Takes this long to stop; `Infinity`: only a kill ends it. */
const slow = (seconds: number): Launch => ({
  command: [
    process.execPath,
    '-e',
    `process.on('SIGTERM', () => ${seconds} < Infinity && setTimeout(() => process.exit(0), ${seconds * 1000}))
     console.log('ready'); setInterval(() => {}, 1e6)`,
  ],
})
const isDeaf = ({ command }: Launch) => command.at(-1)!.includes('Infinity <')
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
    const supervisor = supervisorOf(dir)
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

  test('waits for a service that takes long to stop, and starts it anew once', async () => {
    const { services, pidOf, log } = machineWith({ slow: slow(13) })
    await services('start')
    await eventually(() => log('slow') === 'ready\n')
    const before = pidOf('slow')
    expect(await services('restart', 'slow')).toEqual({ code: 0, out: '', err: '' })
    await eventually(() => log('slow') === 'ready\nready\n')
    expect(isAlive(before)).toBe(false)
    const pid = pidOf('slow')
    const stop = services('stop', 'slow')
    await Bun.sleep(1000)
    // It is told the truth while it ends.
    expect(await services('status')).toEqual({ code: 0, out: 'slow runs', err: '' })
    expect(await stop).toEqual({ code: 0, out: '', err: '' })
    expect(isAlive(pid)).toBe(false)
    expect(log('slow')).toBe('ready\nready\n')
  })

  test('that is gone in the middle of an answer did not do it', async () => {
    const { services, dir, log } = machineWith({ slow: slow(5) })
    await services('start')
    await eventually(() => log('slow') === 'ready\n')
    const stop = services('stop', 'slow')
    await Bun.sleep(1000)
    process.kill(supervisorOf(dir), 'SIGKILL')
    expect(await stop).toMatchObject({ code: 1, err: expect.stringContaining('slow: the supervisor gave no answer') })
  })

  test('does not end while one of two that stop still runs', async () => {
    const { services, dir, log, pidOf } = machineWith({ quick: sleeping, slow: slow(2) })
    await services('start')
    await eventually(() => log('slow') === 'ready\n')
    const pid = pidOf('slow')
    const stops = [services('stop', 'slow'), services('stop', 'quick')]
    expect(await Promise.all(stops)).toEqual(stops.map(() => ({ code: 0, out: '', err: '' })))
    expect(isAlive(pid)).toBe(false)
    await eventually(() => !existsSync(join(dir, 'run/supervisor.sock')))
    expect(existsSync(join(dir, 'run/supervisor.sock'))).toBe(false)
  })

  test('can be stopped and started in turn, without a wait between', async () => {
    const { services } = machineWith({ a: sleeping })
    for (let i = 0; i < 5; i++) {
      expect(await services('start')).toEqual({ code: 0, out: '', err: '' })
      expect(await services('stop')).toEqual({ code: 0, out: '', err: '' })
    }
  })

  test('kills at the end of its time what may be killed, and stays for what may not', async () => {
    const { services, dir, pidOf, log } = machineWith({
      held: slow(Infinity),
      killed: { ...slow(Infinity), isKilled: true },
    })
    writeFileSync(join(dir, 'stop-ms'), '500')
    await services('start')
    await eventually(() => log('held') + log('killed') === 'ready\nready\n')
    const [held, killed] = [pidOf('held'), pidOf('killed')]
    expect(await services('stop')).toEqual({ code: 1, out: '', err: 'held does not stop' })
    expect([isAlive(held), isAlive(killed)]).toEqual([true, false])
    expect(await services('status')).toEqual({ code: 1, out: 'held runs\nkilled does not run', err: '' })
    expect(log('killed')).toContain('killed does not stop and is killed')
    process.kill(held, 'SIGKILL')
    await eventually(() => !existsSync(join(dir, 'run/supervisor.sock')))
    expect(existsSync(join(dir, 'run/supervisor.sock'))).toBe(false)
  })

  test('keeps a service whose log disk is full, and one that it cannot note', async () => {
    const { services, dir, pidOf, log } = machineWith({
      full: sleeping,
      unnoted: noting(join(temporary('files'), 'tries'), 'x'),
    })
    symlinkSync('/dev/full', join(dir, 'logs/full.log'))
    mkdirSync(join(dir, 'run/unnoted.pid'), { recursive: true })
    // A log that cannot be copied away.
    writeFileSync(join(dir, 'logs/unnoted.log'), 'x'.repeat(3000))
    mkdirSync(join(dir, 'logs/unnoted.log.1'))
    expect((await services('start')).code).toBe(0)
    await eventually(() => pidOf('full') > 0)
    const before = pidOf('full')
    process.kill(before, 'SIGKILL')
    await eventually(() => ![0, before].includes(pidOf('full')))
    expect(pidOf('full')).not.toBe(0)
    await Bun.sleep(1500)
    expect(log('unnoted')).not.toContain('cannot be started')
    expect(await services('status')).toMatchObject({ code: 0, out: 'full runs\nunnoted runs' })
    expect(await services('stop')).toEqual({ code: 0, out: '', err: '' })
    rmSync(join(dir, 'logs/full.log'))
  })

  test('goes on with the other services where one cannot be prepared or started', async () => {
    const { services, dir, pidOf, log } = machineWith({
      broken: { command: ['/no/such/program'] },
      other: sleeping,
    })
    // Without settings of the network it cannot come up.
    writeFileSync(join(dir, 'settings/services'), 'network\nbroken\nother\n')
    expect(await services('start')).toMatchObject({ code: 1, err: expect.stringMatching(/^network: ip .* ended with/) })
    expect(isAlive(pidOf('other'))).toBe(true)
    expect(log('broken')).toContain('broken cannot be started')
  })

  test('prepares a service at each of its starts', async () => {
    const files = temporary('files')
    const copied: [string, string] = [join(files, 'from'), join(files, 'to')]
    const { services, pidOf, log } = machineWith({
      reads: { command: ['sh', '-c', `cat ${copied[1]}; exec sleep 600`], copied },
    })
    await services('start')
    await eventually(() => log('reads').includes('cannot be started'))
    expect(log('reads')).toMatch(/cannot be started: .*ENOENT/)
    writeFileSync(copied[0], 'one ')
    await eventually(() => log('reads').includes('one'))
    writeFileSync(copied[0], 'two ')
    process.kill(pidOf('reads'), 'SIGKILL')
    await eventually(() => log('reads').includes('two'))
    expect(log('reads')).toContain('two')
  })

  test('gets a service from the keeper of the time before, which ends first', async () => {
    const { services, dir, pidOf } = machineWith({ kept: sleeping, other: sleeping })
    const keeperOf = (name: string) => oldKeeper(dir, name)
    const [keeper, child] = await keeperOf('kept')
    expect(await services('status', 'kept')).toEqual({ code: 0, out: 'kept runs', err: '' })
    expect((await services('start', 'kept')).code).toBe(0)
    expect([isAlive(keeper), isAlive(child)]).toEqual([false, false])
    await eventually(() => isAlive(pidOf('kept')))
    expect([keeper, child]).not.toContain(pidOf('kept'))
    const [otherKeeper, otherChild] = await keeperOf('other')
    expect(await services('stop')).toEqual({ code: 0, out: '', err: '' })
    expect([isAlive(otherKeeper), isAlive(otherChild)]).toEqual([false, false])
  })

  test('an uninstallation ends before it removes anything where a service runs on', async () => {
    const { services, dir, log, pidOf } = machineWith({
      'berth-agent': slow(Infinity),
      'berth-http-proxy': sleeping,
      berth: sleeping,
    })
    writeFileSync(join(dir, 'stop-ms'), '300')
    await services('start')
    await eventually(() => log('berth-agent') === 'ready\n')
    expect((await services('uninstall')).out).toBe('berth-agent does not stop.')
    process.kill(pidOf('berth-agent'), 'SIGKILL')
    await services('stop', 'berth-agent')
    expect((await services('uninstall')).out).toBe('stopped')
  })
})

const supervisorOf = (dir: string) =>
  Number(
    Bun.spawnSync(['pgrep', '-f', `${entry} ${dir} supervise`])
      .stdout.toString()
      .trim()
      .split('\n')[0],
  )

/** As the shell script kept a service: answers the numbers of the keeper and of the service. */
async function oldKeeper(dir: string, name: string): Promise<[number, number]> {
  const [library, run] = [join(dir, 'library'), join(dir, 'run')]
  for (const each of [library, run]) mkdirSync(each, { recursive: true })
  const script = `#!/bin/bash
    echo $$ >${run}/$2.pid
    trap 'stopping=yes; kill "$child"' TERM
    while [ -z "$stopping" ]; do
      sleep 600 & child=$!
      echo $child >${run}/$2.child
      until wait "$child"; ! kill -0 "$child" 2>/dev/null; do :; done
    done
    rm -f ${run}/$2.pid ${run}/$2.child\n`
  writeFileSync(join(library, 'services'), script)
  chmodSync(join(library, 'services'), 0o755)
  Bun.spawn([join(library, 'services'), 'keep', name], { stdio: ['ignore', 'ignore', 'ignore'] }).unref()
  const numbers = () => ['pid', 'child'].map((end) => join(run, `${name}.${end}`))
  await eventually(() => numbers().every((path) => existsSync(path) && readFileSync(path, 'utf8').endsWith('\n')))
  return numbers().map((path) => Number(readFileSync(path, 'utf8'))) as [number, number]
}
