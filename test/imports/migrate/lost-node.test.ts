// A node that is lost while a server is off has started it nowhere: the import says so, and what a person does.
import { expect, test } from 'bun:test'
import { eventually } from '../../support/waiting/eventually.ts'
import { world } from '../../support/world/panel.ts'
import { addMigrating } from './migrating.ts'

test('A server whose node is lost while it is off is shown as off, with the way to start it there', async () => {
  using p = await world()
  const { id } = addMigrating(p, 'copy')
  const moveOf = async () => (await p.admin('GET', `/admin/migrations/${id}/moves`)).data[0]
  let isCut = false
  p.arm({
    failpoints: (at) => {
      if (at !== 'import/copy:before' || isCut) return
      isCut = true
      p.node.agent.disconnect()
    },
  })
  const { app } = p.controller
  await app.importDispatcher.turn(p.db, app)
  for (let i = 0; i < 200 && !isCut; i++) await Bun.sleep(5)
  expect((await moveOf()).whereItRuns).toBe('unknown')
  p.turnClock(3_600_000)
  await p.admin('POST', `/admin/nodes/${p.node.id}/actions/declare-lost`, { name: 'fra-01' })
  await eventually(async () => (await moveOf()).state === 'failed')
  const move = await moveOf()
  expect(move).toMatchObject({ state: 'failed', whereItRuns: 'nowhere', failure: { code: 'source_left_off' } })
  expect(move.failure.nextStep).toContain('/root/berth-import')
})
