import { describe, expect, test } from 'bun:test'
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { CommandFailed } from '../../../src/kernel/jobs/failures.ts'
import { Hub, type Report, type Socket } from '../../../src/kernel/nodes/hub.ts'

const minute = 60_000
const workload = `srv_${'0'.repeat(26)}`
const look = (nodeId: string) => nodeCommand(nodeId, 'vm.look', { workload })

function room() {
  let now = 0
  const removed = new Set<string>()
  const heard = {
    logs: [] as string[],
    progress: [] as string[],
    reports: [] as [string, Report][],
    misconduct: [] as string[],
    connected: [] as string[],
    disconnected: [] as string[],
  }
  const hub = new Hub(() => now, {
    log: (jobId, line) => void heard.logs.push(`${jobId} ${line.text}`),
    progress: (jobId, percent) => void heard.progress.push(`${jobId} ${percent}`),
    report: (nodeId, report) => void heard.reports.push([nodeId, report]),
    connected: (nodeId) => void heard.connected.push(nodeId),
    disconnected: (nodeId) => void heard.disconnected.push(nodeId),
    misconduct: (nodeId, offence) => void heard.misconduct.push(`${nodeId} ${offence}`),
    isGone: (nodeId) => removed.has(nodeId),
  })
  function node(nodeId: string) {
    const got: any[] = []
    const closed: number[] = []
    const socket = {
      data: { nodeId },
      send: (text: string) => got.push(JSON.parse(text)),
      close: (code: number) => closed.push(code),
    } as unknown as Socket
    hub.opened(socket, { type: 'welcome', nodeId, controllerVersion: 'x', now })
    return {
      socket,
      got,
      closed,
      commands: () => got.filter((f) => f.type === 'command').map((f) => f.key as string),
      say: (frame: unknown) => hub.message(socket, typeof frame === 'string' ? frame : JSON.stringify(frame)),
      leave: () => hub.closed(socket),
    }
  }
  /** How a command ended, once it has. */
  function send(key: string, nodeId: string) {
    const it = { ended: 'waiting' as unknown }
    hub.send(key, look(nodeId)).then(
      (output) => void (it.ended = output),
      (error: CommandFailed) => void (it.ended = error.failure),
    )
    return it
  }
  return { hub, heard, removed, node, send, turnClock: (ms: number) => void (now += ms) }
}
const tick = () => Bun.sleep(0)

describe('a command', () => {
  test('waits for its node and is sent when it comes, with its welcome before it', async () => {
    const r = room()
    const command = r.send('job_1/look', 'a')
    r.node('b')
    const a = r.node('a')
    expect(a.got.map((f) => f.type)).toEqual(['welcome', 'command'])
    expect(a.got[1]).toEqual({ type: 'command', key: 'job_1/look', name: 'vm.look', input: { workload } })
    a.say({ type: 'done', key: 'job_1/look', output: { power: 'running' } })
    await tick()
    expect(command.ended).toEqual({ power: 'running' })
  })
  test('is sent again under the same key after a reconnect, and answered once', async () => {
    const r = room()
    const command = r.send('job_1/look', 'a')
    const first = r.node('a')
    first.leave()
    const second = r.node('a')
    expect([...first.commands(), ...second.commands()]).toEqual(['job_1/look', 'job_1/look'])
    second.say({ type: 'done', key: 'job_1/look', output: { power: 'stopped' } })
    second.say({ type: 'done', key: 'job_1/look', output: { power: 'running' } })
    await tick()
    expect(command.ended).toEqual({ power: 'stopped' })
    second.leave()
    expect(r.node('a').commands()).toEqual([])
  })
  test('that is dropped fails with the given error at once, is not sent again, and its answer counts no more', async () => {
    const r = room()
    const command = r.send('job_1/look', 'a')
    r.hub.drop('job_1/look', new CommandFailed('node_unreachable', 'Away.'))
    r.hub.drop('job_9/look', new CommandFailed('node_unreachable', 'Never sent.'))
    await tick()
    expect(command.ended).toBe('node_unreachable')
    const a = r.node('a')
    a.say({ type: 'done', key: 'job_1/look', output: { power: 'running' } })
    await tick()
    expect([a.commands(), command.ended]).toEqual([[], 'node_unreachable'])
  })
  test('waits for its node however long that is away', async () => {
    const r = room()
    const command = r.send('job_1/look', 'a')
    r.turnClock(365 * 24 * 60 * minute)
    expect(r.node('a').commands()).toEqual(['job_1/look'])
    expect(command.ended).toBe('waiting')
  })
  test('for a node that was removed fails at once', async () => {
    const r = room()
    r.removed.add('a')
    const late = r.send('job_3/look', 'a')
    await tick()
    expect(late.ended).toBe('node_removed')
  })
  test('that failed on the node fails with the code and words of the node', async () => {
    const r = room()
    const a = r.node('a')
    const failed = r.hub
      .send('job_1/look', look('a'))
      .catch((error: CommandFailed) => `${error.failure}: ${error.message}`)
    a.say({ type: 'failed', key: 'job_1/look', error: { code: 'no_space', message: 'The pool is full.' } })
    expect(await failed).toBe('no_space: The pool is full.')
  })
  test('answered with something that is no answer to it has failed', async () => {
    for (const output of [undefined, null, 1, {}, { power: 'flying' }, { power: 7 }, [{ power: 'running' }]]) {
      const r = room()
      const a = r.node('a')
      const command = r.send('job_1/look', 'a')
      a.say({ type: 'done', key: 'job_1/look', output })
      await tick()
      expect([output, command.ended]).toEqual([output, 'bad_answer'])
    }
  })
})

