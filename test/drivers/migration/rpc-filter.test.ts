// The filter between two libvirts, with the messages of a real migration (libvirt 9.0): a q35 machine with a qcow2
// disk, a raw volume, a seed and a private network, captured between virsh and the target's socket.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { reachOf } from '../../../agent/drivers/migration/host-reach.ts'
import {
  type Announced,
  AnswerFilter,
  CallFilter,
  RefusedMessage,
} from '../../../agent/drivers/migration/rpc-filter.ts'
import { parseStrictXml } from '../../../agent/drivers/migration/strict-xml.ts'
import { seeded } from '../../support/random/seeded.ts'

const captured = (name: string) => readFileSync(join(import.meta.dir, 'captured', name))
const calls = captured('calls.bin')
const answers = captured('answers.bin')
const announced: Announced = {
  reach: reachOf(parseStrictXml(captured('definition.xml').toString())),
  flags: 1 + 8 + 16 + 32 + 64,
  migrateUri: 'unix:///run/mig/mig.sock',
  disksUri: 'unix:///run/mig/nbd.sock',
}
const filter = (other: Partial<Announced> = {}) => new CallFilter({ ...announced, ...other })

function framesIn(bytes: Buffer): Buffer[] {
  const frames: Buffer[] = []
  for (let at = 0; at < bytes.length; at += bytes.readUInt32BE(at))
    frames.push(Buffer.from(bytes.subarray(at, at + bytes.readUInt32BE(at))))
  return frames
}
const frames = framesIn(calls)
const procedureOf = (frame: Buffer) => frame.readUInt32BE(12)
const place = (procedure: number) => frames.findIndex((frame) => procedureOf(frame) === procedure)
const [PREPARE, FINISH] = [303, 306]

/** A message with another text in the place of one of the same length in words: XDR's lengths are kept right. */
function replaced(frame: Buffer, from: string, to: string): Buffer {
  const at = frame.indexOf(from)
  expect(at).toBeGreaterThan(0)
  // The string that holds it, whose length stands in the word before.
  for (let start = Math.floor(at / 4) * 4 - 4; start > 0; start -= 4) {
    const length = frame.readUInt32BE(start)
    if (length > 0xffff || start + 4 + length < at + from.length || length < from.length) continue
    const text = frame.subarray(start + 4, start + 4 + length).toString()
    const other = text.replace(from, to)
    const padded = (word: string) => Math.ceil(Buffer.byteLength(word) / 4) * 4
    const made = Buffer.concat([
      frame.subarray(0, start + 4),
      Buffer.from(other),
      Buffer.alloc(padded(other) - Buffer.byteLength(other)),
      frame.subarray(start + 4 + padded(text)),
    ])
    made.writeUInt32BE(Buffer.byteLength(other), start)
    made.writeUInt32BE(made.length, 0)
    return made
  }
  throw new Error('no string around it')
}

/** The refusal of a whole conversation in which one message is another; undefined: all of it passes. */
function said(
  procedure: number,
  change: (frame: Buffer) => Buffer,
  other: Partial<Announced> = {},
): string | undefined {
  const n = place(procedure)
  const under = filter(other)
  try {
    for (const frame of frames.with(n, change(frames[n]!))) under.take(frame)
    return undefined
  } catch (error) {
    expect(error).toBeInstanceOf(RefusedMessage)
    return (error as Error).message
  }
}
const saidTo = (from: string, to: string, procedure = PREPARE) => said(procedure, (frame) => replaced(frame, from, to))

