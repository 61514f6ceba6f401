// Carries connections to 127.0.0.1:PORT of one network namespace to the same port of another one, through a socket
// file, which has no network. Run as a program it is one of the two ends: `relay.ts listen|connect SOCKET PORT`.
import { existsSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { temporary } from '../../agent/temporary.ts'
import { eventually } from '../../support/waiting/eventually.ts'

/** `from`, `to`: processes in the namespaces. Answers the end of the relay. */
export async function relay(from: number, to: number, port: number): Promise<() => Promise<void>> {
  const socket = join(temporary('relay'), 'socket')
  const end = (pid: number, side: 'listen' | 'connect') =>
    Bun.spawn(['nsenter', '-t', String(pid), '--net', process.execPath, import.meta.path, side, socket, String(port)], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  const ends = [end(to, 'connect'), end(from, 'listen')]
  await eventually(() => existsSync(socket), 30)
  return async () => {
    for (const each of ends) each.kill('SIGKILL')
    await Promise.all(ends.map((each) => each.exited))
  }
}

if (import.meta.main) {
  const [side, socket = '', port] = process.argv.slice(2)
  const there = { host: '127.0.0.1', port: Number(port) }
  const server = createServer((inward) => {
    const outward = side === 'listen' ? connect(socket) : connect(there)
    for (const [one, other] of [
      [inward, outward],
      [outward, inward],
    ] as const) {
      one.pipe(other)
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
  })
  if (side === 'listen') server.listen(there.port, there.host)
  else server.listen(socket)
}
