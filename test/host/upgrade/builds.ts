// Programs of several versions out of this source, which trust a key of the tests. Without bytecode a build takes a
// second.
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { archiveEnd, memberFrame, unverified } from '../../../agent/protocol/release/archive.ts'
import { releaseKeyFrom } from '../../../agent/protocol/release/signature.ts'
import { temporary } from '../../agent/temporary.ts'

const root = new URL('../../../', import.meta.url).pathname
/** A key that no program trusts. */
export function newTestKey() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const pem = publicKey.export({ type: 'spki', format: 'pem' }) as string
  return { pem, secret: privateKey, key: releaseKeyFrom(pem) }
}
/** The key that the programs of these tests trust. */
export const testKey = newTestKey()
const { pem } = testKey

/** The release with some of its members changed, as another file. */
export function altered(path: string, change: (members: Map<string, Buffer>) => unknown): string {
  const content = readFileSync(path)
  const members = new Map(
    unverified(path).members.map(({ name, offset, sizeBytes }) => [name, content.subarray(offset, offset + sizeBytes)]),
  )
  change(members)
  const parts = [...members].flatMap(([name, bytes]) => {
    const { header, padding } = memberFrame(name, bytes.length)
    return [header, bytes, padding]
  })
  const to = `${path}.altered`
  writeFileSync(to, Buffer.concat([...parts, archiveEnd()]))
  return to
}

const script = `
const { root, outfile, version, pem, migrations, edits } = JSON.parse(process.argv[1])
const edited = edits.map(({ file, before, after }) => [file, (text) => {
  if (!text.includes(before)) throw new Error(file + ' has no ' + before)
  return text.replace(before, () => after)
}])
const replaced = {
  ...Object.fromEntries(edited),
  'package.json': (text) => JSON.stringify({ ...JSON.parse(text), version }),
  'agent/protocol/release/trusted-keys.ts': () =>
    "import { releaseKeyFrom } from './signature.ts'\\nexport const trustedKeys = () => [releaseKeyFrom(" +
    JSON.stringify(pem) + ')]',
  'migrations/index.ts': (text) =>
    text.replace(/^\\]$/m, migrations.map((each) => JSON.stringify(each) + ',').join('') + ']'),
}
const build = await Bun.build({
  entrypoints: [root + 'src/main.ts'],
  compile: { outfile, autoloadBunfig: false, autoloadDotenv: false },
  target: 'bun', format: 'esm', splitting: true, external: ['cpu-features'],
  define: { __dirname: '"/"', __filename: '"/"' },
  plugins: [{ name: 'versions', setup(build) {
    for (const [file, change] of Object.entries(replaced))
      build.onLoad({ filter: new RegExp(root + file.replaceAll('.', '[.]') + '$') }, async ({ path, loader }) => ({
        contents: change(await Bun.file(path).text()), loader }))
  } }],
})
if (!build.success) { console.error(...build.logs); process.exit(1) }`

/** Another text in a file of the source. */
export type Edit = { file: string; before: string; after: string }
type Migration = { name: string; sql: string }

/**
 * A program of this version; `migrations`: more than the source has, `edits`: by which it is broken, one of a file.
 * Answers its path.
 */
export async function built(version: string, migrations: readonly Migration[] = [], edits: readonly Edit[] = []) {
  const outfile = join(temporary('build'), 'berth')
  const given = JSON.stringify({ root, outfile, version, pem, migrations, edits })
  // Bun resolves what a script imports from its working directory.
  const child = Bun.spawn([process.execPath, '-e', script, given], { cwd: root, stdout: 'pipe', stderr: 'pipe' })
  const words = await new Response(child.stderr).text()
  if ((await child.exited) !== 0) throw new Error(`the build of ${version} failed: ${words}`)
  return outfile
}
