// `berth licences` names everything that the executable carries: no package of the bundle is missing.
import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { licencesOfPackages } from '../../src/app/licences/packages.ts'
import { berth } from '../support/world/program.ts'

const root = new URL('../..', import.meta.url).pathname
const said = await berth(['licences'])

test('every package in the bundle of the program is named, with its version and licence', () => {
  const directory = mkdtempSync(`${tmpdir()}/berth-bundle-`)
  try {
    const built = Bun.spawnSync(
      [process.execPath, 'build', './src/main.ts', '--target=bun', '--splitting', '--external', 'cpu-features'].concat(
        `--outdir=${directory}`,
        `--metafile=${directory}/meta.json`,
      ),
      { cwd: root },
    )
    expect(built.exitCode, built.stderr.toString()).toBe(0)
    const { inputs } = JSON.parse(readFileSync(`${directory}/meta.json`, 'utf8')) as { inputs: object }
    const packages = Object.keys(inputs).flatMap((path) => {
      const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]
      return name ? [name] : []
    })
    const bundled = [...new Set(packages)].toSorted()
    expect(bundled.length).toBeGreaterThan(50)
    const listed = new Set(licencesOfPackages().map(({ name }) => name))
    expect(bundled.filter((name) => !listed.has(name))).toEqual([])
  } finally {
    rmSync(directory, { recursive: true })
  }
})

test('each has its licence, and the licence of Berth is the last', () => {
  expect(said).toMatchObject({ code: 0, error: '' })
  for (const { name, version, licence, text } of licencesOfPackages()) {
    expect([name, licence.length > 1 && licence !== 'see its text']).toEqual([name, true])
    expect(said.out).toContain(`${name} ${version}`)
    if (text) expect(said.out).toContain(text.slice(0, 200))
  }
  expect(said.out).toContain('JavaScriptCore')
  expect(said.out).toContain('MPL-2.0')
  expect(said.out).toContain('SIL OPEN FONT LICENSE')
  expect(said.out).toContain('Lucide Icons and Contributors')
  expect(said.out.trim().endsWith(readFileSync(`${root}LICENSE`, 'utf8').trim())).toBe(true)
})

test('package.json, LICENSE and the command agree', () => {
  expect(JSON.parse(readFileSync(`${root}package.json`, 'utf8')).license).toBe('Apache-2.0')
  expect(readFileSync(`${root}LICENSE`, 'utf8')).toContain('Version 2.0, January 2004')
  expect(said.out).toContain('is licensed under the Apache License 2.0')
})
