// The copy of a running vm's disks by QEMU, which writes each later write of the guest to both before the guest learns
// that it is written. A connection that breaks ends the job and not the vm.
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { copyProgress } from '../../../controller-link/job-log.ts'
import { Failure } from '../../../failure.ts'
import { replaceFile } from '../../../host/directories.ts'
import { run } from '../../../host/exec.ts'
import type { Copied } from '../../../protocol/wire.ts'
import { sleep } from '../../../sleep.ts'
import { uuidOf } from '../../hypervisor/domain-xml.ts'
import { ENOSPC, NbdClient, NbdError } from '../nbd/client.ts'
import type { Pace } from '../pace.ts'
import { type Copying, poolFull } from '../transfer.ts'
import { compareBeside } from './compared.ts'
import type { SshLink } from './link.ts'
import { MirrorWatch } from './mirror-watch.ts'
import { EXPORT, makeRunDirectory, mirrorWord, socketOf } from './run-directory.ts'

const URI = ['-c', 'qemu:///system']
const POLL_MS = 500
const MEGABIT_BYTES = 125_000
/** QEMU's job writes at most a mebibyte at a time, so no more than that is free in a pool that ended it. */
const [PROBE_BYTES, PROBE_MOST_BYTES, PROBE_RUN_BYTES] = [64 << 10, 4 << 20, 1 << 30] as const

const virsh = (args: string[], mayFail = false) =>
  run('virsh', [...URI, ...args], { mayFail, quietly: mayFail, limitSeconds: 60 })

/**
 * Resolves when all disks are the same at the target and have been compared; the jobs go on. Throws `transfer_cut` when
 * a job breaks off, `disk_differs`, `pool_full` and `not_running`; none of the jobs is left then.
 */
export async function mirrorDisks(link: SshLink, copying: Copying, directory: string, pace: Pace, signal: AbortSignal) {
  const { workload, disks, begun } = copying
  const uuid = uuidOf(workload)
  const devices = await devicesOf(uuid, workload)
  const uid = qemuUser(workload)
  const targets = disks.map(({ disk }) => {
    const device = devices.get(disk.path)
    if (!device) throw new Failure('not_running', `${workload} does not run on ${disk.path}`)
    return device
  })
  // An earlier mirror of this transfer that this agent could not end.
  await endMirror(directory)
  replaceFile(noteOf(directory), JSON.stringify({ workload, targets } satisfies Noted))
  const watch = MirrorWatch.of(uuid, targets)
  try {
    for (const [i, device] of targets.entries()) {
      const socket = socketOf(directory, mirrorWord(i))
      link.forward(mirrorWord(i), uid)
      await mustFit(socket, disks[i]!.sizeBytes)
      begun.add(i)
      const xml = join(directory, `mirror-${i}.xml`)
      writeFileSync(xml, destination(socket, device), { mode: 0o600 })
      const limit = pace.maxMbps === null ? [] : bandwidth(pace.maxMbps, targets.length)
      const ways = ['--transient-job', '--reuse-external', '--synchronous-writes']
      await virsh(['blockcopy', uuid, device, '--xml', xml, ...ways, ...limit])
    }
    // It may have changed while the jobs began.
    await limitMirror(directory, pace.maxMbps)
    const copied = await untilSame(uuid, targets, link, directory, signal)
    const stop = () => void link.close()
    signal.addEventListener('abort', stop)
    const secret = makeRunDirectory(directory)
    const compared = await compareBeside(link, copying, secret, signal).finally(() =>
      signal.removeEventListener('abort', stop),
    )
    if (watch.isBroken || link.broken.aborted) throw await broken(link, directory, targets.length)
    return { copied, compared, watch }
  } catch (error) {
    watch.end()
    await endMirror(directory)
    throw error
  }
}

const LIBVIRT_AWAY = /failed to connect|End of file|Connection reset|Broken pipe|client socket is closed/i

type Noted = { workload: string; targets: string[] }
/** Known over a crash of the agent: a job that has lost its connection stays until its vm writes. */
const noteOf = (directory: string) => join(makeRunDirectory(directory), 'mirror')
const notedIn = (directory: string): Noted | undefined =>
  existsSync(directory) && existsSync(noteOf(directory))
    ? (JSON.parse(readFileSync(noteOf(directory), 'utf8')) as Noted)
    : undefined

/** The limit of a transfer is for all its disks together. */
const bandwidth = (maxMbps: number, disks: number) => [
  ...['--bytes', '--bandwidth', String(Math.ceil((maxMbps * MEGABIT_BYTES) / disks))],
]

/** Changes the limit of the jobs of the transfer whose directory this is; without one nothing happens. */
export async function limitMirror(directory: string, maxMbps: number | null) {
  const noted = notedIn(directory)
  if (!noted) return
  const { workload, targets } = noted
  const limit = maxMbps === null ? ['--bandwidth', '0'] : bandwidth(maxMbps, targets.length)
  for (const device of targets) await virsh(['blockjob', uuidOf(workload), device, ...limit], true)
}

