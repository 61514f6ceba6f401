// A macro (see assets.ts): it runs when the program is compiled or, in development, when its source is read.

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
