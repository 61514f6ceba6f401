// A node of the lab, with a libvirt of its own: obeys the commands of the protocol, each as it comes, and those of the
// lab. Its path to the other node are unix sockets in a directory that both see, in the place of SSH.
//   bun node.ts DATA-DIR IMAGE WIRE-DIR NAME
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseCommand } from '../../../agent/commands/index.ts'
import { loggingTo } from '../../../agent/controller-link/job-log.ts'
import { usualLimits } from '../../../agent/drivers/migration/leaving.ts'
import { LibvirtMigration } from '../../../agent/drivers/migration/libvirt.ts'
import { socketPath, type Word } from '../../../agent/drivers/migration/sockets.ts'
import type { Transfers } from '../../../agent/drivers/transfer/transfer.ts'
import { Failure, failureOf } from '../../../agent/failure.ts'
import { openLabHost } from '../../support/nodes/lab-host.ts'

const [, , dir, image, wire, name] = process.argv as [string, string, string, string, string, string]
mkdirSync(wire, { recursive: true })
Bun.serve({ port: 8000, hostname: '127.0.0.1', fetch: () => new Response(Bun.file(image)) })

/** The calls that end the streams that are open now, and words that do not get through. */
const open = new Map<() => void, Word>()
const dead = new Set<Word>()
/**
 * An answer of libvirt that is longer than this and comes after `losesAnswerAfter` calls is lost, and the stream too.
 */
let losesFinish = false
const words = ['libvirt', 'control', 'mig', 'nbd'] as const
const servers: Server[] = []

const refuse = async () => {
  throw new Failure('tool_missing', 'this lab copies no disk by itself')
}
const transfers: Transfers = {
  sweep: async () => {},
  key: async () => `ssh-ed25519 ${'A'.repeat(68)}`,
  async receive({ transfer }) {
    if (!servers.length) for (const word of words) servers.push(listen(transfer, word))
    return { port: 22, user: 'root', hostKeys: [`ssh-ed25519 ${'A'.repeat(68)}`] }
  },
  renew: async () => true,
  limit: async () => {},
  copy: refuse,
  mirror: refuse,
  checksum: refuse,
  async end() {
    for (const server of servers.splice(0)) server.close()
  },
}

const [limitFile, bytesFile] = [join(wire, 'limit'), join(wire, 'bytes')]
const numberIn = (path: string) => (existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0)
/** The limit of the source's streams, in megabit per second; both nodes see it. 0: none. */
const setLimit = (maxMbps: number | null) => writeFileSync(limitFile, String(maxMbps ?? 0))
let [limit, receivedBytes, freeAt] = [0, 0, 0]
setInterval(() => {
  limit = numberIn(limitFile)
  if (receivedBytes) writeFileSync(bytesFile, String(receivedBytes))
}, 50)
/** The milliseconds to wait after these bytes. */
function dueMs(bytes: number): number {
  receivedBytes += bytes
  if (!limit) return 0
  freeAt = Math.max(performance.now(), freeAt) + bytes / (limit * 125)
  return freeAt - performance.now()
}

/** In the place of the target's forced command: joins each connection with the socket of the word. */
function listen(transfer: string, word: Word): Server {
  const path = join(wire, `${name}-${word}.sock`)
  rmSync(path, { force: true })
  return createServer({ allowHalfOpen: true }, (near) => {
    const workload = host.state.transfer(transfer)!.workload
    const to = socketPath({ transfer, workload }, word)
    if (dead.has(word)) return near.destroy()
    const far = connect({ path: to, allowHalfOpen: true })
    const close = () => {
      open.delete(close)
      near.destroy()
      far.destroy()
    }
    open.set(close, word)
    let tries = 0
    far.on('error', () => {
      if (!far.pending || ++tries > 500) return close()
      setTimeout(() => far.connect({ path: to, allowHalfOpen: true } as never), 20)
    })
    near.on('error', close).on('close', close)
    near.on('data', (bytes) => {
      const waitMs = word === 'nbd' || word === 'mig' ? dueMs(bytes.length) : 0
      if (far.write(bytes) && waitMs < 20) return
      near.pause()
      const isTaken = far.writableNeedDrain ? new Promise((resolve) => far.once('drain', resolve)) : undefined
      void Promise.all([isTaken, Bun.sleep(waitMs)]).then(() => near.resume())
    })
    near.on('end', () => far.end())
    far.on('data', (bytes) => {
      // The answer to the call 306: with the name of the vm and a cookie.
      if (losesFinish && word === 'libvirt' && bytes.length > 28 && bytes.readUInt32BE(12) === 306) return close()
      near.write(bytes)
    })
    far.on('end', () => near.end()).on('close', close)
  }).listen(path)
}

const opened = openLabHost(dir)
const migration = new LibvirtMigration(
  opened,
  {
    async openStream(_, to, word) {
      const stream = connect({ path: join(wire, `${to.user}-${word}.sock`), allowHalfOpen: true })
      await new Promise((resolve, reject) => stream.once('connect', resolve).once('error', reject))
      const close = () => stream.destroy()
      open.set(close, word)
      stream.once('close', () => open.delete(close))
      return stream
    },
    async joinStream(_, to, word, file, maxMbps) {
      setLimit(maxMbps)
      const command = [process.execPath, join(import.meta.dir, 'wire.ts'), join(wire, `${to.user}-${word}.sock`)]
      const child = Bun.spawn(command, { stdin: file, stdout: file, stderr: 'ignore' })
      const close = () => child.kill('SIGKILL')
      open.set(close, word)
      void child.exited.then(() => open.delete(close))
      return close
    },
    limitStreams: async (_, maxMbps) => setLimit(maxMbps),
    sentBytes: async () => numberIn(bytesFile),
  },
  { ...usualLimits, pollMs: 200, convergeMs: 6000, abortMs: 8000 },
)
const host = { ...opened, transfers, migration }

const lab: Record<string, (input: any) => Promise<unknown>> = {
  'lab.run': async ({ command }: { command: string[] }) => {
    const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
    const [out, error] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    return { code: await child.exited, out: out.trim(), error: error.trim() }
  },
  'lab.cut': async (word?: Word) => {
    for (const [close, its] of open) if (!word || its === word) close()
  },
  'lab.dead': async (deadWords: Word[]) => {
    dead.clear()
    for (const word of deadWords) dead.add(word)
  },
  'lab.lose-finish': async (on: boolean) => {
    losesFinish = on
  },
  'lab.limit': async ({ transfer, maxMbps }) => migration.limit(transfer, maxMbps),
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, name: command, input } = JSON.parse(line)
  const job = {
    line: (level: string, text: string) => write({ log: `${level} ${text}` }),
    progress: (percent: number, copied?: unknown) => write({ progress: { percent, copied } }),
  }
  const work = lab[command] ? () => lab[command]!(input) : () => parseCommand(command, input).work(host as never)
  void Promise.resolve(loggingTo(job, work)).then(
    (output) => write({ id, output: output ?? {} }),
    (error) => write({ id, error: failureOf(error) }),
  )
}
host.close()
process.exit()

function write(what: object) {
  process.stdout.write(`${JSON.stringify(what)}\n`)
}
