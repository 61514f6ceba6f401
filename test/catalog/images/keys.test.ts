// The keys of distributions that ship with the catalogue.
import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { catalogue } from '../../../src/catalog/images/distributions/catalogue.ts'
import { signingKeys } from '../../../src/catalog/images/distributions/signing-keys.ts'
import { fingerprintOf } from '../../../src/kernel/crypto/openpgp.ts'

const folder = `${import.meta.dir}/../../../src/catalog/images/distributions/keys`
const readme = readFileSync(`${folder}/README.md`, 'utf8')

describe('the keys of distributions', () => {
  for (const [name, { fingerprint, armored }] of Object.entries(signingKeys))
    test(`${name} has the fingerprint that stands beside it, and a source`, () => {
      expect(fingerprintOf(armored)).toBe(fingerprint)
      expect(readme).toContain(`| \`${name}.asc\` | ${fingerprint} |`)
    })
  test('are all of the folder, and each one signs an image', () => {
    const files = readdirSync(folder).filter((file) => file.endsWith('.asc'))
    expect(files.toSorted()).toEqual(
      Object.keys(signingKeys)
        .map((name) => `${name}.asc`)
        .toSorted(),
    )
    const used = catalogue.flatMap(({ signature }) => ('unsigned' in signature ? [] : [signature.key.fingerprint]))
    expect([...new Set(used)].toSorted()).toEqual(
      Object.values(signingKeys)
        .map(({ fingerprint }) => fingerprint)
        .toSorted(),
    )
  })
  test('hold no secret key', () => {
    for (const { armored } of Object.values(signingKeys)) expect(armored).not.toContain('PRIVATE')
  })
})
