// A console through both proxies against a direct connection to the vm's socket, in the same run: how long a key takes
// until it shows, and how many bytes of the screen pass. The vm is a fake one; controller and agent are processes.
//
//   bun test/bench/console/proxies.ts [--keys 2000] [--pictures 200]
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connectStream } from '../../../agent/console/unix-stream.ts'
import { emptyQcow2 } from '../../support/guest.ts'
import { installation } from '../../support/world/processes.ts'
import { flags, median, percentile, round, say, table } from '../words.ts'

const { keys, pictures } = flags('bun test/bench/console/proxies.ts [--keys 2000] [--pictures 200]', {
  keys: 2000,
  pictures: 200,
})
/** A whole picture of the fake screen: 640 by 400 pixels of 4 bytes, behind two headers. */
const PICTURE_BYTES = 640 * 400 * 4 + 16
const SERIAL = /^s/
const SCREEN = /^v/

type Way = { send(bytes: Uint8Array): void; on(heard: (bytes: Uint8Array) => void): void; close(): void }

const live = await installation()
try {
  await live.serve()
  const token = await live.ownerToken()
  const location = (await live.admin('locations.create', { name: 'Lab' })).id
  const home = await live.enroll(location, 'fake-01')
  const agent = live.agent(home)
  const node = await live.until('the node', async () =>
    (await live.admin('nodes.list')).data.find((n: any) => n.connected && n.load?.pools.length),
  )
  await live.admin('pools.create', {
    name: 'lan',
    network: '10.91.8.0/24',
    gateway: '10.91.8.1',
    first: '10.91.8.10',
    last: '10.91.8.20',
    nodeIds: [node.id],
  })
  const pack = (await live.admin('packages.create', { name: 'Tiny', vcpus: 1, memoryMb: 128, diskGb: 3 })).id
  writeFileSync(`${live.dir}/incoming/tiny.qcow2`, emptyQcow2())
  const image = (await live.admin('images.import', { file: 'tiny.qcow2', name: 'Tiny' })).id
  const customer = (await live.admin('customers.create', { name: 'Cal', email: 'cal@example.com' })).id
  const { serverId } = (
    await live.api(token, 'POST', '/admin/servers', {
      ownerId: customer,
      packageId: pack,
      nodeGroupId: location,
      imageId: image,
      hostname: 'web01',
      access: { mode: 'password' },
    })
  ).body
  await live.until('the server', async () => (await live.admin('servers.get', { id: serverId })).status === 'running')

  const rss = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
  const proxied = (kind: string) => throughPanel(kind, token, serverId)
  const before = rss(agent.pid)
  const rows: (string | number)[][] = []
  const figures: Record<string, number> = {}
  const sockets = () => readdirSync(`${home}/c`).map((name) => `${home}/c/${name}`)
  for (const [name, way] of [
    ['through the panel', () => proxied('serial')],
    ['direct', () => direct(sockets().find((path) => SERIAL.test(path.split('/').at(-1)!))!)],
  ] as const) {
    const serial = await way()
    const times = await typed(serial)
    serial.close()
    figures[`${name} key`] = median(times)
    rows.push([
      `a key until it shows, ${name}`,
      `${round(median(times), 3)} ms`,
      `${round(percentile(times, 95), 3)} ms`,
    ])
  }
  for (const [name, way] of [
    ['through the panel', () => proxied('vnc')],
    ['direct', () => direct(sockets().find((path) => SCREEN.test(path.split('/').at(-1)!))!)],
  ] as const) {
    const screen = await way()
    const rate = await drawn(screen)
    screen.close()
    figures[`${name} rate`] = rate
    rows.push([`bytes of the screen, ${name}`, `${round(rate / 1e6)} MB/s`, ''])
  }
  table(['what', 'median', '95 %'], rows)
  say(`The panel adds ${round(figures['through the panel key']! - figures['direct key']!, 3)} ms to a key.`)
  say(`ratio of the bytes ${round(figures['through the panel rate']! / figures['direct rate']!, 2)}`)
  say(`The agent grew by ${round(rss(agent.pid) - before)} MB.`)
} finally {
  await live.close()
}

async function throughPanel(kind: string, token: string, serverId: string): Promise<Way> {
  const { body } = await live.api(token, 'POST', `/servers/${serverId}/console`, { kind })
  const socket = new WebSocket(live.url.replace('http', 'ws') + body.path, {
    protocols: body.protocols,
    headers: { Authorization: `Bearer ${token}` },
  } as never)
  socket.binaryType = 'arraybuffer'
  let heard: ((bytes: Uint8Array) => void) | undefined
  const early: Uint8Array[] = []
  socket.addEventListener('message', ({ data }) => {
    if (typeof data === 'string') return
    if (heard) heard(new Uint8Array(data))
    else early.push(new Uint8Array(data))
  })
  await new Promise<void>((opened) => socket.addEventListener('open', () => opened()))
  return {
    send: (bytes) => socket.send(bytes as Uint8Array<ArrayBuffer>),
    on(next) {
      heard = next
      for (const bytes of early.splice(0)) next(bytes)
    },
    close: () => socket.close(),
  }
}

async function direct(path: string): Promise<Way> {
  let heard: ((bytes: Uint8Array) => void) | undefined
  const early: Uint8Array[] = []
  const stream = await connectStream(path, {
    data: (bytes) => (heard ? heard(bytes) : early.push(bytes)),
    closed() {},
  })
  return {
    send: (bytes) => void stream.write(bytes),
    on(next) {
      heard = next
      for (const bytes of early.splice(0)) next(bytes)
    },
    close: () => stream.end(),
  }
}

/** The milliseconds from each key until the line shows it. */
async function typed(way: Way): Promise<number[]> {
  const times: number[] = []
  let shown = () => {}
  way.on(() => shown())
  await Bun.sleep(300)
  for (let n = 0; n < keys; n++) {
    const began = performance.now()
    const echoed = new Promise<void>((done) => {
      shown = done
    })
    way.send(Buffer.from('x'))
    await echoed
    times.push(performance.now() - began)
  }
  return times
}

/** Bytes a second of whole pictures, each asked for when the last one is there. */
async function drawn(way: Way): Promise<number> {
  let bytes = 0
  let wake = () => {}
  way.on((data) => {
    bytes += data.length
    wake()
  })
  const until = async (n: number) => {
    while (bytes < n)
      await new Promise<void>((done) => {
        wake = done
      })
  }
  await until(12)
  way.send(Buffer.from('RFB 003.008\n'))
  await until(14)
  way.send(Buffer.from([1]))
  await until(18)
  way.send(Buffer.from([1]))
  await until(18 + 24 + 4)
  const start = bytes
  const began = performance.now()
  for (let n = 1; n <= pictures; n++) {
    way.send(Buffer.from([3, 0, 0, 0, 0, 0, 2, 128, 1, 144]))
    await until(start + n * PICTURE_BYTES)
  }
  return (pictures * PICTURE_BYTES * 1000) / (performance.now() - began)
}
