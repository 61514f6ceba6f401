// Runs while the program is compiled or, in development, while its source is read: see `with { type: 'macro' }` in assets.ts.

/** The modules below one entry file as one minified ES module. Throws with the bundler's own words when they do not fit together. */
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
