// One open console over sockets that are objects: acknowledgements, a node that lies, and the ends.
import { describe, expect, test } from 'bun:test'
import type { CloseReason } from '../../../src/compute/console/closes.ts'
import { ConsoleSession } from '../../../src/compute/console/session.ts'
import { eventually } from '../../support/waiting/eventually.ts'

type Opening = { idleMs?: number; check?: () => CloseReason | undefined; isMoving?: () => boolean }
function opened({ idleMs, check = () => undefined, isMoving = () => false }: Opening = {}) {
  const ends: any[] = []
  const socket = () => ({
    sent: [] as any[],
    closed: undefined as unknown,
    waiting: 0,
    send(data: unknown) {
      this.sent.push(data)
    },
    getBufferedAmount() {
      return this.waiting
    },
    close(code: number, words: string) {
      this.closed ??= { code, words }
    },
  })
  const [viewer, node] = [socket(), socket()]
  const session = new ConsoleSession({
    check,
    isMoving,
    callNode: () => true,
    ended: (end) => void ends.push(end),
    ...(idleMs !== undefined && { idleMs }),
  })
  session.viewer.opened(viewer as never)
  const ofNode = session.join()!
  ofNode.opened(node as never)
  return {
    ends,
    viewer,
    node,
    session,
    fromNode: (data: string | Buffer) => ofNode.message(node as never, data),
    fromViewer: (data: string | Buffer) => session.viewer.message(viewer as never, data),
    nodeCloses: (code: number) => ofNode.closed(node as never, code),
    drained: () => session.viewer.drained?.(viewer as never),
  }
}
const acks = ({ node }: ReturnType<typeof opened>) =>
  node.sent.filter((data) => typeof data === 'string').map((text) => JSON.parse(text).bytes)

describe('an open console', () => {
  test('acknowledges what has left for the viewer, and nothing of what waits', async () => {
    const c = opened()
    c.fromNode(Buffer.alloc(100_000))
    expect(acks(c)).toEqual([100_000])
    c.viewer.waiting = 300_000
    c.fromNode(Buffer.alloc(300_000))
    await Bun.sleep(60)
    expect(acks(c)).toEqual([100_000])
    c.viewer.waiting = 0
    c.drained()
    expect(acks(c)).toEqual([100_000, 400_000])
    c.fromNode(Buffer.alloc(10))
    await eventually(() => acks(c).at(-1) === 400_010)
    expect(acks(c).at(-1)).toBe(400_010)
    c.session.end('closed')
  })
  test('ends when the node sends more than its window, or what is no frame', () => {
    const flooding = opened()
    flooding.viewer.waiting = 10e6
    for (let n = 0; n < 5; n++) flooding.fromNode(Buffer.alloc(1 << 20))
    expect(flooding.viewer.closed).toEqual({ code: 4412, words: 'The console broke off.' })
    expect(flooding.viewer.sent.length).toBeLessThan(4)
    for (const text of ['{', '{"type":"ack","bytes":1}', `{"type":"pong","n":1${' '.repeat(300)}}`]) {
      const lying = opened()
      lying.fromNode(text)
      expect([lying.viewer.closed, lying.viewer.sent]).toEqual([{ code: 4412, words: 'The console broke off.' }, []])
      expect(lying.node.closed).toEqual({ code: 1000, words: 'over' })
    }
  })
  test('tells the viewer why the node has no console, once, and is told of once', () => {
    const c = opened()
    c.fromNode('{"type":"failed","code":"no_serial_line"}')
    c.nodeCloses(1000)
    c.session.end('closed')
    expect(c.viewer.closed).toMatchObject({ code: 4406 })
    expect(c.ends).toEqual([{ reason: 'no_serial_line', seconds: 0, sentBytes: 0, receivedBytes: 0 }])
  })
  test('has one node only', () => {
    const c = opened()
    expect(c.session.join()).toBeUndefined()
    c.session.end('closed')
  })
  test('ends when nothing was typed for long, whatever the server draws', async () => {
    const c = opened({ idleMs: 500 })
    for (let n = 0; n < 60 && !c.viewer.closed; n++) {
      c.fromNode(Buffer.from('clock'))
      await Bun.sleep(50)
    }
    expect(c.viewer.closed).toEqual({ code: 4408, words: 'Nothing was typed for 30 minutes.' })
  })
  test('ends when the rights cannot be looked at', async () => {
    const c = opened({
      check() {
        throw new Error('no database')
      },
    })
    for (let n = 0; n < 60 && !c.viewer.closed; n++) await Bun.sleep(50)
    expect(c.viewer.closed).toMatchObject({ code: 4412 })
  })
  test('sends nothing to the node that a viewer sends after the end', () => {
    const c = opened()
    c.session.end('suspended')
    c.fromViewer(Buffer.from('rm -rf /\r'))
    expect(c.node.sent).toEqual([])
  })
})
