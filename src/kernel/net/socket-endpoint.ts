// WebSockets that features accept beside the agents' own. An upgrade is authorised like a call; the handler that it
// made gets everything that is sent over it.
import type { ServerWebSocket } from 'bun'
import type { IncomingRequest } from '../api/response.ts'

export type ServerSocket = ServerWebSocket<{ handler: SocketHandler }>

/** Called in the order of what happens; `closed` comes last and once. */
export type SocketHandler = {
  opened(socket: ServerSocket): void
  message(socket: ServerSocket, data: string | Buffer): void
  /** The bytes that waited to be sent have left. */
  drained?(socket: ServerSocket): void
  closed(socket: ServerSocket, code: number): void
}

export type SocketEndpoint = {
  path: string
  /** Decides about an upgrade. Throws `ApiError`, before anything is upgraded. `headers` are those of the answer. */
  accept(request: IncomingRequest): { handler: SocketHandler; headers?: Record<string, string> }
}
