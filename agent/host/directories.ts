import { chmodSync, mkdirSync } from 'node:fs'

/**
 * A directory that the hypervisor's user may pass through on its way to a disk, and in which nobody but root can list or
 * change anything. Said by chmod, because the agent's umask takes away what mkdir asks for.
 */
export function makePassage(path: string) {
  mkdirSync(path, { recursive: true, mode: 0o711 })
  chmodSync(path, 0o711)
}
