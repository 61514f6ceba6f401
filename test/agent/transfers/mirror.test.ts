// The bytes and events of a mirror decide what the copy after it need not read.
import { expect, test } from 'bun:test'
import { NbdRequests } from '../../../agent/drivers/transfer/nbd/requests.ts'
import { MirrorWatch } from '../../../agent/drivers/transfer/ssh/mirror-watch.ts'

const option = (payload: number) => {
  const bytes = Buffer.alloc(16 + payload, 0x25)
  bytes.write('IHAVEOPT')
  bytes.writeUInt32BE(7, 8)
  bytes.writeUInt32BE(payload, 12)
  return bytes
}
const request = (type: number, offset: number, length: number) => {
  // The payload of a write looks like another request.
  const bytes = Buffer.alloc(28 + (type === 1 ? length : 0), Buffer.from([0x25, 0x60, 0x95, 0x13]))
  bytes.fill(0, 4, 28)
  bytes.writeUInt16BE(type, 6)
  bytes.writeBigUInt64BE(BigInt(offset), 16)
  bytes.writeUInt32BE(length, 24)
  return bytes
}

test('every change of a disk is seen in what its client sends, however that comes in parts', () => {
  const sent = Buffer.concat([
    ...[Buffer.alloc(4), option(0), option(37)],
    ...[request(0, 512, 4096), request(1, 2 ** 40, 100), request(3, 0, 0), request(6, 4096, 2 ** 32 - 512)],
    ...[request(1, 0, 28), request(4, 65_536, 512), request(7, 1, 1), request(2, 0, 0)],
  ])
  for (const part of [1, 3, 27, 64, sent.length]) {
    const seen: number[][] = []
    const requests = new NbdRequests((...change) => seen.push(change))
    for (let at = 0; at < sent.length; at += part) requests.read(sent.subarray(at, at + part))
    expect(seen).toEqual([
      [2 ** 40, 100],
      [4096, 2 ** 32 - 512],
      [0, 28],
      [65_536, 512],
    ])
  }
})

test('a client that does not keep to NBD is not handed on', () => {
  const requests = new NbdRequests(() => {})
  expect(() => requests.read(Buffer.alloc(40))).toThrow('does not keep to NBD')
})

const job = (words: string) => `event 'block-job-2' for domain 'srv_1': Block Copy for ${words}`
const life = (words: string) => `event 'lifecycle' for domain 'srv_1': ${words}`
const ready = [job('vda ready'), job('vdb ready')]
const shutDown = [life('Shutdown Finished after guest request'), life('Stopped Shutdown')]

for (const [words, events, isWhole] of [
  ['whose vm shut itself down', [...ready, ...shutDown], true],
  ['whose vm waited in between', [...ready, life('Suspended Paused'), life('Resumed Unpaused'), ...shutDown], true],
  ['that was never ready', [job('vda ready'), ...shutDown], false],
  ['of which one broke off', [...ready, job('vdb failed'), ...shutDown], false],
  ['that was cancelled', [...ready, job('vda canceled'), ...shutDown], false],
  ['that broke off with its vm', [...ready, shutDown[0]!, job('vda failed'), shutDown[1]!], false],
  [
    'whose vm was switched off',
    [...ready, life('Shutdown Finished after host request'), life('Stopped Destroyed')],
    false,
  ],
  ['whose vm was killed', [...ready, life('Stopped Failed')], false],
  ['whose vm started again', [...ready, ...shutDown, life('Started Booted'), ...shutDown], false],
  ['whose events ended early', ready, false],
] as const)
  test(`a mirror ${words} ${isWhole ? 'has' : 'may not have'} all that the vm wrote`, async () => {
    const heard = Promise.withResolvers<void>()
    async function* told() {
      yield* events
      heard.resolve()
    }
    const watch = new MirrorWatch(['vda', 'vdb'], told)
    await heard.promise
    expect(await watch.whole()).toBe(isWhole)
    watch.end()
  })
