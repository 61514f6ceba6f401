// The files of a transfer on either node. The directory has the same path on both, because QEMU names sockets in it to
// the QEMU of the other node. QEMU's user passes through it; what only root may read is in a directory of its own.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { makePassage, replaceFile } from '../../../host/directories.ts'

export const RUN_ROOT = '/run/berth/transfers'
export const TRANSFER_ID = /^trf_[0-9a-z]{26}$/

/**
 * The words that a source can say, as the command of an SSH session. Those with a number are about that disk: `nbd` its
 * socket, and `mirror` too, with a note of each block that is written; `forget` clears these notes, `written` tells
 * them; `map` tells the hashes of all blocks, and `some` those of the blocks that it is given. Every other one stands
 * for a socket.
 */
export const STREAM_WORD = /^(libvirt|control|mig|nbd|(nbd|mirror|forget|written|map|some)-[0-9])$/

export const runDirectory = (transfer: string, root = RUN_ROOT) => join(root, transfer)
export const socketOf = (directory: string, word: string) => join(directory, `${word}.sock`)
export const nbdWord = (disk: number) => `nbd-${disk}`
export const mirrorWord = (disk: number) => `mirror-${disk}`
export const forgetWord = (disk: number) => `forget-${disk}`
export const writtenWord = (disk: number) => `written-${disk}`
export const mapWord = (disk: number) => `map-${disk}`
export const someWord = (disk: number) => `some-${disk}`
/**
 * The sockets of a migration, which QEMU makes itself: the names are those that libvirt's AppArmor profile of each vm
 * allows.
 */
export const migrationSocketOf = (transfer: string, workload: string, word: 'mig' | 'nbd') =>
  join('/run/libvirt/berth', transfer, `${word}.tunnelmigrate.dest.${workload}`)
/** The name of each disk as it is served. */
export const EXPORT = 'disk'

/** Makes the directory, and the one for root alone in it, whose path it answers. */
export function makeRunDirectory(directory: string): string {
  makePassage(directory)
  const secret = join(directory, 'ssh')
  mkdirSync(secret, { recursive: true, mode: 0o700 })
  return secret
}

/** A transfer that lets its source in, until then, in milliseconds since 1970. */
type Open = { workload: string; until: number }
export const letIn = (directory: string, open: Open) => replaceFile(join(directory, 'open'), JSON.stringify(open))
export const letNobodyIn = (directory: string) => rmSync(join(directory, 'open'), { force: true })
/** The workload of the transfer that is open; undefined for one that is not. */
export function openWorkload(directory: string, now = Date.now()): string | undefined {
  try {
    const { workload, until } = JSON.parse(readFileSync(join(directory, 'open'), 'utf8')) as Open
    return now < until ? workload : undefined
  } catch {
    return undefined
  }
}

export const transfersIn = (root: string) =>
  existsSync(root) ? readdirSync(root).filter((name) => TRANSFER_ID.test(name)) : []
