// Questions to a node that somebody waits for.
import { describe, expect, test } from 'bun:test'
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { CommandFailed } from '../../../src/kernel/jobs/failures.ts'
import { NodeReads } from '../../../src/kernel/nodes/reads.ts'
import { eventually } from '../../support/waiting/eventually.ts'

const look = (n = 0, nodeId = 'nod_1') => nodeCommand(nodeId, 'vm.look', { workload: `srv_${n}` })
/** A hub whose answers the test gives. */
function hub({ connected = true } = {}) {
  const sent: { key: string; answer(output: unknown): void; fail(error: Error): void }[] = []
  return {
    sent,
    connected: () => connected,
    send: (key: string) =>
      new Promise<unknown>((resolve, reject) => void sent.push({ key, answer: resolve, fail: reject })),
    drop: (key: string, error: CommandFailed) => sent.find((one) => one.key === key)?.fail(error),
  }
}
const sent = (h: ReturnType<typeof hub>, count: number) => eventually(() => h.sent.length === count)

describe('a question to a node', () => {
  test('is asked outside of jobs, once for all who ask the same, and one after another', async () => {
    const h = hub()
    const reads = new NodeReads(h)
    const [a, b, other] = [reads.read(look()), reads.read(look()), reads.read(look(1))]
    await sent(h, 1)
    expect(h.sent).toHaveLength(1)
    expect(h.sent[0]!.key).toStartWith('read/')
    h.sent[0]!.answer({ power: 'running' })
    expect(await Promise.all([a, b])).toEqual([{ power: 'running' }, { power: 'running' }])
    await sent(h, 2)
    expect(h.sent).toHaveLength(2)
    h.sent[1]!.answer({ power: 'stopped' })
    expect(await other).toEqual({ power: 'stopped' })
  })
  test('has no answer from a node that is away, and the failure of one that refuses', async () => {
    expect(await new NodeReads(hub({ connected: false })).read(look())).toBeUndefined()
    const h = hub()
    const answer = new NodeReads(h).read(look())
    await sent(h, 1)
    h.sent[0]!.fail(new CommandFailed('no_vm', 'There is none.'))
    expect(answer).rejects.toThrow('There is none.')
  })
  test('is refused while too many wait, and a long answer delays the next', async () => {
    const h = hub()
    let now = 0
    const reads = new NodeReads(h, () => now)
    const waiting = Array.from({ length: 8 }, (_, n) => reads.read(look(n)))
    expect(reads.read(look(9))).rejects.toMatchObject({ code: 'rate_limited' })
    await sent(h, 1)
    h.sent[0]!.answer({ power: 'x'.repeat(50_000) })
    await waiting[0]
    await Bun.sleep(40)
    // 50 kB are a tenth of a second.
    expect(h.sent).toHaveLength(1)
    now = 101
    await eventually(() => h.sent.length === 2)
    expect(h.sent).toHaveLength(2)
  })
})
