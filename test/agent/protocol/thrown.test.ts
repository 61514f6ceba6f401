// No handler fails with a code that its command does not declare: the controller would read `agent_error`.
import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'
import { mayFailWith } from '../../../agent/commands/index.ts'
import { type CommandName, commands } from '../../../agent/protocol/wire.ts'
import { temporary } from '../temporary.ts'
import { agentProgram, thrownIn } from './thrown.ts'

const READS_MS = 120_000

test(
  'each command declares all codes with which its handler can fail',
  () => {
    const thrownBy = thrownIn(agentProgram())
    const all = (Object.keys(commands) as CommandName[]).map((name) => ({ name, thrown: thrownBy(name) }))
    // Nearly all of them do something of which the source says how it fails.
    expect(all.filter(({ thrown }) => thrown.size > 0).length).toBeGreaterThan(40)
    const undeclared = all.flatMap(({ name, thrown }) =>
      [...thrown].filter(([code]) => !mayFailWith(name, code)).map(([code, path]) => `${name}: ${code} (${path})`),
    )
    expect(undeclared).toEqual([])
  },
  READS_MS,
)

const agent = {
  'failure.ts': `
    export type FailureCode = 'busy' | 'full' | 'gone' | 'lost' | 'tool' | 'worn'
    export class Failure extends Error {
      constructor(readonly code: FailureCode, message: string) { super(message) }
    }
    export class ToolFailure extends Failure {
      constructor(message: string) { super('tool', message) }
    }`,
  'driver.ts': `
    import { Failure, ToolFailure } from './failure.ts'
    export interface Disk {
      /** Grows \`size\`. Throws \`busy\`, as \`size\` does; \`worn\` is none. */
      grow(size: number): Promise<void>
      look(): Promise<void>
    }
    export class File implements Disk {
      constructor(private ask: () => void) {}
      async grow() { await this.#grow() }
      async #grow() { throw new Failure(Math.random() > 0.5 ? 'full' : 'gone', '') }
      look = async () => this.ask()
    }
    const asks = () => { throw new ToolFailure('') }
    export const file = new File(asks)`,
  'handlers.ts': `
    import type { Disk } from './driver.ts'
    import { Failure } from './failure.ts'
    type Host = { disk: Disk }
    const ofDisk = ['full', 'gone']
    const isOfDisk = (error: unknown) => error instanceof Failure && ofDisk.includes(error.code)
    export const handlers = {
      async 'disk.grow'(_: unknown, { disk }: Host) { await disk.grow(1) },
      'disk.look': (_: unknown, host: Host) => host.disk.look(),
      async 'all.ended'(_: unknown, { disk }: Host) { await disk.grow(1).catch(() => {}) },
      async 'failures.ended'(_: unknown, { disk }: Host) {
        try { await disk.grow(1) } catch (error) { if (!(error instanceof Failure)) throw error }
      },
      async 'some.ended'(_: unknown, { disk }: Host) {
        try { await disk.grow(1) } catch (error) { if (!isOfDisk(error)) throw error }
      },
      async 'one.ended'(_: unknown, { disk }: Host) {
        await disk.grow(1).catch((error) => { if (error.code !== 'gone') throw error })
      },
      async 'turned'(_: unknown, { disk }: Host) {
        await disk.grow(1).catch((cause) => { throw new Failure('lost', String(cause)) })
      },
      async 'thrown.on'(_: unknown, { disk }: Host) {
        await disk.grow(1).catch((error) => { throw error instanceof Failure ? error : new Failure('lost', '') })
      },
      async 'failures.only'(_: unknown, { disk }: Host) {
        try { await disk.grow(1) } catch (error) { if (error instanceof Failure) throw error }
      },
    }`,
}

test('they are found over interfaces, classes and functions handed over, and end where they are caught', () => {
  const dir = temporary('thrown')
  for (const [name, text] of Object.entries(agent)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true })
    writeFileSync(join(dir, name), text)
  }
  const options = {
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.Preserve,
    strict: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    types: [],
  }
  const entries = ['handlers.ts', 'driver.ts'].map((name) => join(dir, name))
  const thrownBy = thrownIn(ts.createProgram(entries, options), (path) => path.startsWith(dir))
  const codes = (command: string) => [...thrownBy(command).keys()].toSorted()
  expect(codes('disk.grow')).toEqual(['busy', 'full', 'gone'])
  expect(codes('disk.look')).toEqual(['tool'])
  expect(codes('all.ended')).toEqual([])
  expect(codes('failures.ended')).toEqual([])
  expect(codes('some.ended')).toEqual(['busy'])
  expect(codes('one.ended')).toEqual(['busy', 'full'])
  expect(codes('turned')).toEqual(['lost'])
  expect(codes('thrown.on')).toEqual(['busy', 'full', 'gone', 'lost'])
  expect(codes('failures.only')).toEqual(['busy', 'full', 'gone'])
  expect(() => codes('no.such')).toThrow('no handler of no.such was found')
})
