// The cards of a fake node, as the controller hears of them.
import { afterEach, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FromAgent } from '../../../agent/protocol/wire.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { controller } from '../controller.ts'
import { agentProcess, berthAgent, dataDir } from '../run.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const UUIDS = ['GPU-00000000-0000-4000-8000-000000000001', 'GPU-00000000-0000-4000-8000-000000000002']
const cards = UUIDS.map((uuid) => ({ uuid, model: 'NVIDIA L4', memoryMb: 23_034 }))

test('a node reports its cards and their use, and at once when one breaks or vanishes', async () => {
  const fakeController = controller()
  closing.push(fakeController.close)
  const dir = dataDir()
  await berthAgent(
    ['enroll', '--controller', fakeController.url, '--token-file', '-', '--data-dir', dir, '--fake'],
    {},
    'good',
  )
  writeFileSync(join(dir, 'fake.json'), JSON.stringify({ cards, heartbeatMs: 300 }))
  const agent = agentProcess(dir)
  closing.push(() => agent.stop('SIGKILL'))
  const last = <T extends FromAgent['type']>(type: T) =>
    fakeController.frames.findLast((frame): frame is Extract<FromAgent, { type: T }> => frame.type === type)
  const reported = () => last('facts')?.facts.cards

  await eventually(() => reported() !== undefined)
  expect(reported()).toMatchObject(cards.map((card) => ({ ...card, mig: 'off', problems: [] })))
  await eventually(() => last('metrics')?.cards !== undefined)
  expect(last('metrics')?.cards).toMatchObject(UUIDS.map((uuid) => ({ uuid, usePercent: 0, temperatureC: 31 })))

  writeFileSync(join(dir, 'cards.json'), JSON.stringify({ [UUIDS[0]!]: { xid: 79 }, [UUIDS[1]!]: { hot: 96 } }))
  await eventually(() => reported()?.[0]?.problems.length === 1, 5)
  expect(reported()).toMatchObject([{ problems: [expect.stringContaining('fell off the bus')] }, { problems: [] }])
  await eventually(() => last('metrics')?.cards?.[1]?.temperatureC === 96)
  expect(last('metrics')?.cards?.[1]).toMatchObject({ temperatureC: 96 })
  expect(await fakeController.command('job_1/check', 'cards.check', { cards: UUIDS })).toMatchObject({
    output: {
      cards: [
        { uuid: UUIDS[0], sellable: false },
        { uuid: UUIDS[1], sellable: true, clearedMb: 23_034 },
      ],
    },
  })

  writeFileSync(join(dir, 'cards.json'), JSON.stringify({ [UUIDS[0]!]: { gone: true } }))
  await eventually(() => reported()?.length === 1, 5)
  expect(reported()).toMatchObject([{ uuid: UUIDS[1], problems: [] }])
})
