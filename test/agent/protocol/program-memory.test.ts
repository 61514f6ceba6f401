// Pages of the program's machine code are given back to the kernel, and the program goes on.
import { expect, test } from 'bun:test'
import { readFileSync, readlinkSync } from 'node:fs'
import { machineCode, releaseProgramPages } from '../../../agent/protocol/linux/program-memory.ts'

const program = readlinkSync('/proc/self/exe')

/** In kB, from the mappings of `/proc/self/smaps`: a line for each, and what it holds below. */
function residentMachineCode(): number {
  const mappings = readFileSync('/proc/self/smaps', 'utf8').split(/\n(?=[0-9a-f]+-[0-9a-f]+ )/)
  const own = mappings.filter((text) => machineCode(text.split('\n')[0]!, program).length)
  return own.reduce((sum, text) => sum + Number(/^Rss:\s+(\d+) kB$/m.exec(text)![1]), 0)
}

test('most machine code of the program is no longer resident, and the program goes on', () => {
  const before = residentMachineCode()
  releaseProgramPages()
  const after = residentMachineCode()
  expect(before).toBeGreaterThan(8000)
  expect(after).toBeLessThan(before / 2)
  expect(JSON.parse('{"still":[1,2,3]}')).toEqual({ still: [1, 2, 3] })
})

test('only machine code of the program itself is meant, not its data and no library', () => {
  const maps = [
    '00200000-01a39000 r--p 00000000 fe:00 53 /usr/bin/a program',
    '01a40000-0684a000 r-xp 01838000 fe:00 53 /usr/bin/a program',
    '06867000-07e87000 rw-p 0665e000 fe:00 53 /usr/bin/a program',
    '7f7613070000-7f76131c6000 r-xp 00026000 fe:00 33 /usr/lib/libc.so.6',
    '7f75d2d05000-7f7612d05000 rwxp 00000000 00:00 0 ',
  ].join('\n')
  expect(machineCode(maps, '/usr/bin/a program')).toEqual([{ start: 0x01a40000n, end: 0x0684a000n }])
})
