// A WebSocket to the controller for one session: somebody waits there for what the node sends over it.
import type { agentHeaders } from '../protocol/wire.ts'
import { refusedUpgrade, signed, socketTo } from './controller.ts'
import type { Identity } from './identity.ts'

const OPENING_MS = 10_000

/** Opens the socket at `path`; `header` names the session there. Throws when the controller does not take it up. */
export const openSession = (
  identity: Identity,
  path: string,
  header: (typeof agentHeaders)['console' | 'files'],
  session: string,
): Promise<WebSocket> =>
  signed(identity, (headers) => opened(socketTo(identity, path, { ...headers, [header]: session })))

async function opened(socket: WebSocket): Promise<WebSocket> {
  socket.binaryType = 'arraybuffer'
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(() => {
    socket.close()
    reject(new Error('the controller does not take up the connection'))
  }, OPENING_MS)
  socket.addEventListener('open', () => resolve())
  socket.addEventListener('error', (event) => reject(refusedUpgrade((event as ErrorEvent).message)))
  await promise.finally(() => clearTimeout(timer))
  return socket
}
