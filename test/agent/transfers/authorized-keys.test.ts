// The file of keys is the operator's too, whose programs write it at any moment.
import { afterAll, expect, test } from 'bun:test'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { addKey, removeKey } from '../../../agent/drivers/transfer/ssh/authorized-keys.ts'

const directory = mkdtempSync(join(tmpdir(), 'berth-keys-'))
afterAll(() => rmSync(directory, { recursive: true }))

const transfer = (n: number) => `trf_${`${n}`.padStart(26, '0')}`
const entry = (n: number) => ({
  transfer: transfer(n),
  publicKey: `ssh-ed25519 ${'A'.repeat(68)}`,
  from: ['192.0.2.1'],
  until: Date.now() + 3_600_000,
  command: ['/usr/bin/berth', 'agent'] as const,
})

test('what an operator adds while keys of transfers come and go is kept, and so is the mode of the file', async () => {
  const file = join(directory, 'authorized_keys')
  writeFileSync(file, 'ssh-ed25519 BBBB operator-0\n')
  chmodSync(file, 0o640)
  let written = 0
  const timer = setInterval(() => appendFileSync(file, `ssh-ed25519 BBBB operator-${++written}\n`), 1)
  for (let n = 0; n < 10; n++) await addKey(file, entry(n))
  for (let n = 0; n < 9; n++) await removeKey(file, transfer(n))
  clearInterval(timer)
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  const operators = lines
    .filter((line) => line.includes(' operator-'))
    .map((line) => Number(line.split('operator-')[1]))
  expect(written).toBeGreaterThan(0)
  expect(operators).toEqual(Array.from({ length: written + 1 }, (_, n) => n))
  expect(lines.filter((line) => line.includes('berth-transfer:')).map((line) => line.slice(-30))).toEqual([transfer(9)])
  expect(statSync(file).mode & 0o777).toBe(0o640)
})

test('a file that has nothing else goes with the last key', async () => {
  const file = join(directory, 'authorized_keys2')
  await addKey(file, entry(1))
  expect(readFileSync(file, 'utf8')).toContain('restrict,command=')
  await removeKey(file)
  expect(existsSync(file)).toBe(false)
})
