import { chmodSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'

/**
 * Makes a directory that the hypervisor's user can pass through to a disk and that only root can list or change. Its
 * mode is set by chmod, because the agent's umask restricts the mode of mkdir. Returns `path`.
 */
export function makePassage(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o711 })
  chmodSync(path, 0o711)
  return path
}

/** Writes a file that root alone reads. After a crash it has its old text or its new one. */
export function replaceFile(path: string, text: string) {
  writeFileSync(`${path}.part`, text, { mode: 0o600 })
  renameSync(`${path}.part`, path)
}