describe('a node', () => {
  test('is connected, away since a moment, or gone', () => {
    const r = room()
    expect([r.hub.state('a'), r.hub.awaySince('a')]).toEqual(['away', undefined])
    const a = r.node('a')
    expect([r.hub.state('a'), r.hub.awaySince('a')]).toEqual(['connected', undefined])
    r.turnClock(minute)
    a.leave()
    expect([r.hub.state('a'), r.hub.awaySince('a')]).toEqual(['away', minute])
    r.node('a')
    expect([r.hub.state('a'), r.hub.awaySince('a')]).toEqual(['connected', undefined])
    r.removed.add('b')
    expect(r.hub.state('b')).toBe('gone')
  })
  test('speaks only of commands that were sent to it: answers, lines and progress of others are ignored', async () => {
    const r = room()
    const a = r.node('a')
    const b = r.node('b')
    const command = r.send('job_1/look', 'a')
    b.say({ type: 'done', key: 'job_1/look', output: { power: 'stopped' } })
    b.say({ type: 'failed', key: 'job_1/look', error: { code: 'x', message: 'x' } })
    b.say({ type: 'log', key: 'job_1/look', level: 'info', text: 'forged', at: 0 })
    b.say({ type: 'progress', key: 'job_1/look', percent: 99 })
    b.say({ type: 'log', key: 'job_9/look', level: 'info', text: 'of a job that is not', at: 0 })
    await tick()
    expect([command.ended, r.heard.logs, r.heard.progress]).toEqual(['waiting', [], []])
    a.say({ type: 'log', key: 'job_1/look', level: 'info', text: 'mine', at: 0 })
    a.say({ type: 'progress', key: 'job_1/look', percent: 40 })
    a.say({ type: 'done', key: 'job_1/look', output: { power: 'running' } })
    await tick()
    expect([command.ended, r.heard.logs, r.heard.progress]).toEqual([
      { power: 'running' },
      ['job_1 mine'],
      ['job_1 40'],
    ])
    a.say({ type: 'log', key: 'job_1/look', level: 'info', text: 'after the end', at: 0 })
    expect(r.heard.logs.length).toBe(1)
  })
  test('that sends nonsense is noted, and everything else goes on', () => {
    const r = room()
    const a = r.node('a')
    const frames = [
      '',
      '{',
      'null',
      '[]',
      '"x"',
      '{}',
      { type: 'shell' },
      { type: 'done' },
      { type: 'done', key: 'k'.repeat(121), output: {} },
      { type: 'progress', key: 'k', percent: 101 },
      { type: 'log', key: 'k', level: 'loud', text: '', at: 0 },
      { type: 'log', key: 'k', level: 'info', text: 'x'.repeat(4097), at: 0 },
      { type: 'power', workload: '../etc', power: 'running', at: 0, reason: '' },
      { type: 'heartbeat', at: 'now' },
      { type: 'inventory', vms: [{ workload: 'x', power: 'running' }], volumes: [], foreign: [] },
      { type: 'welcome', nodeId: 'b', controllerVersion: 'x', now: 0 },
    ]
    for (const frame of frames) a.say(frame)
    expect(r.heard.misconduct).toEqual(frames.map(() => 'a nonsense'))
    expect([r.heard.reports, a.closed]).toEqual([[], []])
    const power = { type: 'power', workload, power: 'running', at: 0, reason: '' }
    a.say(power)
    expect(r.heard.reports).toEqual([['a', power as Report]])
  })
  test('that connects again replaces its old socket, whose words count no more', async () => {
    const r = room()
    const old = r.node('a')
    const command = r.send('job_1/look', 'a')
    const fresh = r.node('a')
    expect(old.closed).toEqual([4409])
    expect(fresh.commands()).toEqual(['job_1/look'])
    old.say({ type: 'done', key: 'job_1/look', output: { power: 'stopped' } })
    old.leave()
    await tick()
    expect([command.ended, r.hub.connected('a'), r.heard.disconnected]).toEqual(['waiting', true, []])
    fresh.leave()
    expect([r.hub.connected('a'), r.heard.disconnected, r.hub.count()]).toEqual([false, ['a'], 0])
  })
  test('that is revoked is cut off', () => {
    const r = room()
    const [a, b] = [r.node('a'), r.node('b')]
    r.hub.disconnect('a')
    r.hub.disconnect('nobody')
    expect([a.closed, b.closed]).toEqual([[4401], []])
    r.hub.disconnectAll()
    expect(b.closed).toEqual([1012])
  })
})
