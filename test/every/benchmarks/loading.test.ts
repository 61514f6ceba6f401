// Benchmarks are run by hand. So that none of them rots unseen, each is loaded here and says what it measures.
import { expect, test } from 'bun:test'

const scripts = [...new Bun.Glob('test/bench/**/*.ts').scanSync('.')].toSorted()
const texts = new Map(await Promise.all(scripts.map(async (path) => [path, await Bun.file(path).text()] as const)))
/** Files with flags are started from the command line; the others are parts of them. */
const started = scripts.filter((path) => /\bflags\(\n?/.test(texts.get(path)!) && !path.endsWith('/words.ts'))

test('there are benchmarks', () => expect(started.length).toBeGreaterThan(15))

for (const path of started)
  test(`${path} loads, and says what it measures and its flags`, async () => {
    const child = Bun.spawn([process.execPath, path, '--help'], { stdout: 'pipe', stderr: 'pipe' })
    const [out, problem, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    expect([code, problem]).toEqual([0, ''])
    expect(out).toMatch(/\w{3}/)
    for (const [, flag] of texts.get(path)!.matchAll(/^\/\/\s+bun \S+ .*?--(\w[\w-]*)/gm)) expect(out).toContain(flag!)
  }, 60_000)
