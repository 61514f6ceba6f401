// After a takeover the controller from before may come back, with its database and its credentials. Nodes obey the
// newer one alone.
import { afterEach, expect, test } from 'bun:test'
import { closeCodes } from '../../../agent/protocol/wire.ts'
import { eventually } from '../../support/waiting/eventually.ts'
import { controller } from '../controller.ts'
import { workloadId } from '../examples.ts'
import { agentProcess, berthAgent, dataDir } from '../run.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

test('a controller older than one that was obeyed is refused: nothing of it is done, and doctor says so', async () => {
  const fakeController = controller()
  closing.push(fakeController.close)
  const dir = dataDir()
  const enrolled = await berthAgent(
    ['enroll', '--controller', fakeController.url, '--token-file', '-', '--name', 'n1', '--data-dir', dir, '--fake'],
    {},
    'good',
  )
  expect(enrolled.code).toBe(0)
  const run = () => {
    const agent = agentProcess(dir)
    closing.push(() => agent.stop('SIGKILL'))
    return agent
  }
  const look = (key: string) => fakeController.command(key, 'vm.look', { workload: workloadId(1) })
  const doctor = () => berthAgent(['doctor', '--data-dir', dir, '--fake'])

  fakeController.welcomeWithEpoch(5)
  const first = run()
  await fakeController.waitConnected()
  expect(await look('job_1/look')).toMatchObject({ type: 'done' })
  expect((await doctor()).code).toBe(0)

  // The one from before, whose first command is on its way together with its welcome.
  const input = { workload: workloadId(1) }
  fakeController.welcomeWithEpoch(4, { type: 'command', key: 'job_2/look', name: 'vm.look', input })
  fakeController.dropConnection()
  await eventually(() => fakeController.closes.includes(closeCodes.outdated), 10)
  const { code, out } = await doctor()
  expect([code, out]).toEqual([1, expect.stringContaining('was refused at')])
  await first.stop('SIGTERM')
  expect(fakeController.frames.filter((frame) => 'key' in frame && frame.key === 'job_2/look')).toEqual([])

  // A restart of the agent forgets nothing, and the newer one is obeyed again.
  fakeController.closes.length = 0
  const second = run()
  await eventually(() => fakeController.closes.includes(closeCodes.outdated), 10)
  await second.stop('SIGTERM')
  fakeController.welcomeWithEpoch(6)
  run()
  await fakeController.waitConnected()
  expect(await look('job_3/look')).toMatchObject({ type: 'done' })
  expect((await doctor()).code).toBe(0)
}, 60_000)
