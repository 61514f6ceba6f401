// Copies from a source hypervisor with a libvirt and an SSH server of its own, in a network namespace of this machine:
// the throughput of the plain way beside a bare `ssh cat` of the same disk, in turns, and the time for which a server
// is off when it is copied in two passes. Both ends share the processors of this machine.
import { closeSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { keyFile } from '../../../agent/drivers/source-host/ssh/sign-in.ts'
import { copyLab } from '../../drivers/source-hosts/moving/copy-lab.ts'
import { noSourceLab } from '../../support/source-hypervisors/lab.ts'
import { flags, goal, median, round, say, table } from '../words.ts'

const { mib, rounds, changedMib, leastRatio, mostSeconds } = flags('Copies from a source, and how long it is off.', {
  ...{ mib: 1024, rounds: 3, changedMib: 2048, leastRatio: 0.9, mostSeconds: 10 },
})
const CIPHER = 'aes128-gcm@openssh.com'
const MIB = 1 << 20
const BLOCK_BYTES = 64 << 10

const trouble = await noSourceLab()
if (trouble) {
  say(`left out: ${trouble}`)
  process.exit(0)
}
const lab = await copyLab()
const timed = async (work: () => Promise<unknown>) => {
  const began = performance.now()
  await work()
  return performance.now() - began
}

/** The bytes of the disk into a file, by OpenSSH alone, which is flushed as a copy is. */
async function bareCat(path: string, options: string[]) {
  const file = join(lab.dir, 'bare')
  const out = openSync(file, 'w')
  const known = ['-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null', '-o', 'LogLevel=ERROR']
  const words = ['ssh', '-i', keyFile(join(lab.dir, 'source-hosts')), ...known, ...options]
  const child = Bun.spawn([...words, `root@${lab.source.address}`, 'cat', path], { stdout: out, stderr: 'inherit' })
  if ((await child.exited) !== 0) throw new Error('the bare copy ended with an error')
  await Bun.spawn(['sync', file]).exited
  closeSync(out)
  rmSync(file)
}

try {
  const path = await lab.rawDisk('bench.raw', mib - 2, mib * MIB)
  const { given, volume } = await lab.offServer({ path, virtualBytes: mib * MIB })
  const qcow2 = '/var/lib/vz/bench.qcow2'
  await lab.source.must('qemu-img', 'convert', '-f', 'raw', '-O', 'qcow2', path, qcow2)
  const asQcow2 = await lab.offServer({ path: qcow2, format: 'qcow2', virtualBytes: mib * MIB })
  const ways: Record<string, () => Promise<unknown>> = {
    'ssh cat': () => bareCat(path, []),
    [`ssh cat, ${CIPHER}`]: () => bareCat(path, ['-c', CIPHER]),
    'raw into raw': () => plain(given, volume('raw')),
    'raw into qcow2': () => plain(given, volume('qcow2')),
    'qcow2 into qcow2': () => plain(asQcow2.given, asQcow2.volume('qcow2')),
  }
  const plain = async (of: typeof given, into: ReturnType<typeof volume>) => {
    const copy = lab.copyOf({ ...of, volume: into, sizeBytes: mib * MIB })
    await copy.pass('off')
    await copy.discard()
  }
  const took = new Map<string, number[]>()
  for (let n = 0; n < rounds; n++)
    for (const [name, way] of Object.entries(ways)) took.set(name, [...(took.get(name) ?? []), await timed(way)])
  const speedOf = (name: string) => (mib * 1000) / median(took.get(name)!)
  const bare = speedOf('ssh cat')
  say(`The plain way, ${mib} MiB of random bytes, ${rounds} rounds in turns:`)
  table(
    ['way', 'MiB/s', 'of ssh cat'],
    [...took.keys()].map((name) => [name, round(speedOf(name)), round(speedOf(name) / bare, 2)]),
  )

  const large = await lab.rawDisk('two-passes.raw', changedMib - 2, changedMib * MIB)
  const two = await lab.offServer({ path: large, virtualBytes: changedMib * MIB })
  const copy = lab.copyOf({ ...two.given, volume: two.volume('qcow2'), sizeBytes: changedMib * MIB })
  const first = await timed(() => copy.pass('running'))
  const blocks = Math.floor((changedMib * MIB) / BLOCK_BYTES / 100)
  const writes = Array.from({ length: blocks }, (_, n) => [
    '-c',
    `write -q -P 7 ${n * 100 * BLOCK_BYTES} ${BLOCK_BYTES}`,
  ])
  await lab.source.must('qemu-io', '-f', 'raw', ...writes.flat(), large)
  let changed = 0
  const off = await timed(async () => {
    changed = (await copy.pass('off')).changedBlocks
  })
  say(`Two passes, ${changedMib} MiB, ${changed} blocks of 64 KiB changed:`)
  table(
    ['pass', 'seconds'],
    [
      ['while it runs', round(first / 1000, 1)],
      ['off', round(off / 1000, 1)],
    ],
  )
  say(goal(speedOf('raw into raw') / bare >= leastRatio, `goal: at least ${leastRatio} of ssh cat:`))
  say(goal(off / 1000 <= mostSeconds, `goal: off for no more than ${mostSeconds} s:`))
} finally {
  await lab.end()
}
