import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { FakeGuestAgent } from '../../agent/drivers/guest-agent/fake.ts'
import { MOST_GUEST_BYTES } from '../../agent/drivers/guest-agent/guest-agent.ts'
import { asciiJson, failureIn, LibvirtGuestAgent, type Virsh } from '../../agent/drivers/guest-agent/libvirt.ts'
import { uuidOf } from '../../agent/drivers/hypervisor/domain-xml.ts'
import { workloadId } from '../agent/examples.ts'
import { guestAgentContract } from './guest-agent.contract.ts'
import { missing, note } from './tools.ts'

const workload = workloadId(1)
/** On a host that has a vm of the workload. */
function fake(up = true) {
  const db = new Database(':memory:')
  db.run('CREATE TABLE vms (workload TEXT, definition TEXT)')
  db.run('INSERT INTO vms VALUES (?, ?)', [
    workload,
    JSON.stringify({ hostname: 'web01.example.com', network: { mac: '02:00:00:00:00:01' } }),
  ])
  return new FakeGuestAgent(db, { guestAnswers: async () => up })
}

describe('the fake guest agent', () => {
  for (const [name, holds] of Object.entries(guestAgentContract)) test(name, () => holds({ agent: fake(), workload }))

  test.each([
    ['silent', 'guest_agent_silent'],
    ['broken', 'guest_agent_broken'],
    ['frozen', 'guest_frozen'],
  ] as const)('that is %s fails with %s and changes nothing', async (mode, code) => {
    const agent = fake()
    agent.behave(workload, mode)
    await expect(agent.setPassword(workload, 'root', { text: 'x' })).rejects.toMatchObject({ code })
    await expect(agent.exec(workload, ['true'])).rejects.toMatchObject({ code })
    await Bun.sleep(0)
    expect(agent.password(workload)).toBeUndefined()
    expect(agent.programs(workload)).toEqual([])
  })
  test('of a guest that is not up is silent', async () => {
    expect(await fake(false).ping(workload)).toBe(false)
  })
})

