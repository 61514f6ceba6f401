import { expect, test } from 'bun:test'
import { join } from 'node:path'
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

test.skipIf(Bun.which('php') === null)('every PHP file can be parsed', async () => {
  for (const path of new Bun.Glob('{integrations,test/integrations}/**/*.php').scanSync('.'))
    expect([path, await Bun.spawn(['php', '-l', path], { stdout: 'ignore' }).exited]).toEqual([path, 0])
})
