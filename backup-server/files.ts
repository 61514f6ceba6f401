// Files that are whole or not there, also after the power went away.
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'

/** A folder's entries, or a file's bytes, are on the disk when this returns. */
export function flushed(path: string): void {
  const handle = openSync(path, 'r')
  fsyncSync(handle)
  closeSync(handle)
}

/** A new file with this text. */
export function writeFlushed(path: string, text: string): void {
  const handle = openSync(path, 'w', 0o600)
  writeSync(handle, text)
  fsyncSync(handle)
  closeSync(handle)
}
