// Joins streams: a connection on this host with a stream to the other node.
import { chmodSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import type { Duplex } from 'node:stream'
import { log } from '../../log.ts'

/** Reads what passes in one direction. Throws where it must not pass; both ends are closed then. */
export type Check = { take(bytes: Uint8Array): Uint8Array }

/**
 * Hands everything from each end to the other, and the end of it too, until both have ended or one breaks. Resolves
 * with the words of what a check refused.
 */
export function join(
  near: Duplex,
  far: Duplex,
  { toFar, toNear }: { toFar?: Check; toNear?: Check } = {},
): Promise<string | undefined> {
  return new Promise((resolve) => {
    let left = 2
    let refusal: string | undefined
    const close = () => {
      near.destroy()
      far.destroy()
      resolve(refusal)
    }
    const pump = (from: Duplex, to: Duplex, check?: Check) => {
      from.on('data', (bytes: Uint8Array) => {
        if (refusal !== undefined) return
        let passed = bytes
        try {
          if (check) passed = check.take(bytes)
        } catch (error) {
          refusal = error instanceof Error ? error.message : String(error)
          return close()
        }
        if (!passed.length) return
        if (to.write(passed)) return
        from.pause()
        to.once('drain', () => from.resume())
      })
      from.once('end', () => {
        to.end()
        if (--left === 0) close()
      })
      from.once('error', close)
      from.once('close', close)
    }
    pump(near, far, toFar)
    pump(far, near, toNear)
  })
}

/** Listens at a unix socket, which replaces one that is left from before; root alone can connect. */
export async function listenAt(path: string, onConnection: (stream: Duplex) => void): Promise<Server> {
  rmSync(path, { force: true })
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', (error) => log('info', 'a connection of a migration broke', { path, error: error.message }))
    onConnection(socket)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
  chmodSync(path, 0o600)
  return server
}
