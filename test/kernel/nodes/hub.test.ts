import { describe, expect, test } from 'bun:test'
import { openFakeHost } from '../../../agent/host/fake-host.ts'
import { nodeCommand } from '../../../agent/protocol/wire.ts'
import { CommandFailed } from '../../../src/kernel/jobs/failures.ts'
import { Hub, type Report, type Socket } from '../../../src/kernel/nodes/hub.ts'
import { dataDir } from '../../agent/run.ts'

const minute = 60_000
const workload = `srv_${'0'.repeat(26)}`
const look = (nodeId: string) => nodeCommand(nodeId, 'vm.look', { workload })

function connecting() {
  let now = 0
  let elapsed = 0
  const removed = new Set<string>()
  const heard = {
    logs: [] as string[],
    progress: [] as string[],
    reports: [] as [string, Report][],
    misconduct: [] as string[],
    connected: [] as string[],
    disconnected: [] as string[],
  }
  const hub = new Hub(
    () => now,
    {
      log: (jobId, line) => void heard.logs.push(`${jobId} ${line.text}`),
      progress: (jobId, percent) => void heard.progress.push(`${jobId} ${percent}`),
      report: (nodeId, report) => void heard.reports.push([nodeId, report]),
      connected: (nodeId) => void heard.connected.push(nodeId),
      disconnected: (nodeId) => void heard.disconnected.push(nodeId),
      misconduct: (nodeId, offence) => void heard.misconduct.push(`${nodeId} ${offence}`),
      isGone: (nodeId) => removed.has(nodeId),
    },
    () => elapsed,
  )
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
    const outcome = { ended: 'waiting' as unknown }
    hub.send(key, look(nodeId)).then(
      (output) => void (outcome.ended = output),
      (error: CommandFailed) => void (outcome.ended = error.failure),
    )
    return outcome
  }
  return {
    hub,
    heard,
    removed,
    node,
    send,
    turnClock: (ms: number) => void (now += ms),
    elapse: (ms: number) => void (elapsed += ms),
  }
}
const tick = () => Bun.sleep(0)
const facts = async () => {
  const host = openFakeHost(dataDir())
  const found = await host.facts()
  host.close()
  return found
}

describe('an agent of another release', () => {
  const told = async (capabilities?: readonly string[]) => {
    const r = connecting()
    const a = r.node('a')
    a.say({ type: 'facts', facts: await facts(), ...(capabilities && { capabilities }) })
    expect(r.heard.reports).toHaveLength(1)
    const command = r.send('job_1/look', 'a')
    await tick()
    return { ...r, a, command }
  }
  test('that says that it knows the command is sent it, whatever else it knows', async () => {
    expect((await told(['vm.look', 'vm.of-a-later-release'])).a.commands()).toEqual(['job_1/look'])
  })
  test('that does not know the command is not sent it, and the failure says what to do', async () => {
    const { a, command, hub } = await told(['vm.start'])
    expect([a.commands(), command.ended]).toEqual([[], 'agent_outdated'])
    expect(hub.send('job_2/look', look('a'))).rejects.toThrow('does not know vm.look: update it first')
  })
  test('that says nothing of what it knows is sent every command, and refuses by itself', async () => {
    expect((await told()).a.commands()).toEqual(['job_1/look'])
  })
  test('is another one after it has connected again: what was said before counts no more', async () => {
    const { a, node, send } = await told(['vm.start'])
    a.leave()
    send('job_2/look', 'a')
    expect(node('a').commands()).toEqual(['job_2/look'])
  })
})

