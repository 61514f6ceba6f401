import { Database } from 'bun:sqlite'
import { describe, test } from 'bun:test'
import { FakeSourceRemovals } from '../../../agent/drivers/source-removal/fake.ts'
import { Failure, type FailureCode } from '../../../agent/failure.ts'
import { defineInInterfaces, installVirtualizor } from '../../support/source-removal/installations.ts'
import { type Answer, type Machine, noMachines, withMachine } from '../../support/source-removal/machine.ts'
import { note } from '../tools.ts'
import { sourceRemovalContract } from './contract.ts'

describe('the fake software of another panel', () => {
  for (const [promise, check] of Object.entries(sourceRemovalContract))
    test(promise, async () => {
      using db = new Database(':memory:', { strict: true })
      const driver = new FakeSourceRemovals(db)
      await check({ driver, holdForeign: () => driver.describe({ holds: ['v1001'] }) })
    })
})

describe.skipIf(note(noMachines(), 'the software of another panel on a real host'))('a real host', () => {
  const driverOf = (machine: Machine) => ({
    look: async (scope: Parameters<Machine['look']>[0]) => unwrapped(await machine.look(scope)),
    remove: async (id: string, scope: Parameters<Machine['look']>[0]) => unwrapped(await machine.remove(scope, id)),
    restore: async (id: string) => unwrapped(await machine.restore(id)),
  })
  for (const [promise, check] of Object.entries(sourceRemovalContract))
    test(promise, () =>
      withMachine(async (machine) => {
        await installVirtualizor(machine)
        defineInInterfaces(machine)
        await check({ driver: driverOf(machine), holdForeign: () => machine.domain('v1001', { isRunning: false }) })
      }),
    )
})

function unwrapped<T>({ output, error, log }: Answer<T>): T {
  if (error) throw new Failure(error.code as FailureCode, error.message)
  if (output === undefined) throw new Error(log.join('\n'))
  return output
}
