// The copy of a running vm's disks by QEMU, which writes each later write of the guest to both before the guest learns
// that it is written. A connection that breaks ends the job and not the vm.
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { copyProgress } from '../../../controller-link/job-log.ts'
import { Failure } from '../../../failure.ts'
import { run } from '../../../host/exec.ts'
import type { Copied } from '../../../protocol/wire.ts'
import { sleep } from '../../../sleep.ts'
import { uuidOf } from '../../hypervisor/domain-xml.ts'
import { NbdClient } from '../nbd/client.ts'
import type { Copying } from '../transfer.ts'
import { compareBeside } from './compared.ts'
import type { SshLink } from './link.ts'
import { MirrorWatch } from './mirror-watch.ts'
import { EXPORT, makeRunDirectory, mirrorWord, socketOf } from './run-directory.ts'

const URI = ['-c', 'qemu:///system']
const POLL_MS = 500
const MEGABIT_BYTES = 125_000

const virsh = (args: string[], mayFail = false) =>
  run('virsh', [...URI, ...args], { mayFail, quietly: mayFail, limitSeconds: 60 })

/**
 * Resolves when all disks are the same at the target and have been compared; the jobs go on. Throws `transfer_cut` when
 * a job breaks off, `disk_differs`, `pool_full` and `not_running`; none of the jobs is left then.
 */
export async function mirrorDisks(link: SshLink, copying: Copying, directory: string, signal: AbortSignal) {
  const { workload, disks, begun, maxMbps } = copying
  const uuid = uuidOf(workload)
  const devices = await devicesOf(uuid, workload)
  const uid = qemuUser(workload)
  const targets = disks.map(({ disk }) => {
    const device = devices.get(disk.path)
    if (!device) throw new Failure('not_running', `${workload} does not run on ${disk.path}`)
    return device
  })
  const watch = MirrorWatch.of(uuid, targets)
  try {
    for (const [i, device] of targets.entries()) {
      const socket = socketOf(directory, mirrorWord(i))
      link.forward(mirrorWord(i), uid)
      await mustFit(socket, disks[i]!.sizeBytes)
      begun.add(i)
      const xml = join(directory, `mirror-${i}.xml`)
      writeFileSync(xml, destination(socket, device), { mode: 0o600 })
      // The limit of the transfer is for all its disks together.
      const limit =
        maxMbps === null
          ? []
          : ['--bytes', '--bandwidth', String(Math.ceil((maxMbps * MEGABIT_BYTES) / targets.length))]
      const ways = ['--transient-job', '--reuse-external', '--synchronous-writes']
      await virsh(['blockcopy', uuid, device, '--xml', xml, ...ways, ...limit])
    }
    const copied = await untilSame(uuid, targets, link, signal)
    const stop = () => void link.close()
    signal.addEventListener('abort', stop)
    const secret = makeRunDirectory(directory)
    const compared = await compareBeside(link, copying, secret, signal).finally(() =>
      signal.removeEventListener('abort', stop),
    )
    if (watch.isBroken || link.broken.aborted) throw broken(link)
    return { copied, targets, compared, watch }
  } catch (error) {
    watch.end()
    await endMirror(workload, targets)
    throw error
  }
}

/** Ends the jobs of these devices; without one nothing happens. The vm runs on. */
export async function endMirror(workload: string, targets: readonly string[]) {
  for (const device of targets) await virsh(['blockjob', uuidOf(workload), device, '--abort'], true)
}

async function untilSame(uuid: string, targets: readonly string[], link: SshLink, signal: AbortSignal) {
  for (;;) {
    const jobs = await Promise.all(targets.map((device) => jobOf(uuid, device)))
    const copied: Copied = {
      copiedBytes: jobs.reduce((sum, job) => sum + (job?.cur ?? 0), 0),
      totalBytes: jobs.reduce((sum, job) => sum + (job?.end ?? 0), 0),
    }
    if (signal.aborted) throw new Failure('transfer_ended', 'the transfer was ended')
    if (jobs.some((job) => job === undefined) || link.broken.aborted) throw broken(link)
    copyProgress(copied)
    if (jobs.every((job) => job!.end > 0 && job!.cur === job!.end)) return copied
    await sleep(POLL_MS, signal)
  }
}

const broken = (link: SshLink) =>
  new Failure('transfer_cut', `the copy of a disk broke off: ${link.failures.at(-1)?.err ?? ''}`)

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
