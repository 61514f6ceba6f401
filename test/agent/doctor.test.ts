import { expect, test } from 'bun:test'
import { controller } from './controller.ts'
import { berthAgent, dataDir } from './run.ts'

const LINE = /^(ok {4}|warn {2}|fail {2})[a-z][a-z -]+ — \S.*$/

test('a fake host requires only a controller', async () => {
  const fakeController = controller()
  const dir = dataDir()
  await berthAgent(
    ['enroll', '--controller', fakeController.url, '--token-file', '-', '--data-dir', dir, '--fake'],
    {},
    'good',
  )
  const { code, out } = await berthAgent(['doctor', '--data-dir', dir])
  fakeController.close()
  const [, ...lines] = out.trim().split('\n')
  expect(code).toBe(0)
  expect(lines).toHaveLength(2)
  expect(lines.join('\n')).toContain('answers; clocks agree within')
})
test('a real host gets one line per requirement, with a remedy where one is missing', async () => {
  const { code, out } = await berthAgent(['doctor', '--data-dir', dataDir()])
  const [head, ...lines] = out.trim().split('\n')
  expect(head).toStartWith('berth agent ')
  expect(lines.filter((line) => !LINE.test(line))).toEqual([])
  expect(lines.filter((line) => !line.startsWith('ok') && !line.includes('; '))).toEqual([])
  expect(code).toBe(lines.some((line) => line.startsWith('fail')) ? 1 : 0)
})
test('a controller that does not answer fails the check', async () => {
  const fakeController = controller()
  const dir = dataDir()
  await berthAgent(
    ['enroll', '--controller', fakeController.url, '--token-file', '-', '--data-dir', dir, '--fake'],
    {},
    'good',
  )
  fakeController.close()
  const { code, out } = await berthAgent(['doctor', '--data-dir', dir])
  expect(code).toBe(1)
  expect(out).toContain('cannot be reached')
})
