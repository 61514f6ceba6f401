// The contract of each command: how it is declared, and that the node does as it is declared.
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { handlers, parseCommand } from '../../../agent/commands/index.ts'
import { openJournal } from '../../../agent/controller-link/journal.ts'
import { Failure, failureOf, UndeclaredFailure } from '../../../agent/failure.ts'
import type { Host } from '../../../agent/host/host.ts'
import { everyFailure } from '../../../agent/protocol/commands/declare.ts'
import { type CommandName, commands } from '../../../agent/protocol/wire.ts'
import { dataDir } from '../run.ts'

const names = Object.keys(commands) as CommandName[]

test.each(names)('%s has a handler, is declared to look or to act, and has codes of its own', (name) => {
  const { kind, input, output, failures } = commands[name]
  expect(handlers[name]).toBeFunction()
  expect(['look', 'act']).toContain(kind)
  for (const schema of [input, output]) expect(schema).toBeObject()
  const codes: readonly string[] = failures
  expect(codes).toEqual([...new Set(codes)])
  for (const code of codes) {
    expect(code).toMatch(/^[a-z0-9_]{1,60}$/)
    expect(everyFailure as readonly string[]).not.toContain(code)
  }
})

test('each command that is named as one that looks or waits is declared to look, and no other', () => {
  const named = names.filter((name) => /\.(look|await|logs|checksum)$/.test(name))
  expect(names.filter((name) => commands[name].kind === 'look')).toEqual(named)
})

test.each(names)('the answer of %s is stored when it acts, and never when it looks', async (name) => {
  const journal = openJournal(join(dataDir(), 'journal.db'))
  const { kind } = commands[name]
  let times = 0
  for (let n = 0; n < 2; n++) await journal.obey({ key: 'job_1/step', name, kind }, async () => ({ n: ++times }))
  journal.close()
  expect(times).toBe(kind === 'look' ? 2 : 1)
})

test('a command that looks takes no turn among those of its workload', () => {
  const workload = `srv_${'1'.repeat(26)}`
  expect(parseCommand('vm.look', { workload })).toMatchObject({ kind: 'look', turn: undefined })
  expect(parseCommand('vm.start', { workload })).toMatchObject({ kind: 'act', turn: workload })
})

test('a file of commands declares those of one driver, and its handlers are in the file of the same name', async () => {
  const files = (of: string) => [...new Bun.Glob('**/*.ts').scanSync(of)].sort()
  const declared = files('agent/protocol/commands').filter((file) => file !== 'declare.ts')
  const handled = files('agent/commands')
  expect(handled).toEqual(expect.arrayContaining(declared))
  const named = await Promise.all(
    declared.map(async (file) => (await Bun.file(`agent/protocol/commands/${file}`).text()).match(/^ {2}'[a-z.-]+'/gm)),
  )
  expect(
    named
      .flat()
      .map((text) => text!.trim().slice(1, -1))
      .sort(),
  ).toEqual([...names].sort())
})

describe('the failures of a command', () => {
  const declared = [...new Set(names.flatMap((name): readonly string[] => commands[name].failures))].sort()
  /** Of the real drivers alone: a program, a disk or the kernel of the host would have to be missing or fail. */
  const notProduced = [
    'backup_restic_missing',
    'container_not_started',
    'does_not_stop',
    'no_firmware',
    'no_http_proxy',
    'no_ssh_server',
    'no_virtualisation',
    'ssh_kit',
  ]

  test('are produced by a test, or listed here', async () => {
    const produced = new Set<string>()
    for (const path of new Bun.Glob('test/**/*.ts').scanSync('.')) {
      if (path.endsWith('protocol/commands.test.ts')) continue
      for (const [, code] of (await Bun.file(path).text()).matchAll(/['"`]([a-z0-9_]+)['"`]/g)) produced.add(code!)
    }
    // The troubles of backups are tested without the prefix that makes them codes.
    const isProduced = (code: string) => produced.has(code) || produced.has(code.replace(/^backup_/, ''))
    expect(declared.filter((code) => !isProduced(code))).toEqual(notProduced)
  })

  test('are all that a handler can throw: the controller reads another one as agent_error', async () => {
    const host = { hypervisor: { power: () => Promise.reject(new Failure('pool_full', 'no space left')) } }
    const { work } = parseCommand('vm.look', { workload: `srv_${'1'.repeat(26)}` })
    const error = await work(host as unknown as Host).catch((cause: unknown) => cause)
    expect(error).toBeInstanceOf(UndeclaredFailure)
    expect(failureOf(error)).toMatchObject({ code: 'agent_error' })
    expect(failureOf(error).message).toContain('vm.look does not declare the failure pool_full')
  })

  test('that are declared reach the controller as they are', async () => {
    const host = { hypervisor: { power: () => Promise.reject(new Failure('hypervisor_silent', 'it hangs')) } }
    const { work } = parseCommand('vm.look', { workload: `srv_${'1'.repeat(26)}` })
    const error = await work(host as unknown as Host).catch((cause: unknown) => cause)
    expect(failureOf(error)).toEqual({ code: 'hypervisor_silent', message: 'it hangs' })
  })
})