describe('the calls of a migration', () => {
  test('pass unchanged, in whatever pieces they come', () => {
    for (const size of [1, 3, 27, 28, 1000, 70_000]) {
      const under = filter()
      const passed: Buffer[] = []
      for (let at = 0; at < calls.length; at += size) passed.push(under.take(calls.subarray(at, at + size)))
      expect(Buffer.concat(passed).equals(calls)).toBe(true)
    }
  })

  test('keepalive messages pass, and only such', () => {
    const message = (procedure: number, type = 2, body = 0) => {
      const bytes = Buffer.alloc(28 + body)
      for (const [n, word] of [bytes.length, 0x6b656570, 1, procedure, type, 0, 0].entries())
        bytes.writeUInt32BE(word, n * 4)
      return bytes
    }
    for (const procedure of [1, 2]) expect(filter().take(message(procedure)).length).toBe(28)
    for (const wrong of [message(3), message(1, 0), message(1, 2, 4)])
      expect(() => filter().take(wrong)).toThrow(RefusedMessage)
  })

  test.each([
    [
      'another file as a disk',
      "<source file='/run/disks/d.qcow2'/>",
      "<source file='/etc/shadow'/>",
      'disk file qcow2 /etc/shadow',
    ],
    ['another format of a disk', "type='qcow2'", "type='raw'", 'disk file raw /run/disks/d.qcow2'],
    ['a device as a disk', "<source file='/run/disks/d.qcow2'/>", "<source dev='/dev/sda'/>", '/dev/sda'],
    ['a disk of the network', "<source file='/run/disks/v.raw'/>", "<source protocol='rbd' name='p/i'/>", 'rbd:p/i'],
    [
      'a layer',
      '<backingStore/>',
      "<backingStore type='file'><format type='raw'/><source file='/dev/sda'/></backingStore>",
      'layer file /dev/sda',
    ],
    [
      'a layer below a layer',
      '<backingStore/>',
      "<backingStore><backingStore type='file'><format type='raw'/><source file='/a'/></backingStore></backingStore>",
      'layer file /a',
    ],
    ['another bridge', "<source bridge='br0'/>", "<source bridge='br-management'/>", 'br-management'],
    ['another tap', "<target dev='bth1'/>", "<target dev='bth2'/>", 'br0 bth2'],
    ['another address of the card', '52:54:00:00:00:01', '52:54:00:00:00:02', '52:54:00:00:00:02'],
    [
      'a script for the card',
      "<target dev='bth1'/>",
      "<target dev='bth1'/><script path='/tmp/x'/>",
      'domain/devices/interface/script',
    ],
    ['another serial line', '/run/serial/x.sock', '/run/serial/y.sock', 'serial line unix bind /run/serial/y.sock'],
    ['a serial log elsewhere', '/run/serial/x.log', '/etc/cron.d/x', 'serial log /etc/cron.d/x'],
    ['another program', '/usr/bin/qemu-system-x86_64', '/tmp/qemu', 'emulator /tmp/qemu'],
    ['a kernel of the host', '<os>', '<os><kernel>/boot/vmlinuz</kernel>', 'domain/os/kernel'],
    ['variables of other firmware', '<os>', '<os><nvram>/etc/passwd</nvram>', 'nvram /etc/passwd'],
    [
      'a directory of the host',
      '<devices>',
      "<devices><filesystem type='mount'><source dir='/'/><target dir='x'/></filesystem>",
      'domain/devices/filesystem',
    ],
    ['a device of the host', '<devices>', "<devices><hostdev mode='subsystem' type='usb'/>", 'domain/devices/hostdev'],
    ['a port for the screen', "<graphics type='vnc'>", "<graphics type='vnc' port='5900'>", 'attribute port'],
    ['a screen on the network', "<listen type='socket'/>", "<listen type='address'/>", 'screen vnc address'],
    [
      'the address of a screen',
      "<listen type='socket'/>",
      "<listen type='socket' socket='/tmp/x'/>",
      'attribute socket',
    ],
    ['arguments of QEMU', '</devices>', "</devices><qemu:commandline xmlns:qemu='x'/>", 'domain/qemu:commandline'],
    ['a random source', '/dev/urandom', '/dev/sda', 'random random /dev/sda'],
    ['a path in a place without any', "<model type='vga'", "<model type='/dev/dri'", 'the path /dev/dri'],
    ['a fixed security label', '</devices>', "</devices><seclabel type='none'/>", 'security label none'],
    ['a hypervisor of another kind', "<domain type='qemu'>", "<domain type='kvm'>", 'type kvm'],
    [
      'another name',
      '<name>srv_00000000000000000000000001</name>',
      '<name>srv_00000000000000000000000002</name>',
      'name',
    ],
    ['another UUID', '<uuid>251eea71', '<uuid>251eea72', 'uuid'],
    ['more memory', '131072', '262144', 'memoryKib is 262144'],
    ['more processors', '>1</vcpu>', '>2</vcpu>', 'vcpus is 2'],
    ['another workload’s mark', 'id="srv_00000000000000000000000001"', 'id="srv_00000000000000000000000002"', 'mark'],
    ['a document type', '<domain type', '<!DOCTYPE x><domain type', 'no name of an element'],
    ['an entity', '<title>web1', '<title>&x;web1', 'entity'],
    ['a comment', '<os>', '<!-- --><os>', 'no name of an element'],
    [
      'two sources',
      "<source file='/run/disks/d.qcow2'/>",
      "<source file='/run/disks/d.qcow2'/><source file='/b'/>",
      'twice',
    ],
    [
      'two of one attribute',
      "<source file='/run/disks/d.qcow2'/>",
      "<source file='/run/disks/d.qcow2' file='/b'/>",
      'twice',
    ],
    ['an open end', '</domain>', '', 'expected'],
  ])('a definition with %s is refused', (_, from, to, words) => {
    for (const procedure of [PREPARE, FINISH]) expect(saidTo(from, to, procedure)).toContain(words)
  })

  test('the definition that stays is read too: it is in the cookie of the last call', () => {
    const inCookie = (from: string, to: string) =>
      said(FINISH, (frame) => {
        const cookie = frame.indexOf('<qemu-migration>')
        return Buffer.concat([
          frame.subarray(0, cookie),
          Buffer.from(frame.subarray(cookie).toString('latin1').replace(from, to), 'latin1'),
        ])
      })
    expect(inCookie('/run/disks/d.qcow2', '/run/disks/e.qcow2')).toContain('/run/disks/e.qcow2')
    expect(inCookie('<uuid>251eea71', '<uuid>251eea72')).toContain('cookie for 251eea72')
  })

  test('less memory and fewer devices than announced pass', () => {
    expect(saidTo("<memory unit='KiB'>131072", "<memory unit='KiB'>65536")).toBeUndefined()
    expect(saidTo("<source file='/run/disks/seed.iso'/>", '')).toBeUndefined()
  })

  test('the last call says how long the guest has stopped, as far as that can be believed', () => {
    const heard: number[] = []
    const hear = (bytes: Buffer) => new CallFilter(announced, (ms) => heard.push(ms)).take(bytes)
    hear(calls)
    // Stopped at …71165 and sent at …71403.
    expect(heard.splice(0)).toEqual([238])
    for (const lie of ['1795724271404', '17957', 'soon'.padEnd(13)])
      hear(
        Buffer.from(calls.toString('latin1').replace('<stopped>1795724271165', `<stopped>${lie.padEnd(13)}`), 'latin1'),
      )
    expect(heard).toEqual([0, 0, 0])
  })

  test('a vm that would run at once, or whose disks would be copied otherwise, is refused', () => {
    for (const procedure of [PREPARE, FINISH]) {
      const flagsAt = (frame: Buffer) => frame.length - (procedure === FINISH ? 8 : 4)
      const withFlags = (flags: number) =>
        said(procedure, (frame) => {
          const made = Buffer.from(frame)
          made.writeUInt32BE(flags, flagsAt(made))
          return made
        })
      expect(withFlags(announced.flags)).toBeUndefined()
      for (const flags of [announced.flags - 32, announced.flags + 2, announced.flags + 4, announced.flags + 1024, 0])
        expect(withFlags(flags)).toContain('flags')
    }
  })

  test('other addresses, disks and parameters are refused', () => {
    expect(saidTo('unix:///run/mig/mig.sock', 'unix:///run/libvirt/sock')).toContain('in the place of')
    expect(saidTo('unix:///run/mig/nbd.sock', 'tcp://0.0.0.0:1000')).toContain('in the place of')
    expect(saidTo('migrate_uri', 'listen_addres')).toContain('the parameter listen_addres')
    expect(saidTo('disks_uri', '__proto__')).toContain('the parameter __proto__')
    expect(said(1, (frame) => replaced(frame, 'qemu:///system', 'qemu:///session'))).toContain(
      'an open of qemu:///session',
    )
  })

  test('every other call, and every call out of its turn, is refused', () => {
    for (let procedure = 0; procedure < 450; procedure++) {
      if ([1, 2, 60, 66, PREPARE, FINISH].includes(procedure)) continue
      const call = Buffer.from(frames[0]!)
      call.writeUInt32BE(procedure, 12)
      expect(said(66, () => call)).toContain(`the call ${procedure}`)
    }
    const first = frames[place(PREPARE)]!
    expect(() => filter().take(first)).toThrow('out of its turn')
    const twice = filter()
    for (const frame of frames.slice(0, place(PREPARE) + 1)) twice.take(frame)
    expect(() => twice.take(first)).toThrow('out of its turn')
    const skipped = filter()
    for (const frame of frames.slice(0, place(PREPARE))) skipped.take(frame)
    expect(() => skipped.take(frames[place(FINISH)]!)).toThrow('out of its turn')
    const closed = filter()
    closed.take(calls)
    for (const frame of frames) expect(() => closed.take(frame)).toThrow(RefusedMessage)
  })

  test('other programs, versions, types, states and lengths are refused', () => {
    const withWord = (n: number, word: number) =>
      said(66, (frame) => {
        const made = Buffer.from(frame)
        made.writeUInt32BE(word, n * 4)
        return made
      })
    expect(withWord(1, 0x20008087)).toContain('the program 20008087')
    expect(withWord(2, 2)).toContain('version 2')
    for (const type of [1, 2, 3, 4, 5, 6]) expect(withWord(4, type)).toContain(`type ${type}`)
    expect(withWord(6, 1)).toContain('status 1')
    for (const length of [0, 4, 27, 30, (1 << 20) + 4, 0xffffffff]) expect(withWord(0, length)).toContain('bytes')
    // Longer or shorter than its arguments.
    for (const procedure of [1, 60, PREPARE, FINISH]) {
      const lengthened = said(procedure, (frame) => {
        const made = Buffer.concat([frame, Buffer.alloc(4)])
        made.writeUInt32BE(made.length, 0)
        return made
      })
      expect(lengthened).toContain('left over')
      const shortened = said(procedure, (frame) => {
        const made = Buffer.from(frame.subarray(0, -4))
        made.writeUInt32BE(made.length, 0)
        return made
      })
      expect(shortened).toContain('ends too early')
    }
    expect(() => {
      const under = filter()
      for (let n = 0; n < 100; n++) under.take(frames[1]!)
    }).toThrow('more than 64 calls')
  })

  test('5000 damaged conversations are refused or passed, and nothing else happens to the agent', () => {
    const random = seeded(7)
    const below = (n: number) => Math.floor(random() * n)
    const outcomes = { refused: 0, passed: 0 }
    for (let n = 0; n < 5000; n++) {
      // Most of the bytes are text of definitions, so each message is damaged as often as any other.
      const which = below(frames.length)
      const frame = Buffer.from(frames[which]!)
      for (let times = 1 + below(3); times > 0; times--) frame[below(frame.length)] = below(256)
      const cut = below(4) === 0 ? frame.subarray(0, below(frame.length)) : frame
      const under = filter()
      try {
        for (const part of frames.with(which, cut)) under.take(part)
        outcomes.passed++
      } catch (error) {
        if (!(error instanceof RefusedMessage)) throw error
        outcomes.refused++
      }
    }
    expect(outcomes.refused).toBeGreaterThan(1000)
    expect(outcomes.passed).toBeGreaterThan(0)
  }, 60_000)

  test('one that comes byte by byte costs no more than its bytes', () => {
    const under = filter()
    const large = Buffer.alloc(1 << 20)
    large.writeUInt32BE(large.length, 0)
    const began = performance.now()
    for (let at = 0; at < large.length - 1; at++) under.take(large.subarray(at, at + 1))
    expect(performance.now() - began).toBeLessThan(10_000)
    expect(() => under.take(large.subarray(-1))).toThrow(RefusedMessage)
  })
})

