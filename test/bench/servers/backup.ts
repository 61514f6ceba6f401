// A disk that is saved and brought back by the agent's driver, beside the bare pipe of nbdcopy and restic, in turns.
//
//   bun test/bench/servers/backup.ts [--mib 512] [--rounds 2]
import { mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { Restic } from '../../../agent/drivers/backup/restic.ts'
import type { Disk } from '../../../agent/drivers/storage/storage.ts'
import { type BackupTarget, LOCAL_MARKER } from '../../../agent/protocol/backup.ts'
import { tempDir } from '../cleanup.ts'
import { flags, goal, median, round, say, table } from '../words.ts'

const { mib, rounds } = flags('Measures making and restoring a backup.', { mib: 512, rounds: 2 })
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
  sh(`truncate --size ${sizeMiB}M ${path}`)
  return { kind: 'file', path, format: 'raw' }
}

const env = { ...process.env, RESTIC_PASSWORD: 'password-of-the-account' }
function sh(script: string) {
  const { exitCode, stderr } = Bun.spawnSync(['bash', '-euo', 'pipefail', '-c', script], { env })
  if (exitCode !== 0) throw new Error(`${script}: ${stderr}`)
}
async function seconds(work: () => unknown): Promise<number> {
  const began = performance.now()
  await work()
  return (performance.now() - began) / 1000
}

function place(): BackupTarget {
  const address = `${tempDir}/place${++names}`
  mkdirSync(address)
  writeFileSync(`${address}/${LOCAL_MARKER}`, '')
  const repository = { repository: 'usr_1', password: env.RESTIC_PASSWORD }
  sh(`restic -q -r ${address}/usr_1 --no-cache init`)
  return { kind: 'local', address, login: '', secret: '', trust: '', ...repository }
}
const repositoryOf = ({ address }: BackupTarget) => `-r ${address}/usr_1 --no-cache`
const what = (n: number) => ({
  ...{ backup: `bkp_${String(n).padStart(26, '0')}`, workload: `srv_${'1'.repeat(26)}` },
  ...{ sizeBytes: 0, consistent: true },
})

/** With a disk served by the same program in both ways. */
const serving = (path: string, script: string, more = '') =>
  `s=$(mktemp -u); qemu-nbd --socket $s --format raw --persistent --shared 8 ${more} -- ${path} & trap "kill $!" EXIT
   until [ -S $s ]; do sleep 0.01; done; ${script.replaceAll('URI', "'nbd+unix:///?socket='$s")}`

type Times = { make: number; again: number; restore: number }
async function byDriver(given: Disk): Promise<Times & { share: number }> {
  const to = place()
  const first = await taken(() => driver.save(to, what(1), { disk: given }, never))
  const second = await taken(() => driver.save(to, what(2), { disk: given }, never))
  const empty = disk(mib, 0)
  const restore = await seconds(() => driver.load(to, first.result.snapshot, empty))
  if (!readFileSync(given.path).equals(readFileSync(empty.path))) throw new Error('the disk came back as another one')
  const share = second.result.addedBytes! / first.result.addedBytes!
  return { make: first.took, again: second.took, restore, share }
}
async function taken<T>(work: () => Promise<T>): Promise<{ result: T; took: number }> {
  let result: T | undefined
  const took = await seconds(async () => {
    result = await work()
  })
  return { result: result!, took }
}

async function byPipe(given: Disk): Promise<Times> {
  const repository = repositoryOf(place())
  const make = () =>
    seconds(() =>
      sh(serving(given.path, `nbdcopy -- URI - | restic ${repository} -q backup --stdin --stdin-filename disk.raw`)),
    )
  const [first, again] = [await make(), await make()]
  const { path } = disk(mib, 0)
  const dump = `restic ${repository} dump latest /disk.raw | nbdcopy --flush --destination-is-zero -- - URI`
  return { make: first, again, restore: await seconds(() => sh(serving(path, dump))) }
}

/** The time that either takes whatever the size: keys are derived, the repository is opened, the result is checked. */
async function fixed(): Promise<[Times, Times]> {
  const small = disk(mib, 1)
  return [await byDriver(small), await byPipe(small)]
}

const full = disk(mib, mib / 2)
say(`A disk of ${mib} MiB, half of it random, the rest holes; ${rounds} rounds.`)
const [ours, theirs]: [Times[], Times[]] = [[], []]
let share = 0
for (let i = 0; i < rounds; i++) {
  const { share: added, ...times } = await byDriver(full)
  share = Math.max(share, added)
  ours.push(times)
  theirs.push(await byPipe(full))
}
const [oursFixed, theirsFixed] = await fixed()
const of = (times: Times[], name: keyof Times) => median(times.map((one) => one[name]))
const row = (words: string, name: keyof Times) => {
  const [mine, bare] = [of(ours, name), of(theirs, name)]
  const net = (bare - theirsFixed[name]) / (mine - oursFixed[name])
  return [
    words,
    round(mine, 1),
    round(bare, 1),
    round(bare / mine, 2),
    `${round(oursFixed[name], 1)} / ${round(theirsFixed[name], 1)}`,
    round(net, 2),
    goal(net >= 0.95, '0.95'),
  ]
}
table(
  ['', 'Berth, s', 'bare pipe, s', 'ratio', 'of that for 1 MiB of data, s', 'ratio for the data', 'goal'],
  [row('first backup', 'make'), row('unchanged', 'again'), row('restore', 'restore')],
)
say(`The second, unchanged backup sent ${round(share * 100, 3)} % (${goal(share < 0.01, 'below 1 %')}).`)
process.exit(0)
