// An agent that is killed at any moment of a removal or of its restore: it goes on, and comes to the same end.
import { describe, expect, test } from 'bun:test'
import {
  defineInInterfaces,
  installSolusVm2,
  installVirtualizor,
  PLACES,
} from '../../support/source-removal/installations.ts'
import { type Machine, noMachines, scopeOf, withMachine } from '../../support/source-removal/machine.ts'
import { note } from '../tools.ts'

const FOLDER = '/root/removed-20261126-094107'
const state = (machine: Machine, ...more: string[]) =>
  Object.fromEntries(
    Object.entries(machine.files(...PLACES, ...more)).map(([path, seen]) => [
      path,
      /^\/run\/(?:units|containers)\//.test(path) ? seen.split(' ').at(-1)! : seen,
    ]),
  )
/** Files that lines were taken out of were written then. */
const withoutTimes = (files: Record<string, string>) =>
  Object.fromEntries(Object.entries(files).map(([path, seen]) => [path, seen.replace(/ \d{13}[\d.]*/, '')]))
const install = async (machine: Machine, panel: 'solusvm2' | 'virtualizor') => {
  if (panel === 'solusvm2') return installSolusVm2(machine)
  await installVirtualizor(machine)
  defineInInterfaces(machine)
}

describe.skipIf(note(noMachines(), 'removals that are cut off'))('a kill', () => {
  for (const panel of ['virtualizor', 'solusvm2'] as const)
    test(
      `at each moment of a removal of ${panel} and of its restore costs nothing`,
      () =>
        withMachine(async (machine) => {
          await install(machine, panel)
          const scope = scopeOf(panel)
          const before = state(machine)
          await machine.remove(scope, 'whole', { MOMENTS: '/run/moments' })
          const names = machine.names(FOLDER)
          const moved = withoutTimes(state(machine))
          await machine.restore('whole', { MOMENTS: '/run/undoing' })
          expect(state(machine)).toEqual(before)
          const read = (path: string) => machine.read(path).trim().split('\n')
          const [moments, undoing] = [read('/run/moments'), read('/run/undoing')]
          expect(moments.length).toBeGreaterThan(14)
          expect(undoing.length).toBeGreaterThan(6)
          for (const [n, moment] of moments.entries()) {
            const removal = `cut-${n}`
            const cut = await machine.remove(scope, removal, { CRASH_AT: moment })
            expect([moment, cut.output]).toEqual([moment, undefined])
            // Half of them go on, and half are undone from where they were.
            if (n % 2) {
              expect((await machine.remove(scope, removal)).output).toBeDefined()
              expect(withoutTimes(state(machine))).toEqual(moved)
              const folder = machine.names('/root').findLast((name) => name.startsWith('removed-'))!
              expect([moment, machine.names(`/root/${folder}`)]).toEqual([moment, names])
            }
            expect((await machine.restore(removal)).output?.left).toEqual([])
            expect(state(machine)).toEqual(before)
          }
          for (const [n, moment] of undoing.entries()) {
            const removal = `undone-${n}`
            await machine.remove(scope, removal)
            expect((await machine.restore(removal, { CRASH_AT: moment })).output).toBeUndefined()
            expect((await machine.restore(removal)).output?.left).toEqual([])
            expect(state(machine)).toEqual(before)
          }
        }),
      120_000,
    )

  test('in the middle of a copy to another file system costs nothing', () =>
    withMachine(async (machine) => {
      await machine.must('mount', '-t', 'tmpfs', 'tmpfs', '/root')
      await machine.must('mkdir', '-m', '700', '/root/.ssh')
      await install(machine, 'virtualizor')
      const before = state(machine)
      const scope = scopeOf('virtualizor')
      // A copy that was cut off, as it lies there: a part of it, and the original whole.
      await machine.remove(scope, 'cut', { CRASH_AT: 'before 5' })
      machine.write(`${FOLDER}/usr/local/virtualizor.berth-copying/universal.php`, '<?p')
      expect((await machine.remove(scope, 'cut')).output).toBeDefined()
      expect(machine.read(`${FOLDER}/usr/local/virtualizor/universal.php`)).toContain('canary')
      expect(machine.has(`${FOLDER}/usr/local/virtualizor.berth-copying`)).toBe(false)
      // One whose original was taken away in part: the copy is whole.
      machine.write('/usr/local/virtualizor.berth-moved/hooks/empty', '')
      expect((await machine.restore('cut')).output?.left).toEqual([])
      expect(state(machine)).toEqual(before)
      expect(machine.has('/usr/local/virtualizor.berth-moved')).toBe(false)
    }))
})
