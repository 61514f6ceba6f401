import { beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { temporary } from '../agent/temporary.ts'
import { packaged } from './packaged.ts'

const client = 'BerthClient.php'

test('the client that all PHP modules share is in the sources once, and in each module that is packaged', async () => {
  const inSources = [...new Bun.Glob(`integrations/**/${client}`).scanSync('.')]
  expect(inSources.filter((path) => !path.startsWith('integrations/dist/'))).toEqual([`integrations/shared/${client}`])
  const wanted = await Bun.file(`integrations/shared/${client}`).text()
  for (const [module, folder] of [
    ['whmcs', 'berth'],
    ['fossbilling', 'library/Berth'],
    ['blesta', 'berth'],
    ['paymenter', 'Berth'],
  ] as const)
    expect([module, await Bun.file(join(packaged(module), folder, client)).text()]).toEqual([module, wanted])
})

test('a packaged module has every file of its sources', () => {
  for (const module of ['whmcs', 'fossbilling', 'blesta', 'paymenter'])
    for (const path of new Bun.Glob('**/*').scanSync(`integrations/${module}`))
      expect([module, path, Bun.file(join(packaged(module), path)).size]).toEqual([
        module,
        path,
        Bun.file(`integrations/${module}/${path}`).size,
      ])
})

describe('the folder for the modules', () => {
  const parent = temporary('package')
  const integrations = join(parent, 'integrations')
  beforeAll(() => cpSync('integrations', integrations, { recursive: true }))
  const pack = (cwd: string, script: string, into: string[]) =>
    Bun.spawnSync([script, ...into], { cwd, stderr: 'ignore' }).exitCode
  const isWhole = () => existsSync(join(integrations, 'whmcs/berth/berth.php'))

  test('is never one of the sources, nor one in which they would be deleted', () => {
    for (const into of ['.', './', 'whmcs', 'whmcs/berth', 'new', '../integrations', 'dist/..'])
      expect([into, pack(integrations, './package', [into]), isWhole()]).toEqual([into, 2, true])
    const within = join(parent, 'elsewhere/whmcs')
    mkdirSync(within, { recursive: true })
    renameSync(integrations, join(within, 'integrations'))
    const code = pack(parent, join(within, 'integrations/package'), ['elsewhere'])
    renameSync(join(within, 'integrations'), integrations)
    expect([code, isWhole()]).toEqual([2, true])
  })
  test('is found from where the command is run', () => {
    expect(pack(parent, 'integrations/package', ['modules'])).toBe(0)
    expect(existsSync(join(parent, 'modules/whmcs/berth/BerthClient.php'))).toBe(true)
    expect(pack(parent, 'integrations/package', [])).toBe(0)
    expect(existsSync(join(integrations, 'dist/whmcs/berth/BerthClient.php'))).toBe(true)
  })
})

test.skipIf(Bun.which('php') === null)('every PHP file can be parsed', async () => {
  for (const path of new Bun.Glob('{integrations,test/integrations}/**/*.php').scanSync('.'))
    expect([path, await Bun.spawn(['php', '-l', path], { stdout: 'ignore' }).exited]).toEqual([path, 0])
})
