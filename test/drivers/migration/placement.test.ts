// The definition of a running vm, rewritten for the node that it goes to.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { mustReachWithin, reachOf } from '../../../agent/drivers/migration/host-reach.ts'
import { progressIn, sourceEventIn } from '../../../agent/drivers/migration/job-info.ts'
import { disksToCopy, placed } from '../../../agent/drivers/migration/placement.ts'
import { parseStrictXml, strictXml } from '../../../agent/drivers/migration/strict-xml.ts'

const text = readFileSync(join(import.meta.dir, 'captured/definition.xml'), 'utf8')
const here = parseStrictXml(text)
const moved = (...changes: [string, string][]) =>
  parseStrictXml(changes.reduce((all, [from, to]) => all.replaceAll(from, to), text))

describe('the definition of a vm', () => {
  test('is the same text again where both nodes have the same places', () => {
    expect(strictXml(placed(here, here))).toBe(strictXml(here))
    expect(strictXml(parseStrictXml(strictXml(here)))).toBe(strictXml(here))
  })

  test('gets the places of the other node, and keeps what the guest sees', () => {
    const there = moved(
      ['/run/disks/', '/srv/pool/'],
      ["type='raw' cache", "type='qcow2' cache"],
      ["bridge='br0'", "bridge='br-public'"],
      ["dev='bth1'", "dev='bth7'"],
      ['/run/serial/', '/var/lib/other/'],
      ['/usr/bin/qemu-system-x86_64', '/usr/libexec/qemu'],
      ["bus='0x05'", "bus='0x0f'"],
      ['<vcpu', '<vcpu current="1"'],
    )
    const result = placed(here, there)
    expect(() => mustReachWithin(result, reachOf(there))).not.toThrow()
    expect(strictXml(result)).toContain('bus="0x05"')
    expect(strictXml(result)).not.toContain('current=')
  })

  test('loses the layers that it stands on here, because the other disk holds all of them', () => {
    const layer = "<format type='qcow2'/><source file='/run/disks/base'/>"
    const layered = moved(["<target dev='vda'", `<backingStore type='file'>${layer}</backingStore><target dev='vda'`])
    const result = strictXml(placed(layered, here))
    expect(result).not.toContain('/run/disks/base')
    expect(result).toContain('/run/disks/d.qcow2')
  })

  test('is refused where the other node has no place for a part of it', () => {
    expect(() => placed(here, moved(['<serial>vol_abc</serial>', '<serial>vol_other</serial>']))).toThrow(
      'the other node has no place for the disk vdc',
    )
    expect(() => placed(here, moved(['52:54:01:00:00:01', '52:54:01:00:00:09']))).toThrow('no place for the interface')
    expect(() => placed(here, moved(["<source file='/run/disks/seed.iso'/>", '']))).toThrow('nothing for the disk sda')
  })

  test('names the disks that have one of the paths', () => {
    expect(disksToCopy(here, ['/run/disks/d.qcow2', '/run/disks/v.raw', '/elsewhere'])).toEqual(['vda', 'vdc'])
    expect(disksToCopy(here, [])).toEqual([])
  })
})

describe('the words of virsh', () => {
  test('tell how far a migration is', () => {
    expect(progressIn('Job type:         None\n')).toBeUndefined()
    const job = 'Job type:         Unbounded\nOperation:        Outgoing migration\n'
    expect(progressIn(job)).toMatchObject({ phase: 'starting', copiedBytes: 0 })
    const disks = 'File processed:   64.000 MiB\nFile remaining:   448.000 MiB\nFile total:       512.000 MiB\n'
    const [copiedBytes, remainingBytes, totalBytes] = [64, 448, 512].map((mib) => mib * 2 ** 20)
    expect(progressIn(job + disks)).toEqual({ phase: 'disks', copiedBytes, totalBytes, remainingBytes } as never)
    const memory = 'Memory processed: 1.500 MiB\nMemory remaining: 126.000 MiB\nMemory total:     145.070 MiB\n'
    expect(progressIn(`${job}${disks}${memory}`)).toMatchObject({ phase: 'memory', remainingBytes: 126 * 2 ** 20 })
  })

  test('tell when a disk is the same and when the guest has stopped', () => {
    const line = (words: string) => sourceEventIn(`2026-11-26 20:17:50.573+0000: event ${words}`)
    expect(line("'block-job-2' for domain 'srv_1': Block Copy for vdc ready")).toEqual({
      kind: 'disk ready',
      disk: 'vdc',
    })
    expect(line("'lifecycle' for domain 'srv_1': Suspended Migrated")).toEqual({ kind: 'suspended' })
    expect(line("'lifecycle' for domain 'srv_1': Suspended Paused")).toBeUndefined()
    expect(line("'block-job-2' for domain 'srv_1': Block Copy for vdc completed")).toBeUndefined()
  })
})