describe('a question to a guest agent', () => {
  test('is ASCII without a quote or a control character, and means the same', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const json = asciiJson({ text })
        expect(json).toMatch(/^[\x20-\x26\x28-\x7e]*$/)
        expect((JSON.parse(json) as { text: string }).text).toBe(text)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('an error of libvirt', () => {
  const code = (words: string) => failureIn(workload, 'guest-exec', words).code
  test('becomes one of four codes', () => {
    const refused = (detail: string) =>
      code(`error: internal error: unable to execute QEMU agent command 'guest-exec': ${detail}`)
    const unresponsive = (detail: string) => code(`error: Guest agent is not responding: ${detail}`)
    expect(unresponsive('QEMU guest agent is not connected')).toBe('guest_agent_silent')
    expect(unresponsive('Guest agent not available for now')).toBe('guest_agent_silent')
    expect(code('error: Requested operation is not valid: domain is not running')).toBe('guest_agent_silent')
    expect(code('error: internal error: QEMU guest agent is not available due to an error')).toBe('guest_agent_broken')
    expect(refused('no such user')).toBe('guest_refused')
    expect(refused('Command guest-exec has been disabled')).toBe('guest_frozen')
    expect(code('')).toBe('guest_agent_broken')
  })
  test('never passes on what a terminal or a page would interpret, nor more than a line of it', () => {
    const quoted = `\u001b[2J\u202e${'x'.repeat(9000)}`
    const hostile = `error: internal error: unable to execute QEMU agent command 'guest-exec': ${quoted}`
    const { message } = failureIn(workload, 'guest-exec', hostile)
    expect(message).not.toMatch(/[\u001b\u202e]/)
    expect(message.length).toBeLessThan(400)
  })
})

/** A guest whose agent answers each question so: with a value, or with libvirt's words. */
const hostile = (answers: Record<string, unknown>): [LibvirtGuestAgent, string[]] => {
  const asked: string[] = []
  const virsh: Virsh = async (line) => {
    const question = JSON.parse(/'(.*)'/.exec(line)![1]!)
    asked.push(question.execute)
    const answer = answers[question.execute]
    return { out: `${JSON.stringify({ return: typeof answer === 'function' ? answer(question) : answer })}\n`, err: '' }
  }
  return [new LibvirtGuestAgent(virsh), asked]
}
const base64 = (text: string) => Buffer.from(text).toString('base64')

describe('S40: a hostile guest agent', () => {
  const odd = [null, 7, 'text', true, [], [[[]]], { a: { b: { c: {} } } }, -1, 1.5, '9'.repeat(50)]
  test('with answers of any form brings an error of its own, and nothing else', async () => {
    for (const answer of odd) {
      const names = [
        ...['guest-info', 'guest-get-host-name', 'guest-get-osinfo', 'guest-network-get-interfaces'],
        'guest-get-fsinfo',
      ]
      const more = ['guest-exec', 'guest-exec-status', 'guest-file-open', 'guest-file-read', 'guest-file-close']
      const [agent] = hostile(Object.fromEntries([...names, ...more].map((name) => [name, answer])))
      const settled = await Promise.allSettled([
        agent.info(workload),
        agent.interfaces(workload),
        agent.fileSystems(workload),
        agent.exec(workload, ['true'], { limitSeconds: 0 }),
        agent.powershell(workload, 'x', { limitSeconds: 0 }),
        agent.readFile(workload, '/x'),
      ])
      for (const one of settled)
        if (one.status === 'rejected') expect(one.reason.code).toMatch(/^guest_(agent_broken|timeout|refused)$/)
    }
  })
  test('lists its file systems once, bounded, and those alone whose sizes make sense', async () => {
    const one = (name: string, mountpoint: string, used: unknown, total: unknown, type = 'ext4') => ({
      name,
      mountpoint,
      type,
      'used-bytes': used,
      'total-bytes': total,
    })
    const [agent] = hostile({
      'guest-get-fsinfo': [
        one('vda1', '/var/lib/docker', 5, 10),
        one('vda1', '/', 5, 10),
        one('loop0', '/snap/core', 9, 9, 'squashfs'),
        one('vdb', '/srv', 11, 10),
        one('vdc', '/a', -1, 10),
        one('vdd', '/b', 1, 0),
        one('vde', '/c', '1', 10),
        { name: 'vdf', mountpoint: '/old', type: 'ext4' },
        one('\u001b[2J', `/${'x'.repeat(900)}`, 1, 2),
      ],
    })
    const found = await agent.fileSystems(workload)
    expect(found.map(({ path, device }) => [path.slice(0, 3), device])).toEqual([
      ['/', 'vda1'],
      ['/xx', '?[2J'],
    ])
    expect(found[1]!.path).toHaveLength(200)
    const [many] = hostile({
      'guest-get-fsinfo': Array.from({ length: 64 }, (_, i) => one(`vd${i}`, `/${i}`, 1, 2)),
    })
    expect(await many.fileSystems(workload)).toHaveLength(16)
  })
  test('names its system and its cards in bounded printable text, and invents no addresses', async () => {
    const text = `\u001b[2J<script>\u202e\n${'x'.repeat(9000)}`
    const card = (n: number) => ({
      name: text,
      'hardware-address': text,
      'ip-addresses': Array.from({ length: 200 }, (_, i) => ({
        'ip-address': ['10.0.0.1', 'fe80::1', '; reboot', '999.1.1.1'][i % 4],
        prefix: [24, 64, 8, 8][i % 4]! + (i > 100 ? n : 0),
      })),
    })
    const [agent] = hostile({
      'guest-info': { version: text },
      'guest-get-host-name': { 'host-name': text },
      'guest-get-osinfo': { id: text, name: 9, version: text, 'kernel-release': null, machine: [text] },
      'guest-network-get-interfaces': Array.from({ length: 1000 }, (_, n) => card(n)),
    })
    for (const value of Object.values(await agent.info(workload))) {
      expect(value).toMatch(/^[^\p{Cc}\u202e]*$/u)
      expect(value.length).toBeLessThan(260)
    }
    const cards = await agent.interfaces(workload)
    expect(cards).toHaveLength(64)
    for (const { name, mac, addresses } of cards) {
      expect(name + mac).toMatch(/^[^\p{Cc}\u202e]{0,400}$/u)
      expect(addresses.length).toBeLessThanOrEqual(64)
      expect(addresses.filter((each) => !/^(10\.0\.0\.1\/\d{1,2}|fe80::1\/\d{1,3})$/.test(each))).toEqual([])
    }
  })
  test('with endless output and a false exit code is cut, and one that never ends is left', async () => {
    const ended = { exited: true, 'out-data': base64('y'.repeat(MOST_GUEST_BYTES * 2)), 'err-data': base64('-1; x') }
    const [agent] = hostile({ 'guest-exec': { pid: 1 }, 'guest-exec-status': { ...ended, exitcode: 'x' } })
    const ran = await agent.exec(workload, ['yes'])
    expect([ran.code, ran.output.length, ran.truncated]).toEqual([1, MOST_GUEST_BYTES, true])
    const [endless, asked] = hostile({ 'guest-exec': { pid: 1 }, 'guest-exec-status': { exited: false } })
    await expect(endless.exec(workload, ['sleep'], { limitSeconds: 0.2 })).rejects.toMatchObject({
      code: 'guest_timeout',
    })
    expect(asked.length).toBeLessThan(10)
  })
  test('that never answers has one question at a time, and keeps no other guest waiting', async () => {
    const silent = uuidOf(workloadId(1))
    const waiting: string[] = []
    const stuck = Promise.withResolvers<never>()
    const agent = new LibvirtGuestAgent((line) => {
      if (!line.includes(silent)) return Promise.resolve({ out: '{"return":{}}\n', err: '' })
      waiting.push(line)
      return stuck.promise
    })
    const pings = [agent.ping(workloadId(1)), agent.ping(workloadId(1)), agent.ping(workloadId(1))]
    expect(await agent.ping(workloadId(2))).toBe(true)
    expect(waiting).toHaveLength(1)
    stuck.reject(new Error('it ended'))
    expect(await Promise.all(pings)).toEqual([false, false, false])
  })
})

describe('a script for Windows', () => {
  test('arrives as it is, encoded, and its failure is said in printable words', async () => {
    let given: any
    const answers = {
      'guest-exec': (question: any) => {
        given = question.arguments
        return { pid: 4 }
      },
      'guest-exec-status': { exited: true, exitcode: 0 },
    }
    const script = '$x = \'ä\'\nWrite-Output "$x"'
    await hostile(answers)[0].powershell(workload, script)
    expect([given.path, given.arg.slice(0, 3)]).toEqual([
      'powershell.exe',
      ['-NoProfile', '-NonInteractive', '-EncodedCommand'],
    ])
    expect(Buffer.from(given.arg[3], 'base64').toString('utf16le')).toBe(script)
    const failed = { exited: true, exitcode: 1, 'err-data': base64('\u001b[31mno such card') }
    await expect(
      hostile({ ...answers, 'guest-exec-status': failed })[0].powershell(workload, 'x'),
    ).rejects.toMatchObject({
      code: 'guest_refused',
      message: expect.stringMatching(/^[^\p{Cc}]*no such card$/u),
    })
  })
})

describe.skipIf(note(await missing('virsh'), 'the guest agent of libvirt'))('libvirt', () => {
  test('a vm that does not exist has a silent agent', async () => {
    const agent = new LibvirtGuestAgent()
    expect(await agent.ping(workloadId(999_999))).toBe(false)
    await expect(agent.info(workloadId(999_999))).rejects.toMatchObject({ code: 'guest_agent_silent' })
  })
})
