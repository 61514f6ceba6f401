// Macros (see assets.ts): they run when the program is compiled or, in development, when its source is read.
import { readFileSync } from 'node:fs'

/** An entry file with its imports as one minified ES module. Throws the bundler's message when it fails. */
export function bundle(entry: string): string {
  const arguments_ = [
    process.execPath,
    'build',
    `${import.meta.dir}/${entry}`,
    '--target=browser',
    '--format=esm',
    '--minify',
  ]
  const { success, stdout, stderr } = Bun.spawnSync(arguments_)
  if (!success) throw new Error(`${entry}: ${stderr}`)
  return stdout.toString()
}

/** A style sheet without comments and line breaks, which browsers do not need. Strings in it hold neither. */
export const styles = (entry: string): string =>
  readFileSync(`${import.meta.dir}/${entry}`, 'utf8')
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll('\n', '')
