import { expect, test } from 'bun:test'

const shared = 'integrations/shared/BerthClient.php'
const copies = [...new Bun.Glob('integrations/*/**/BerthClient.php').scanSync('.')].filter((path) => path !== shared)

test('every PHP module has the client that all share, unchanged: integrations/copy-shared writes it', async () => {
  expect(copies.length).toBeGreaterThan(0)
  const wanted = await Bun.file(shared).text()
  for (const path of copies) expect([path, (await Bun.file(path).text()) === wanted]).toEqual([path, true])
})

test.skipIf(Bun.which('php') === null)('every PHP file can be parsed', async () => {
  for (const path of new Bun.Glob('{integrations,test/integrations}/**/*.php').scanSync('.'))
    expect([path, await Bun.spawn(['php', '-l', path], { stdout: 'ignore' }).exited]).toEqual([path, 0])
})
