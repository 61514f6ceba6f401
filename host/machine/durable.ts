// Files that are whole after a power cut: written beside their place, flushed, then renamed into it.
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { isSameFile } from './machine.ts'

/** Replaces a text, or makes it. */
export function writeDurably(path: string, text: string, mode = 0o644) {
  const part = `${path}.part`
  rmSync(part, { force: true })
  const file = openSync(part, 'wx', mode)
  try {
    // The mask of this process does not count.
    fchmodSync(file, mode)
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(part, path)
  flush(dirname(path))
}

/** Makes `to` another name of the program `from`, or a copy on another file system. A process keeps its old file. */
export function putProgram(from: string, to: string) {
  if (isSameFile(from, to)) return
  const part = `${to}.part`
  rmSync(part, { force: true })
  try {
    linkSync(from, part)
  } catch {
    copyFlushed(from, part, 0o755)
  }
  renameSync(part, to)
  flush(dirname(to))
}

/**
 * A copy that is on the disk, with the mode of `from` or with this one. It costs nothing where the file system shares
 * what is equal.
 */
export function copyFlushed(from: string, to: string, mode?: number) {
  copyFileSync(from, to, constants.COPYFILE_FICLONE)
  if (mode !== undefined) chmodSync(to, mode)
  flush(to)
}

/** Puts a file, or the names in a folder, on the disk. */
export function flush(path: string) {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
