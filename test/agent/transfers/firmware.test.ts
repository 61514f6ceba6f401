import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packed, partsIn } from '../../../agent/drivers/hypervisor/firmware-state.ts'
import { temporary } from '../temporary.ts'

const variables = Buffer.alloc(540_672, 7)
const tpm = Buffer.from('the state of a TPM')

function stored(): Buffer {
  const dir = temporary('firmware')
  const files = { variables: join(dir, 'a'), tpm: join(dir, 'b') }
  writeFileSync(files.variables, variables)
  writeFileSync(files.tpm, tpm)
  return Buffer.concat([...packed(files), Buffer.alloc(1000)])
}

test('what was packed is read again, and nothing from a file that nobody has filled', () => {
  expect(partsIn(stored())).toEqual([
    ['variables', variables],
    ['tpm', tpm],
  ])
  expect(partsIn(Buffer.alloc(8192))).toEqual([])
  const none = packed({ variables: '/no/such', tpm: '/nor/such' })
  expect(partsIn(Buffer.concat(none))).toEqual([])
})

const header = (text: string) => Buffer.concat([Buffer.from(text.padEnd(4096)), Buffer.alloc(64)])
const sha256 = '0'.repeat(64)
for (const [what, file] of [
  ['one with another byte', () => stored().fill(1, 5000, 5001)],
  ['one without a header', () => header('something else')],
  ['one whose header is no JSON', () => header('BERTHFW1{')],
  ['a name that is a path', () => header(`BERTHFW1${JSON.stringify({ parts: [{ name: '../x', bytes: 1 }], sha256 })}`)],
  ['more than there is', () => header(`BERTHFW1${JSON.stringify({ parts: [{ name: 'tpm', bytes: 999 }], sha256 })}`)],
  ['more than a TPM has', () => header(`BERTHFW1${JSON.stringify({ parts: [{ name: 'tpm', bytes: 2e9 }], sha256 })}`)],
] as const)
  test(`a hostile node puts nothing in place: ${what}`, () => {
    expect(() => partsIn(file())).toThrow(expect.objectContaining({ code: 'checksum_differs' }))
  })
