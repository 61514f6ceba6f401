// A node that is the hypervisor of another panel itself is looked at as one over SSH, but without a shell.
import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { ownDomains, ownDrives } from '../../../agent/drivers/source-host/domain/own-host.ts'
import { domainsScript, drivesScript } from '../../../agent/drivers/source-host/domain/script.ts'
import { sectionsIn } from '../../../agent/drivers/source-host/ssh/marks.ts'

const dir = mkdtempSync(`${tmpdir()}/berth-own-host-`)
afterAll(() => rmSync(dir, { recursive: true }))

const NONCE = 'c'.repeat(32)
/** The sections that a shell answers to the script. */
const byShell = (script: string) => {
  const { stdout } = Bun.spawnSync(['sh'], { stdin: Buffer.from(script) })
  return sectionsIn(stdout.toString(), NONCE, 'the script did not come to its end')
}
/** Spaces and the ends of lines mean nothing in a section. */
const plain = (sections: ReadonlyMap<string, string>) =>
  Object.fromEntries(
    [...sections].filter(([name]) => name !== 'end').map(([name, text]) => [name, text.split(/\s+/).join(' ').trim()]),
  )

test('the sections about drives are those of the script', async () => {
  const paths = ['raw', 'link', 'missing', 'large', "it's; $(here)"].map((name) => `${dir}/${name}`)
  writeFileSync(paths[0]!, Buffer.alloc(200_000, 'disk'))
  symlinkSync(paths[0]!, paths[1]!)
  writeFileSync(paths[4]!, 'QFI\xfb')
  Bun.spawnSync(['truncate', '-s', '1G', paths[3]!])
  const questions = [...paths, dir].map((path) => ({ path }))
  const own = plain(await ownDrives(questions))
  const shell = plain(byShell(drivesScript(NONCE, questions)))
  for (const [n] of questions.entries())
    for (const name of ['path', 'stat', 'head', 'label']) {
      const of = `${name} ${n}`
      expect([of, own[of] ?? '']).toEqual([of, shell[of] ?? ''])
    }
  expect(own['real 1']).toBe(paths[0]!)
  expect(own['stat 0']).toStartWith('file 200000 ')
  expect(own['stat 3']).toStartWith('file 1073741824 ')
  expect(own['head 4']).not.toBe('')
  expect(own['label 3']).toBeUndefined()
})

test('where no libvirt answers, none is said to', async () => {
  const own = plain(await ownDomains(['no-such-domain']))
  const shell = plain(byShell(domainsScript(NONCE, ['no-such-domain'], 'each')))
  expect(own['libvirt'] === 'yes').toBe(shell['libvirt'] === 'yes')
  if (own['libvirt'] === 'yes') expect(own['info 0']).toContain('no-such-domain')
})