describe('a command', () => {
  test('waits for its node and is sent when it comes, with its welcome before it', async () => {
    const r = connecting()
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
    const r = connecting()
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
  test(
    'that is dropped fails with the given error at once, is not sent again, and its answer counts no ' + 'more',
    async () => {
      const r = connecting()
      const command = r.send('job_1/look', 'a')
      r.hub.drop('job_1/look', new CommandFailed('node_unreachable', 'Away.'))
      r.hub.drop('job_9/look', new CommandFailed('node_unreachable', 'Never sent.'))
      await tick()
      expect(command.ended).toBe('node_unreachable')
      const a = r.node('a')
      a.say({ type: 'done', key: 'job_1/look', output: { power: 'running' } })
      await tick()
      expect([a.commands(), command.ended]).toEqual([[], 'node_unreachable'])
    },
  )
  test('waits for its node however long that is away', async () => {
    const r = connecting()
    const command = r.send('job_1/look', 'a')
    r.turnClock(365 * 24 * 60 * minute)
    expect(r.node('a').commands()).toEqual(['job_1/look'])
    expect(command.ended).toBe('waiting')
  })
  test('for a node that was removed fails at once', async () => {
    const r = connecting()
    r.removed.add('a')
    const late = r.send('job_3/look', 'a')
    await tick()
    expect(late.ended).toBe('node_removed')
  })
  test('that failed on the node fails with the code and words of the node', async () => {
    const r = connecting()
    const a = r.node('a')
    const failed = r.hub
      .send('job_1/look', look('a'))
      .catch((error: CommandFailed) => `${error.failure}: ${error.message}`)
    a.say({ type: 'failed', key: 'job_1/look', error: { code: 'no_space', message: 'The pool is full.' } })
    expect(await failed).toBe('no_space: The pool is full.')
  })
  test('answered with something that is no answer to it has failed', async () => {
    for (const output of [undefined, null, 1, {}, { power: 'flying' }, { power: 7 }, [{ power: 'running' }]]) {
      const r = connecting()
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
    const r = connecting()
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
    const r = connecting()
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
    const r = connecting()
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
    const r = connecting()
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
    const r = connecting()
    const [a, b] = [r.node('a'), r.node('b')]
    r.hub.closerOf('a')()
    r.hub.closerOf('nobody')()
    expect([a.closed, b.closed]).toEqual([[4401], []])
    r.hub.disconnectAll()
    expect(b.closed).toEqual([1012])
  })
})

const beatOf = (vms: number) => ({
  type: 'heartbeat',
  at: 0,
  cpuPercent: 1,
  load1: 1,
  memoryFreeMb: 1,
  pools: [],
  workloads: Array.from({ length: vms }, (_, i) => ({
    id: `srv_${String(i).padStart(26, '0')}`,
    power: 'running',
    cpuMs: 1e9,
    rxBytes: 1e12,
    txBytes: 1e12,
  })),
})
/** The seconds that `admit` tells the node to wait; undefined when it may connect. */
const admitted = (r: ReturnType<typeof connecting>, nodeId: string) => {
  try {
    return r.hub.admit(nodeId)
  } catch (error) {
    return (error as { details: { retryAfterSeconds: number } }).details.retryAfterSeconds
  }
}

describe('a node that sends too much', () => {
  const progress = { type: 'progress', key: 'job_1/look', percent: 1 }
  test('is disconnected before more is parsed, and may come back after a pause that doubles', () => {
    const r = connecting()
    const honest = r.node('honest')
    for (const pause of [10, 20, 40, 80]) {
      r.elapse(60_000)
      const a = r.node('a')
      let sent = 0
      while (!a.closed.length && sent < 100_000) {
        a.say(progress)
        sent++
      }
      expect([a.closed, sent]).toEqual([[4429], 10_001])
      expect([r.hub.state('a'), admitted(r, 'a')]).toEqual(['away', pause])
      a.say({ type: 'power', workload, power: 'running', at: 0, reason: '' })
      r.elapse(pause * 1000)
      expect(admitted(r, 'a')).toBeUndefined()
    }
    expect(r.heard.misconduct).toEqual(Array.from({ length: 4 }, () => 'a too_much'))
    expect(r.heard.reports).toEqual([])
    expect([honest.closed, admitted(r, 'honest')]).toEqual([[], undefined])
  })
  test('of nonsense is disconnected fifty times sooner, of bytes after 16 MB', () => {
    const r = connecting()
    const a = r.node('a')
    for (let i = 0; i < 10_000 && !a.closed.length; i++) a.say('{')
    expect([a.closed, r.heard.misconduct.filter((what) => what === 'a nonsense').length]).toEqual([[4429], 197])
    const b = r.node('b')
    const megabyte = JSON.stringify({ ...progress, padding: 'x'.repeat(1_000_000) })
    for (let i = 0; i < 100 && !b.closed.length; i++) b.say(megabyte)
    expect([b.closed, r.heard.misconduct.at(-1)]).toEqual([[4429], 'b too_much'])
  })
  test('is never an honest one: an hour of 5000 vms, a job at each of 200, and a reconnect every minute', () => {
    const r = connecting()
    const beat = JSON.stringify(beatOf(5000))
    let a = r.node('a')
    for (let s = 0; s < 3600; s++) {
      r.elapse(1000)
      if (s % 60 === 0) {
        a.leave()
        expect(admitted(r, 'a')).toBeUndefined()
        a = r.node('a')
        a.say(beat)
      }
      if (s % 10 === 0) a.say(beat)
      for (let i = 0; i < 200; i++) a.say('{"type":"progress","key":"job_1/look","percent":1}')
    }
    expect([a.closed, r.heard.misconduct]).toEqual([[], []])
  }, 60_000)
})

describe('two agents with one key', () => {
  test('replace each other a few times, then the one that is there stays, and staff are told', () => {
    const r = connecting()
    let replaced = 0
    let refused = 0
    r.node('a')
    for (let s = 0; s < 60; s++) {
      r.elapse(1000)
      if (admitted(r, 'a') !== undefined) refused++
      else {
        replaced++
        r.node('a')
      }
    }
    expect([replaced <= 9, refused >= 50, r.hub.connected('a')]).toEqual([true, true, true])
    expect(new Set(r.heard.misconduct)).toEqual(new Set(['a two_agents']))
  })
  test('are not seen in a host that comes back after its TCP died', () => {
    const r = connecting()
    r.node('a')
    for (let i = 0; i < 5; i++) {
      r.elapse(30_000)
      expect(admitted(r, 'a')).toBeUndefined()
      r.node('a')
    }
    expect(r.heard.misconduct).toEqual([])
  })
})

describe('what a node sends about its command', () => {
  test('is kept with the time of its arrival where its own is no sane time', () => {
    const r = connecting()
    const at: number[] = []
    r.hub['on'].log = (_, line) => void at.push(line.at)
    r.turnClock(1e12)
    const a = r.node('a')
    void r.send('job_1/look', 'a')
    const line = { type: 'log', key: 'job_1/look', level: 'info', text: 'x' }
    for (const time of [1e12, 1e12 - 59_000, 0, 1e12 + 61_000, 253_402_300_799_999]) a.say({ ...line, at: time })
    expect(at).toEqual([1e12, 1e12 - 59_000, 1e12, 1e12, 1e12])
    for (const time of [1e300, -1, 0.5, 2 ** 53]) a.say({ ...line, at: time })
    expect([at.length, r.heard.misconduct.length]).toEqual([5, 4])
  })
  test('has no fields that the command does not have, and no unreadable character in an error', async () => {
    const r = connecting()
    const a = r.node('a')
    const command = r.send('job_1/look', 'a')
    a.say({ type: 'done', key: 'job_1/look', output: { power: 'running', junk: 'x'.repeat(1000) } })
    const failed = r.hub.send('job_2/look', look('a')).catch((error: CommandFailed) => error.message)
    a.say({ type: 'failed', key: 'job_2/look', error: { code: 'tool_failed', message: 'red \x1b[31m\u202e' } })
    await tick()
    expect([command.ended, await failed]).toEqual([{ power: 'running' }, 'red \\x1b[31m\\u202e'])
  })
  test('in a frame that is none ends the command that it answers, and no other', async () => {
    const r = connecting()
    const [a, b] = [r.node('a'), r.node('b')]
    const command = r.send('job_1/look', 'a')
    b.say({ type: 'failed', key: 'job_1/look', error: { code: 'NOT A CODE', message: '' } })
    await tick()
    expect(command.ended).toBe('waiting')
    a.say({ type: 'failed', key: 'job_1/look', error: { code: 'NOT A CODE', message: '' } })
    await tick()
    expect(command.ended).toBe('bad_answer')
  })
  test('in binary frames, in depth and in number is never parsed', () => {
    const r = connecting()
    const a = r.node('a')
    const parse = JSON.parse
    let parsed = 0
    JSON.parse = (text: string) => {
      parsed++
      return parse(text)
    }
    try {
      for (const data of [Buffer.from('{}'), '['.repeat(1_000_000), `[${'0,'.repeat(500_000)}0]`])
        r.hub.message(a.socket, data)
    } finally {
      JSON.parse = parse
    }
    expect([parsed, r.heard.misconduct]).toEqual([0, ['a nonsense', 'a nonsense', 'a nonsense']])
  })
})
