// Files of settings, `NAME="value"` a line, as systemd reads an EnvironmentFile.
import { readFileSync } from 'node:fs'

/** The settings in a file; none where there is no file. Throws the error of the operating system for others. */
export function settingsIn(file: string): Record<string, string> {
  let text = ''
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as { code?: string }
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error
  }
  const found = text.matchAll(/^[ \t]*([A-Za-z_]\w*)=(?:"([^"\n]*)"|'([^'\n]*)'|([^\n]*?))[ \t]*$/gm)
  return Object.fromEntries([...found].map(([, name, double, single, bare]) => [name, double ?? single ?? bare ?? '']))
}
