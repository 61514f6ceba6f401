import { expect } from 'bun:test'
import type { SourceRemovals } from '../../../agent/drivers/source-removal/source-removals.ts'
import { scopeOf } from '../../support/source-removal/machine.ts'

/** A host with Virtualizor, whose bridges its own settings define. `holdForeign`: libvirt gets another domain. */
export type Rig = { driver: SourceRemovals; holdForeign(): void }
const scope = scopeOf('virtualizor')

/** The promises of every driver, as a table. */
export const sourceRemovalContract: Record<string, (rig: Rig) => Promise<void>> = {
  'lists the same each time, and changes nothing by it': async ({ driver }) => {
    const first = await driver.look(scope)
    expect(first.items.map(({ kind }) => kind)).toContain('folder')
    expect(first.foreignCount).toBe(0)
    expect(await driver.look(scope)).toEqual(first)
  },
  'touches exactly what the look lists, below one folder, and finds nothing afterwards': async ({ driver }) => {
    const { items } = await driver.look(scope)
    const removed = await driver.remove('first', scope)
    expect(removed.folder).toMatch(/^\/root\/removed-/)
    expect(removed.items.map(({ kind, name }) => [kind, name])).toEqual(items.map(({ kind, name }) => [kind, name]))
    expect(removed.verified).toEqual({ servers: 2, bridges: 1 })
    expect((await driver.look(scope)).items).toEqual([])
  },
  'answers the same when it is sent again': async ({ driver }) => {
    const removed = await driver.remove('first', scope)
    expect(await driver.remove('first', scope)).toEqual(removed)
  },
  'restores all of it, once': async ({ driver }) => {
    const before = await driver.look(scope)
    const { items } = await driver.remove('first', scope)
    expect(await driver.restore('first')).toEqual({ restored: items.length, left: [] })
    expect(await driver.look(scope)).toEqual(before)
    expect(await driver.restore('first')).toEqual({ restored: 0, left: [] })
  },
  'restores nothing of a removal that never happened': async ({ driver }) => {
    const before = await driver.look(scope)
    expect(await driver.restore('never')).toEqual({ restored: 0, left: [] })
    expect(await driver.look(scope)).toEqual(before)
  },
  'removes nothing under an id whose removal was restored': async ({ driver }) => {
    await driver.remove('first', scope)
    await driver.restore('first')
    const before = await driver.look(scope)
    await expect(driver.remove('first', scope)).rejects.toMatchObject({ code: 'removal_undone' })
    expect(await driver.look(scope)).toEqual(before)
    expect((await driver.remove('second', scope)).items.length).toBeGreaterThan(0)
  },
  'changes nothing while libvirt holds a domain that is not ours': async ({ driver, holdForeign }) => {
    holdForeign()
    const before = await driver.look(scope)
    expect(before.foreign).toEqual(['v1001'])
    await expect(driver.remove('first', scope)).rejects.toMatchObject({ code: 'removal_foreign_domains' })
    expect(await driver.look(scope)).toEqual(before)
  },
}
