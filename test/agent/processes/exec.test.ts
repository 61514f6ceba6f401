import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { loggingTo } from '../../../agent/controller-link/job-log.ts'
import { lines, run } from '../../../agent/host/exec.ts'
import { commandLine } from '../../../agent/protocol/shell-quote.ts'
import { missing, note } from '../../drivers/tools.ts'
import { temporary } from '../temporary.ts'

/** The ids of the processes whose arguments end like this. */
const processesWith = (ending: string) =>
  readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').endsWith(ending)
    } catch {
      return false // it has ended
    }
  })
const isQemu = (id: string) => {
  try {
    return readlinkSync(`/proc/${id}/exe`).includes('qemu')
  } catch {
    return false // it has ended
  }
}
async function until<T>(found: () => T | undefined): Promise<T> {
  for (const end = performance.now() + 5000; performance.now() < end; await Bun.sleep(10)) {
    const seen = found()
    if (seen !== undefined) return seen
  }
  throw new Error('it was not seen')
}

describe.skipIf(note(await missing('qemu-img', 'qemu-system-x86_64', 'ip'), 'exec.ts'))('running a program', () => {
  test('S4: passes its arguments to no shell', async () => {
    for (const word of ['$(id)', '`id`', '; id', '| id', '&& id', '> /tmp/x', "'", '"', '*', '\\', '\n']) {
      const { err } = await run('qemu-img', ['info', '--', word], { mayFail: true })
      expect(err).toContain(word)
      expect(err).not.toContain('uid=')
    }
  })
  test('S4: gives it an environment of three variables, whatever this process has', async () => {
    process.env['BERTH_TEST_SECRET'] = 'leak'
    const stop = new AbortController()
    const monitor = lines('ip', ['monitor', 'link', 'dev', 'lo'], stop.signal)
    const ended = monitor.next()
    const started = await until(() => processesWith('ip\0monitor\0link\0dev\0lo\0')[0])
    const names = readFileSync(`/proc/${started}/environ`, 'utf8')
      .split('\0')
      .filter(Boolean)
      .map((one) => one.split('=')[0])
    stop.abort()
    await ended
    delete process.env['BERTH_TEST_SECRET']
    expect(names.toSorted()).toEqual(['LC_ALL', 'PATH', 'VIRSH_HISTSIZE'])
  })
  test('S4: ends what the program started with it', async () => {
    // QEMU runs the command through a shell of its own; the time tells it from every other one.
    const seconds = `30.${process.pid}`
    const hangs = run(
      'qemu-system-x86_64',
      ['-nodefaults', '-display', 'none', '-S', '-incoming', `exec:sleep ${seconds}`],
      { limitSeconds: 1.5 },
    ).catch((error) => error.code)
    await until(() => processesWith(`sleep\0${seconds}\0`)[0])
    expect(await hangs).toBe('tool_timeout')
    await Bun.sleep(50)
    expect(processesWith(`sleep\0${seconds}\0`)).toEqual([])
  })
  test.skipIf(process.getuid!() !== 0)(
    'S39: confines one that reads a stranger’s file: nobody, no rights, no network, limits, two open files',
    async () => {
      const dir = temporary('confined')
      const [reads, writes] = [join(dir, 'reads'), join(dir, 'writes')]
      for (const path of [reads, writes]) writeFileSync(path, '', { mode: 0o600 })
      const mark = `mark-${process.pid}`
      const hangs = run('qemu-system-x86_64', ['-nodefaults', '-display', 'none', '-S', '-name', mark], {
        limitSeconds: 1.5,
        confined: { reads, writes, mostFileBytes: 12_345_678 },
      }).catch((error) => error.code)
      const pid = await until(() => processesWith(`-name\0${mark}\0`).find(isQemu))
      const of = (file: string) => readFileSync(`/proc/${pid}/${file}`, 'utf8')
      const status = of('status')
      const limits = of('limits')
      const files = ['0', '3'].map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`))
      const net = readlinkSync(`/proc/${pid}/ns/net`)
      expect(await hangs).toBe('tool_timeout')
      expect(status).toMatch(/^Uid:\t65534\t65534\t65534\t65534$/m)
      expect(status).toMatch(/^Gid:\t65534\t65534\t65534\t65534$/m)
      expect(status).toMatch(/^Groups:\s*$/m)
      expect(status).toMatch(/^NoNewPrivs:\t1$/m)
      for (const set of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb']) expect(status).toMatch(new RegExp(`^Cap${set}:\t0+$`, 'm'))
      expect(limits).toMatch(/^Max file size +12345678 +12345678 /m)
      expect(limits).toMatch(/^Max address space +2147483648 +2147483648 /m)
      expect(limits).toMatch(/^Max cpu time +3 +3 /m)
      expect(limits).toMatch(/^Max core file size +0 +0 /m)
      expect(files).toEqual([reads, writes])
      expect(net).not.toBe(readlinkSync('/proc/self/ns/net'))
    },
  )
  test('ends it with the agent, also with one that is killed, in whatever way it was started', async () => {
    const mark = `hangs-${process.pid}`
    const agent = Bun.spawn(
      [process.execPath, join(import.meta.dir, 'hanging-programs.ts'), mark, temporary('hanging-programs')],
      { stdout: 'pipe' },
    )
    const { value } = await agent.stdout.getReader().read()
    const ways = new TextDecoder().decode(value).split(' ')
    const running = () => ways.filter((way) => processesWith(`-name\0${way}-${mark}\0`).some((id) => isQemu(id)))
    await until(() => running().length === ways.length || undefined)
    agent.kill('SIGKILL')
    await agent.exited
    await until(() => running().length === 0 || undefined)
    expect([ways.length, running()]).toEqual([6, []])
  })
  test('reports program, exit code and output of a failure', async () => {
    expect(run('qemu-img', ['info', '--', '/no/such/file'])).rejects.toMatchObject({
      code: 'tool_failed',
      message: expect.stringContaining('qemu-img info ended with 1'),
    })
  })
  test('kills it after the time limit', async () => {
    const began = Date.now()
    const hangs = run('qemu-system-x86_64', ['-nodefaults', '-display', 'none', '-S'], { limitSeconds: 0.3 })
    expect(hangs).rejects.toMatchObject({ code: 'tool_timeout' })
    await hangs.catch(() => {})
    expect(Date.now() - began).toBeLessThan(3000)
  })
  test('kills it when its output exceeds the cap', async () => {
    const { out } = await run('qemu-system-x86_64', ['-device', 'help'], { outputCapBytes: 100, mayFail: true })
    expect(out.length).toBeLessThanOrEqual(100)
  })
  test('writes it to the log of the command, unless it runs quietly', async () => {
    const seen: string[] = []
    await loggingTo({ line: (level, text) => seen.push(`${level}: ${text}`), progress: () => {} }, async () => {
      await run('ip', ['link', 'show', 'lo'])
      await run('ip', ['link'], { quietly: true })
    })
    expect(seen).toEqual(['command: ip link show lo'])
  })
  test('ends a stream of lines with its signal', async () => {
    const stop = new AbortController()
    setTimeout(() => stop.abort(), 200)
    const seen: string[] = []
    for await (const line of lines('ip', ['monitor', 'link'], stop.signal)) seen.push(line)
    expect(stop.signal.aborted).toBe(true)
  })
})

test('S4: a displayed command line can be pasted into a shell, whatever its words are', async () => {
  expect(commandLine('virsh', ['start', 'web 1', "it's"])).toBe(`virsh start 'web 1' 'it'\\''s'`)
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.string({ minLength: 1 }).filter((word) => !word.includes('\0')),
        { maxLength: 4 },
      ),
      async (words) => {
        // Only this test runs a shell; the product never does.
        const shell = Bun.spawnSync(['/bin/sh', '-c', commandLine('printf', ['%s\\0', ...words])])
        expect(shell.stdout.toString().split('\0').slice(0, -1)).toEqual(words.length ? words : [''])
      },
    ),
    { numRuns: 100 },
  )
})
