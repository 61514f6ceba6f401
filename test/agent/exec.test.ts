import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { loggingTo } from '../../agent/controller-link/job-log.ts'
import { lines, run } from '../../agent/host/exec.ts'
import { commandLine } from '../../agent/protocol/shell-quote.ts'
import { missing, note } from '../drivers/tools.ts'

describe.skipIf(note(await missing('qemu-img', 'qemu-system-x86_64', 'ip'), 'exec.ts'))('running a program', () => {
  test('S4: passes its arguments to no shell', async () => {
    for (const word of ['$(id)', '`id`', '; id', '| id', '&& id', '> /tmp/x', "'", '"', '*', '\\', '\n']) {
      const { err } = await run('qemu-img', ['info', '--', word], { mayFail: true })
      expect(err).toContain(word)
      expect(err).not.toContain('uid=')
    }
  })
  test('gives it an environment of two variables', async () => {
    process.env['BERTH_TEST_SECRET'] = 'leak'
    const { out } = await run('ip', ['-json', 'link', 'show', 'lo'])
    expect(JSON.parse(out)).toMatchObject([{ ifname: 'lo' }])
    expect(await Bun.file(`${import.meta.dir}/../../agent/host/exec.ts`).text()).toContain(
      'const env = { PATH, LC_ALL:',
    )
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
        fc.string({ minLength: 1 }).filter((it) => !it.includes('\0')),
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
