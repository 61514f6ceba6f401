// The sections of the two scripts, of this host itself. No shell runs here: programs start with a list of arguments,
// and files are read by the agent.
import { open, realpath, stat } from 'node:fs/promises'
import { Failure } from '../../../failure.ts'
import { run } from '../../../host/exec.ts'
import { type DriveQuestion, HEAD_BYTES, LABEL_SECTOR, MOST_SEED_BYTES } from './script.ts'

const CONNECTION = ['-r', '-c', 'qemu:///system']
const LIMITS = { limitSeconds: 20, mayFail: true, quietly: true }
/** Storage of the network may not answer at all. */
const FILE_LIMIT_MS = 10_000

/** Runs a program for its words, its errors too; none where this host does not have it. */
async function saidBy(program: 'virsh' | 'lvs' | 'zfs', args: string[], withErrors = true): Promise<string> {
  try {
    const { out, err } = await run(program, args, LIMITS)
    return withErrors ? out + err : out
  } catch (error) {
    if (error instanceof Failure) return ''
    throw error
  }
}
const virsh = (...args: string[]) => saidBy('virsh', [...CONNECTION, ...args])

/** As the script about domains answers. */
export async function ownDomains(domains: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const version = await run('virsh', [...CONNECTION, 'version'], LIMITS).catch(() => undefined)
  if (version?.code !== 0) return new Map([['libvirt', version?.err ?? '']])
  const sections = new Map([['libvirt', 'yes']])
  for (const [n, domain] of domains.entries()) {
    sections.set(`info ${n}`, await virsh('dominfo', '--domain', domain))
    sections.set(`xml ${n}`, await virsh('dumpxml', '--domain', domain))
    sections.set(`snapshots ${n}`, await virsh('snapshot-list', '--domain', domain))
  }
  return sections
}

/** As the script about drives answers. */
export async function ownDrives(drives: readonly DriveQuestion[]): Promise<ReadonlyMap<string, string>> {
  const sections = new Map<string, string>()
  for (const [n, drive] of drives.entries()) {
    const path = 'path' in drive ? drive.path : await pathOfVolume(drive)
    if (!path?.startsWith('/')) continue
    for (const [name, text] of await inTime(about(path))) sections.set(`${name} ${n}`, text)
  }
  const columns = 'vg_name,lv_name,lv_size,origin,data_percent'
  const asRows = ['--noheadings', '--nosuffix', '--units', 'b', '--separator', '|', '-o', columns]
  sections.set('lvs', await saidBy('lvs', asRows, false))
  sections.set('zfs', await saidBy('zfs', ['list', '-H', '-p', '-t', 'volume', '-o', 'name,volsize,used'], false))
  sections.set('zfs-snapshots', await saidBy('zfs', ['list', '-H', '-t', 'snapshot', '-o', 'name'], false))
  return sections
}

const pathOfVolume = async ({ pool, volume }: { pool: string; volume: string }) =>
  (await saidBy('virsh', [...CONNECTION, 'vol-path', '--pool', pool, '--vol', volume], false)).split('\n')[0]

type Section = [name: string, text: string]
const inTime = (work: Promise<Section[]>): Promise<Section[]> =>
  Promise.race([work, Bun.sleep(FILE_LIMIT_MS).then((): Section[] => [])])

async function about(path: string): Promise<Section[]> {
  const found: Section[] = [['path', `${path}\n`]]
  try {
    found.push(['real', `${await realpath(path)}\n`])
    const seen = await stat(path)
    const size = seen.isBlockDevice() ? await sizeOfDevice(seen.rdev) : seen.isFile() ? seen.size : undefined
    if (size === undefined) return found
    found.push(['stat', seen.isBlockDevice() ? `block ${size}\n` : `file ${size} ${seen.blocks} 512\n`])
    found.push(['head', await hexOf(path, 0, HEAD_BYTES)])
    if (size > MOST_SEED_BYTES) return found
    found.push(['label', await hexOf(path, LABEL_SECTOR.at * LABEL_SECTOR.bytes, LABEL_SECTOR.bytes)])
  } catch {
    // The parts that could be read count; the rest is not known.
  }
  return found
}

/** By its number, as the kernel counts it: a link in /dev may be out of date. */
async function sizeOfDevice(rdev: number): Promise<number | undefined> {
  const [major, minor] = [(rdev >> 8) & 0xfff, (rdev & 0xff) | ((rdev >> 12) & 0xfff00)]
  const sectors = Number(await Bun.file(`/sys/dev/block/${major}:${minor}/size`).text())
  return Number.isSafeInteger(sectors * 512) ? sectors * 512 : undefined
}

async function hexOf(path: string, at: number, bytes: number): Promise<string> {
  await using file = await open(path, 'r')
  const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, at)
  return buffer.subarray(0, bytesRead).toString('hex').replaceAll(/../g, ' $&')
}