describe('the answers of a migration', () => {
  test('pass unchanged, and it is heard when the hypervisor is ready and when the memory is there', () => {
    const heard: string[] = []
    const under = new AnswerFilter({
      onPrepared: () => heard.push('prepared'),
      onFinished: () => heard.push('finished'),
    })
    const passed: Buffer[] = []
    for (let at = 0; at < answers.length; at += 100) passed.push(under.take(answers.subarray(at, at + 100)))
    expect(Buffer.concat(passed).equals(answers)).toBe(true)
    expect(heard.splice(0)).toEqual(['prepared', 'finished'])
    // An error in the place of either.
    for (const procedure of [PREPARE, FINISH]) {
      const parts = framesIn(answers)
      parts.find((frame) => procedureOf(frame) === procedure)!.writeUInt32BE(1, 24)
      new AnswerFilter({ onPrepared: () => heard.push('prepared'), onFinished: () => heard.push('finished') }).take(
        Buffer.concat(parts),
      )
    }
    expect(heard).toEqual(['finished', 'prepared'])
  })

  test('an answer that sends the memory elsewhere is refused', () => {
    const parts = framesIn(answers)
    const n = parts.findIndex((frame) => procedureOf(frame) === PREPARE)
    const uri = 'unix:///run/libvirt/libvirt-sock'
    const made = Buffer.concat([
      parts[n]!.subarray(0, -4),
      Buffer.from([0, 0, 0, 1, 0, 0, 0, uri.length]),
      Buffer.from(uri),
    ])
    made.writeUInt32BE(made.length, 0)
    expect(() => new AnswerFilter().take(Buffer.concat(parts.with(n, made)))).toThrow(`the vm goes to ${uri}`)
  })

  test('what answers no call of a migration is refused', () => {
    for (const [word, value] of [
      [3, 20],
      [4, 0],
      [4, 2],
      [4, 3],
      [1, 1],
    ] as const) {
      const frame = Buffer.from(framesIn(answers)[0]!)
      frame.writeUInt32BE(value, word * 4)
      expect(() => new AnswerFilter().take(frame)).toThrow(RefusedMessage)
    }
  })
})
