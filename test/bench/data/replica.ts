// The cost of the replica for a change: two databases in turns, one of which is shipped to a folder each second. Then
// the bytes an hour at this rate, and the time of a restore.
//
//   bun test/bench/data/replica.ts [--seconds 20] [--perSecond 50]

import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { secretsWith } from '../../../src/kernel/crypto/secrets.ts'
import { openDb, write } from '../../../src/kernel/db/open.ts'
import { quieten } from '../../../src/kernel/log.ts'
import { claim } from '../../../src/kernel/replica/claims.ts'
import { Copy } from '../../../src/kernel/replica/copy.ts'
import { Shipper } from '../../../src/kernel/replica/shipper.ts'
import { FOLDER_MARKER, folderStore } from '../../../src/kernel/stores/folder.ts'
import { flags, ms, percentile, round, say, table } from '../words.ts'

const { seconds, perSecond } = flags('Measures what the replica costs a change.', { seconds: 20, perSecond: 50 })
quieten(true)

const FILLED_BYTES = 19 << 20
const schema = `
CREATE TABLE things (id INTEGER PRIMARY KEY, owner TEXT NOT NULL, at INTEGER NOT NULL, text TEXT NOT NULL) STRICT;
CREATE INDEX things_owner ON things (owner);
CREATE INDEX things_at ON things (at);
CREATE INDEX things_text ON things (text);`

const dir = mkdtempSync(`${tmpdir()}/berth-bench-replica-`)
const folder = `${dir}/replica`
mkdirSync(folder)
writeFileSync(`${folder}/${FOLDER_MARKER}`, '')

function filled(name: string, keepsLog: boolean) {
  const db = openDb(`${dir}/${name}.db`, [{ name: 'one', sql: schema }], { keepsLog })
  const insert = db.$client.prepare('INSERT INTO things (owner, at, text) VALUES (?, ?, ?)')
  write(db, () => {
    for (let i = 0; i < FILLED_BYTES / 400; i++) insert.run(crypto.randomUUID(), i, `${crypto.randomUUID()} `.repeat(4))
  })
  return {
    db,
    /** Three rows, in µs. */
    change(): number {
      const began = performance.now()
      write(db, () => {
        for (let i = 0; i < 3; i++) insert.run(crypto.randomUUID(), Date.now(), crypto.randomUUID())
      })
      return (performance.now() - began) * 1000
    },
  }
}

try {
  const plain = filled('plain', false)
  const shipped = filled('shipped', true)
  const secrets = secretsWith(Buffer.alloc(32, 1))
  const store = folderStore(folder)
  const shipper = new Shipper(shipped.db, {
    ...{ store, secrets, dataDir: dir, held: await claim(store, secrets, Date.now()), waits: false },
    ...{ wallClock: Date.now, monotonic: () => performance.now(), everyMs: 1000, keepMs: 86_400_000 },
  })
  while (shipper.state.isBeginning || shipper.state.baseAt === null) {
    await shipper.round(true)
    await Bun.sleep(20)
  }
  const bytes = () =>
    readdirSync(`${folder}/segments`, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .reduce((all, { parentPath, name }) => all + statSync(`${parentPath}/${name}`).size, 0)
  const before = bytes()
  const times: Record<'plain' | 'shipped', number[]> = { plain: [], shipped: [] }
  let longestRound = 0
  const timer = setInterval(async () => {
    await shipper.round()
    longestRound = Math.max(longestRound, shipper.state.roundMs)
  }, 1000)
  for (let i = 0; i < seconds * perSecond; i++) {
    for (const which of i % 2 ? (['plain', 'shipped'] as const) : (['shipped', 'plain'] as const))
      times[which].push((which === 'plain' ? plain : shipped).change())
    await Bun.sleep(1000 / perSecond)
  }
  clearInterval(timer)
  await shipper.round(true)
  const began = performance.now()
  const copy = new Copy(store, secrets, `${dir}/copy.db`)
  await copy.begin()
  await copy.follow()
  await copy.finish()
  const restoreMs = performance.now() - began
  const row = (percent: number) => {
    const [a, b] = [percentile(times.plain, percent), percentile(times.shipped, percent)]
    return [`p${percent} of a change`, `${round(a)} µs`, `${round(b)} µs`, round(b / a, 2)]
  }
  table(['', 'without', 'with the replica', 'ratio'], [row(50), row(99)])
  say(`${round((((bytes() - before) / seconds) * 3600) / 1e6)} MB an hour at ${perSecond} changes a second`)
  say(`longest round ${ms(longestRound)}, restore of ${round(statSync(copy.path).size / 1e6)} MB ${ms(restoreMs)}`)
} finally {
  rmSync(dir, { recursive: true, force: true })
}
process.exit(0)
