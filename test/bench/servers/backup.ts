// A disk that is copied from an image, snapshotted, saved and restored by the agent's drivers, beside the bare tools
// with the same duties: what is written is on the disk, a backup is read back, and holes stay holes. In turns.
//
//   bun test/bench/servers/backup.ts [--mib 512] [--rounds 5] [--copies 5] [--small 2]
//
// --copies: so many of each round, because a copy takes a second or two and one that another program disturbs says
// nothing. --small: so many backups of a disk with 1 MiB of data.
import { closeSync, mkdirSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { Restic } from '../../../agent/drivers/backup/restic.ts'
import { FilePool } from '../../../agent/drivers/storage/file.ts'
import type { Disk } from '../../../agent/drivers/storage/storage.ts'
import { type BackupTarget, LOCAL_MARKER } from '../../../agent/protocol/backup.ts'
import { tempDir } from '../cleanup.ts'
import { flags, goal, median, round, say, table } from '../words.ts'

const {
  mib,
  rounds,
  copies: copiesARound,
  small: smallRounds,
} = flags('Measures copying, snapshotting, saving and restoring a disk.', { mib: 512, rounds: 5, copies: 5, small: 2 })
const MiB = 1 << 20
const never = new AbortController().signal
const driver = new Restic(`${tempDir}/agent`)
let names = 0

/** A raw disk; `filled` MiB of it are random. */
function disk(sizeMiB: number, filled: number): Disk {
  const path = `${tempDir}/disk${++names}.raw`
  const file = openSync(path, 'w')
  const chunk = Buffer.alloc(MiB)
  for (let at = 0; at < filled; at++) {
    for (let from = 0; from < MiB; from += 65_536) crypto.getRandomValues(chunk.subarray(from, from + 65_536))
    writeSync(file, chunk)
  }
  closeSync(file)
  sh(`truncate --size ${sizeMiB}M ${path}`)
  return { kind: 'file', path, format: 'raw' }
}

const env = { ...process.env, TMPDIR: tempDir, RESTIC_PASSWORD: 'password-of-the-account' }
function sh(script: string) {
  const { exitCode, stderr } = Bun.spawnSync(['bash', '-euo', 'pipefail', '-c', script], { env })
  if (exitCode !== 0) throw new Error(`${script}: ${stderr}`)
}
/** Time, and processor time of this process and of all that it has started and that has ended, in seconds. */
type Taken = { seconds: number; cpuSeconds: number }
async function taken<T>(work: () => T): Promise<Taken & { result: Awaited<T> }> {
  const [began, cpuBegan] = [performance.now(), cpuSoFar()]
  const result = await work()
  return { seconds: (performance.now() - began) / 1000, cpuSeconds: cpuSoFar() - cpuBegan, result }
}
function cpuSoFar(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100
}

function place(): BackupTarget {
  const address = `${tempDir}/place${++names}`
  mkdirSync(address)
  writeFileSync(`${address}/${LOCAL_MARKER}`, '')
  const repository = { repository: 'usr_1', password: env.RESTIC_PASSWORD }
  sh(`restic -q -r ${address}/usr_1 --no-cache init`)
  return { kind: 'local', address, login: '', secret: '', trust: '', ...repository }
}
/** Space for the next round. */
const forget = ({ address }: BackupTarget, { path }: Disk) => sh(`rm -r ${address} ${path}`)
const what = (n: number) => ({
  ...{ backup: `bkp_${String(n).padStart(26, '0')}`, workload: `srv_${'1'.repeat(26)}` },
  ...{ sizeBytes: 0, consistent: true },
})

/**
 * With a disk served by the same program in both ways, which has closed it at the end. Each program has a session of
 * its own, as the agent's have: on a busy machine Linux shares the processor out by sessions.
 */
const serving = (path: string, script: string, more = '') =>
  `s=$(mktemp -u); setsid -w qemu-nbd --socket $s --format raw --persistent --shared 8 ${more} -- ${path} & n=$!
   trap "kill $n" ERR; until [ -S $s ]; do sleep 0.01; done
   ${script.replaceAll('URI', "'nbd+unix:///?socket='$s")}; kill $n; wait $n`

type Disks = Record<'copy' | 'snapshot', Taken>
type Backups = Record<'make' | 'again' | 'restore', Taken>

const usedMiB = (path: string) => (statSync(path).blocks * 512) / MiB
function mustBeTheSame(given: string, restored: string) {
  sh(`cmp ${given} ${restored}`)
  if (usedMiB(restored) > usedMiB(given) + 2) throw new Error('the disk came back with its holes filled')
}

const pool = new FilePool('local', `${tempDir}/pool`)
const ours = {
  async disks(given: Disk): Promise<Disks> {
    const volume = { workload: `srv_${String(++names).padStart(26, '0')}`, generation: 1, pool: 'local' } as const
    const image = { id: 'img_1', format: 'raw', path: given.path, virtualSizeBytes: mib * MiB } as const
    const copy = await taken(() => pool.create({ ...volume, format: 'qcow2' }, image, mib * MiB))
    const snapshot = await taken(() => pool.fork({ ...volume, format: 'qcow2', layer: 1 }, 0, mib * MiB))
    await pool.remove({ ...volume, format: 'qcow2' })
    return { copy, snapshot }
  },
  async backups(given: Disk): Promise<Backups> {
    const to = place()
    const make = await taken(() => driver.save(to, what(1), { disk: given }, never))
    const again = await taken(() => driver.save(to, what(2), { disk: given }, never))
    const empty = disk(mib, 0)
    const restore = await taken(() => driver.load(to, make.result.snapshot, empty))
    mustBeTheSame(given.path, empty.path)
    forget(to, empty)
    if (given === full) share = Math.max(share, again.result.addedBytes! / make.result.addedBytes!)
    return { make, again, restore }
  },
}

const bare: typeof ours = {
  async disks(given) {
    const path = `${tempDir}/by-tools.qcow2`
    const part = `${path}.part`
    const copied = `qemu-img convert -f raw -O qcow2 ${given.path} ${part} && qemu-img resize -q ${part} ${mib}M`
    const copy = await taken(() => sh(`${copied} && sync ${part} && mv ${part} ${path} && sync ${tempDir}`))
    const forked = `qemu-img create -q -f qcow2 -F qcow2 -b ${path} ${path}.1.part ${mib}M`
    const snapshot = await taken(() =>
      sh(`${forked} && sync ${path}.1.part && mv ${path}.1.part ${path}.1 && sync ${tempDir}`),
    )
    sh(`rm ${path} ${path}.1`)
    return { copy, snapshot }
  },
  async backups(given) {
    const to = place()
    const restic = `setsid -w restic -r ${to.address}/usr_1 --no-cache`
    const store = `setsid -w nbdcopy -- URI - | ${restic} -q backup --stdin --stdin-filename disk.raw`
    const save = () => taken(() => sh(serving(given.path, `${store}; ${restic} ls latest >/dev/null`)))
    const [make, again] = [await save(), await save()]
    const empty = disk(mib, 0)
    const dump = `${restic} dump latest /disk.raw | setsid -w nbdcopy --flush --destination-is-zero -- - URI`
    const restore = await taken(() => sh(serving(empty.path, dump, '--discard=unmap --detect-zeroes=unmap')))
    mustBeTheSame(given.path, empty.path)
    forget(to, empty)
    return { make, again, restore }
  },
}

const full = disk(mib, mib / 2)
/** Its time is what any size takes: keys are derived, the repository is opened, the result is read back. */
const small = disk(mib, 1)
say(`A disk of ${mib} MiB, half of it random, the rest holes; the best of all rounds, ${rounds} of each backup.`)
let share = 0

type Pairs<Work extends string> = Record<'ours' | 'bare', Record<Work, Taken>[]>
/**
 * Both sides in turns, each first every other time: the first one pays for memory that a virtual machine has given back
 * to its host.
 */
async function inTurns<W extends string>(
  times: number,
  ofOurs: () => Promise<Record<W, Taken>>,
  ofBare: typeof ofOurs,
) {
  const pairs: Pairs<W> = { ours: [], bare: [] }
  const sides = { ours: ofOurs, bare: ofBare }
  for (let i = 0; i < times; i++)
    for (const side of i % 2 ? (['bare', 'ours'] as const) : (['ours', 'bare'] as const))
      pairs[side].push(await sides[side]())
  return pairs
}
const copies = await inTurns(
  rounds * copiesARound,
  () => ours.disks(full),
  () => bare.disks(full),
)
const backups = await inTurns(
  rounds,
  () => ours.backups(full),
  () => bare.backups(full),
)
const fixed = await inTurns(
  smallRounds,
  () => ours.backups(small),
  () => bare.backups(small),
)

// Other work on the machine only ever adds.
function best<W extends string>(pairs: Pairs<W>, work: W, of: keyof Taken) {
  const least = (side: keyof Pairs<W>) => Math.min(...pairs[side].map((one) => one[work][of]))
  return [least('ours'), least('bare')] as const
}
function row<W extends string>(words: string, work: W, pairs: Pairs<W>, ofSmall?: Pairs<W>) {
  const [mine, bareTime] = best(pairs, work, 'seconds')
  const [cpu, bareCpu] = best(pairs, work, 'cpuSeconds')
  const ratios = pairs.ours.map((one, i) => pairs.bare[i]![work].seconds / one[work].seconds)
  return [
    words,
    `${round(mine, 2)} / ${round(bareTime, 2)}`,
    round(bareTime / mine, 2),
    round(median(ratios), 2),
    `${round(cpu, 2)} / ${round(bareCpu, 2)}`,
    round(bareCpu / cpu, 2),
    ofSmall?.ours.length
      ? best(ofSmall, work, 'seconds')
          .map((time) => round(time, 2))
          .join(' / ')
      : '',
    goal(bareTime / mine >= 0.95, '0.95'),
  ]
}
table(
  [
    'Berth / bare tools',
    'time, s',
    'ratio',
    'median of the pairs',
    'processor, s',
    'ratio',
    'time with 1 MiB of data, s',
    'goal',
  ],
  [
    ...(copiesARound ? [row('copy from an image', 'copy', copies), row('snapshot', 'snapshot', copies)] : []),
    row('first backup', 'make', backups, fixed),
    row('unchanged', 'again', backups, fixed),
    row('restore', 'restore', backups, fixed),
  ],
)
say(`The second, unchanged backup sent ${round(share * 100, 3)} % (${goal(share < 0.01, 'below 1 %')}).`)
process.exit(0)
