import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { loggingTo } from '../../agent/controller-link/job-log.ts'
import { lines, run } from '../../agent/host/exec.ts'
import { asTyped } from '../../agent/protocol/shell-quote.ts'
import { missing, note } from '../drivers/tools.ts'

describe.skipIf(note(await missing('qemu-img', 'qemu-system-x86_64', 'ip'), 'exec.ts'))('running a program', () => {
  test('S4: no shell ever reads the arguments', async () => {
    for (const word of ['$(id)', '`id`', '; id', '| id', '&& id', '> /tmp/x', "'", '"', '*', '\\', '\n']) {
      const { err } = await run('qemu-img', ['info', '--', word], { mayFail: true })
      expect(err).toContain(word)
      expect(err).not.toContain('uid=')
    }
  })
  test('the program sees two variables and no more', async () => {
    process.env['BERTH_TEST_SECRET'] = 'leak'
    const { out } = await run('ip', ['-json', 'link', 'show', 'lo'])
    expect(JSON.parse(out)).toMatchObject([{ ifname: 'lo' }])
    expect(await Bun.file(`${import.meta.dir}/../../agent/host/exec.ts`).text()).toContain(
      'const env = { PATH, LC_ALL:',
    )
  })
  test('a failure says which program, how it ended and what it said', async () => {
    expect(run('qemu-img', ['info', '--', '/no/such/file'])).rejects.toMatchObject({
      code: 'tool_failed',
      message: expect.stringContaining('qemu-img info ended with 1'),
    })
  })
  test('a program that takes too long is stopped', async () => {
    const began = Date.now()
    const hangs = run('qemu-system-x86_64', ['-nodefaults', '-display', 'none', '-S'], { limitSeconds: 0.3 })
    expect(hangs).rejects.toMatchObject({ code: 'tool_timeout' })
    await hangs.catch(() => {})
    expect(Date.now() - began).toBeLessThan(3000)
  })
  test('output beyond the cap ends the program instead of filling the memory', async () => {
    const { out } = await run('qemu-system-x86_64', ['-device', 'help'], { outputCapBytes: 100, mayFail: true })
    expect(out.length).toBeLessThanOrEqual(100)
  })
  test('what runs for a command is written to its log, except the questions asked again and again', async () => {
    const seen: string[] = []
    await loggingTo({ line: (level, text) => seen.push(`${level}: ${text}`), progress: () => {} }, async () => {
      await run('ip', ['link', 'show', 'lo'])
      await run('ip', ['link'], { quietly: true })
    })
    expect(seen).toEqual(['command: ip link show lo'])
  })
  test('a stream of lines ends with its signal', async () => {
    const stop = new AbortController()
    setTimeout(() => stop.abort(), 200)
    const seen: string[] = []
    for await (const line of lines('ip', ['monitor', 'link'], stop.signal)) seen.push(line)
    expect(stop.signal.aborted).toBe(true)
  })
})

test('S4: a command line is shown so that it can be pasted, whatever is in it', async () => {
  expect(asTyped('virsh', ['start', 'web 1', "it's"])).toBe(`virsh start 'web 1' 'it'\\''s'`)
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.string({ minLength: 1 }).filter((it) => !it.includes('\0')),
        { maxLength: 4 },
      ),
      async (words) => {
        // The test, not the product, asks a shell to read it back.
        const shell = Bun.spawnSync(['/bin/sh', '-c', asTyped('printf', ['%s\\0', ...words])])
        expect(shell.stdout.toString().split('\0').slice(0, -1)).toEqual(words.length ? words : [''])
      },
    ),
    { numRuns: 100 },
  )
})
