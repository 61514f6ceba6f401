// A WebSocket to the controller for one session: somebody waits there for what the node sends over it.
import type { agentHeaders } from '../protocol/wire.ts'
import { signedHeaders } from './controller.ts'
import type { Identity } from './identity.ts'
import { trusting } from './pinning.ts'

const OPENING_MS = 10_000

/** Opens the socket at `path`; `header` names the session there. Throws when the controller does not take it up. */
export async function openSession(
  identity: Identity,
  path: string,
  header: (typeof agentHeaders)['console' | 'files'],
  session: string,
): Promise<WebSocket> {
  const headers = { ...(await signedHeaders(identity)), [header]: session }
  const socket = new WebSocket(identity.controller.replace(/^http/, 'ws') + path, {
    headers,
    ...trusting(identity.pins),
  } as never)
  socket.binaryType = 'arraybuffer'
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(() => {
    socket.close()
    reject(new Error('the controller does not take up the connection'))
  }, OPENING_MS)
  socket.addEventListener('open', () => resolve())
  socket.addEventListener('error', (event) => reject(new Error((event as ErrorEvent).message || 'it failed')))
  await promise.finally(() => clearTimeout(timer))
  return socket
}
