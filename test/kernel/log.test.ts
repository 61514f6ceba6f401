// The journal lines of controller and agent, as systemd reads them.
import { describe, expect, test } from 'bun:test'
import { mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'

const logs = {
  controller: `import { log } from '${import.meta.dir}/../../src/kernel/log.ts'
    for (const level of ['info', 'warning', 'error']) log[level]('words', { nodeId: 'nod_1', password: 'hidden' })`,
  agent: `import { log } from '${import.meta.dir}/../../agent/log.ts'
    for (const level of ['info', 'warning', 'error']) log(level, 'words', { nodeId: 'nod_1', password: 'hidden' })`,
}

async function linesOf(code: string, streamOf: (file: string) => string | undefined): Promise<string[]> {
  const dir = mkdtempSync(`${tmpdir()}/berth-journal-`)
  const stderr = openSync(`${dir}/journal`, 'w')
  const stream = streamOf(`${dir}/journal`)
  const env = { PATH: process.env['PATH']!, ...(stream ? { JOURNAL_STREAM: stream } : {}) }
  await Bun.spawn([process.execPath, '-e', code], { stderr, env }).exited
  const lines = readFileSync(`${dir}/journal`, 'utf8').trim().split('\n')
  rmSync(dir, { recursive: true })
  return lines
}

describe.each(Object.entries(logs))('the log of the %s', (_, code) => {
  test('has the priorities by which journalctl finds a line, and JSON behind them', async () => {
    const lines = await linesOf(code, (file) => `${statSync(file).dev}:${statSync(file).ino}`)
    expect(lines.map((line) => line.slice(0, 3))).toEqual(['<6>', '<4>', '<3>'])
    for (const line of lines) expect(JSON.parse(line.slice(3))).toMatchObject({ nodeId: 'nod_1' })
    expect(lines.join()).not.toContain('hidden')
  })
  test.each([
    ['nobody says that a journal reads', () => undefined],
    ['somebody else’s is the journal', () => '1:2'],
  ])('is JSON alone where %s', async (_, stream) => {
    const lines = await linesOf(code, stream)
    expect(lines.map((line) => JSON.parse(line).level)).toEqual(['info', 'warning', 'error'])
  })
})