/** Ends the jobs of the transfer whose directory this is; without one nothing happens. The vm runs on. */
export async function endMirror(directory: string) {
  const noted = notedIn(directory)
  if (!noted) return
  const { workload, targets } = noted
  for (const device of targets) {
    const { code, err } = await virsh(['blockjob', uuidOf(workload), device, '--abort'], true)
    if (code !== 0 && LIBVIRT_AWAY.test(err)) return
  }
  rmSync(noteOf(directory), { force: true })
}

async function untilSame(
  uuid: string,
  targets: readonly string[],
  link: SshLink,
  directory: string,
  signal: AbortSignal,
) {
  for (;;) {
    const jobs = await Promise.all(targets.map((device) => jobOf(uuid, device)))
    const copied: Copied = {
      copiedBytes: jobs.reduce((sum, job) => sum + (job?.cur ?? 0), 0),
      totalBytes: jobs.reduce((sum, job) => sum + (job?.end ?? 0), 0),
    }
    if (signal.aborted) throw new Failure('transfer_ended', 'the transfer was ended')
    if (jobs.some((job) => job === undefined) || link.broken.aborted)
      throw await broken(link, directory, targets.length)
    copyProgress(copied)
    if (jobs.every((job) => job!.end > 0 && job!.cur === job!.end)) return copied
    await sleep(POLL_MS, signal)
  }
}

/** The reason why a job has ended, which libvirt does not tell: a write of our own meets a full pool too. */
async function broken(link: SshLink, directory: string, disks: number): Promise<Failure> {
  const words = link.failures.at(-1)?.err || 'QEMU has ended its job'
  const cut = new Failure('transfer_cut', `the copy of a disk broke off: ${words}`)
  if (link.broken.aborted) return cut
  for (let i = 0; i < disks; i++)
    try {
      const theirs = await NbdClient.connect(socketOf(directory, mirrorWord(i)), EXPORT)
      try {
        await fillHole(theirs)
      } finally {
        theirs.close()
      }
    } catch (error) {
      if (error instanceof NbdError && error.errno === ENOSPC) return poolFull()
    }
  return cut
}

/** Writes into a hole of a disk that is no copy any more, and makes it a hole again. */
async function fillHole(theirs: NbdClient) {
  for (let offset = 0; offset < theirs.sizeBytes; offset += PROBE_RUN_BYTES) {
    const extents = await theirs.extents(offset, Math.min(PROBE_RUN_BYTES, theirs.sizeBytes - offset))
    const hole = extents.find(({ isZero, length }) => isZero && length >= PROBE_BYTES)
    if (!hole) continue
    const length = Math.min(hole.length, PROBE_MOST_BYTES)
    try {
      for (let at = 0; at + PROBE_BYTES <= length; at += PROBE_BYTES)
        await theirs.write(hole.offset + at, Buffer.alloc(PROBE_BYTES, 1))
    } finally {
      await theirs.writeZeroes(hole.offset, length).catch(() => {})
    }
    return
  }
}

/** Undefined without a job. */
async function jobOf(uuid: string, device: string): Promise<{ cur: number; end: number } | undefined> {
  const { out } = await virsh(['blockjob', uuid, device, '--raw'], true)
  const number = (name: string) => Number(new RegExp(`^\\s*${name}=(\\d+)$`, 'm').exec(out)?.[1] ?? Number.NaN)
  const [cur, end] = [number('cur'), number('end')]
  return Number.isNaN(cur) || Number.isNaN(end) ? undefined : { cur, end }
}

/** The devices of a running vm by the paths of their disks. */
async function devicesOf(uuid: string, workload: string): Promise<Map<string, string>> {
  const { code, out } = await virsh(['domblklist', uuid], true)
  if (code !== 0) throw new Failure('not_running', `${workload} does not run`)
  const lines = out.split('\n').map((line) => /^\s*(\S+)\s+(\S.*?)\s*$/.exec(line))
  return new Map(lines.flatMap((found) => (found ? [[found[2]!, found[1]!] as const] : [])))
}

/** The user that QEMU runs as, who has to connect to the sockets. */
function qemuUser(workload: string): number {
  const path = `/run/libvirt/qemu/${workload}.pid`
  try {
    return statSync(`/proc/${readFileSync(path, 'utf8').trim()}`).uid
  } catch (cause) {
    throw new Failure('not_running', `${workload} does not run`, { cause })
  }
}

async function mustFit(socket: string, sizeBytes: number) {
  const theirs = await NbdClient.connect(socket, EXPORT).catch((cause) => {
    throw new Failure('transfer_cut', 'the target does not serve the disk', { cause })
  })
  theirs.close()
  if (theirs.sizeBytes !== sizeBytes)
    throw new Failure('disk_differs', `the target's disk has ${theirs.sizeBytes} bytes, not ${sizeBytes}`)
}

const destination = (socket: string, device: string) =>
  `<disk type='network' device='disk'><driver name='qemu' type='raw'/>` +
  `<source protocol='nbd' name='${EXPORT}'><host transport='unix' socket='${socket}'/></source>` +
  `<target dev='${device}'/></disk>`
