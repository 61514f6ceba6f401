// Requests and sockets as the listener hands them over.
import type { Server } from 'bun'
import type { Elysia } from 'elysia'
import { closeCodes, MOST_FRAME_BYTES } from '../../../agent/protocol/wire.ts'
import { restarting as restartingError, unknownPath } from '../../kernel/api/errors.ts'
import { answered, type ErrorPage } from '../../kernel/api/response.ts'
import { clientAddresses } from '../../kernel/net/client-address.ts'
import { pathStart } from '../../kernel/net/raw-path.ts'
import type { ServerSocket, SocketEndpoint } from '../../kernel/net/socket-endpoint.ts'
import type { WithApp } from './base.ts'
import { forRouter } from './routes.ts'

const LOOPBACK = '127.0.0.1'

type ListenerParts = { endpoints: readonly SocketEndpoint[]; errorPage: ErrorPage }
/** `router` is asked for at each request; `endpoints`: the WebSockets, each at its path. */
export function listener(
  { config, registry, life }: WithApp,
  router: () => Elysia,
  { endpoints, errorPage }: ListenerParts,
) {
  const clientAddress = clientAddresses(config.trustedProxies)
  const byPath = new Map(endpoints.map((endpoint) => [endpoint.path, endpoint]))
  /** Every open socket. */
  const sockets = new Set<ServerSocket>()

  /**
   * WebSockets are taken before the router: the upgrade is the server's. `isCanonical`: the path is as it was sent.
   */
  const fetch = (
    request: Request,
    server: Pick<Server<unknown>, 'requestIP' | 'upgrade'>,
    isCanonical = true,
  ): Response | undefined | Promise<Response | undefined> =>
    answered(
      request,
      {
        logs: config.logRequests,
        errors: registry.errors,
        from: () => clientAddress(request, server.requestIP(request)?.address),
        isLast: () => life.isRestarting,
        errorPage,
      },
      (request) => {
        if (!isCanonical) throw unknownPath()
        const endpoint = byPath.get(pathOf(request.url))
        if (!endpoint) return router().fetch(forRouter(request))
        // A socket that this process opens now would hold up its end, and its client would soon look for the next one.
        if (life.isRestarting) throw restartingError('Berth is restarting. Connect again in a moment.')
        // A socket outlives its request, which knows the address until it is answered.
        void request.info.from
        const { handler, headers } = endpoint.accept(request)
        const upgrade = { data: { handler }, headers: { ...headers, 'X-Request-Id': request.info.requestId } }
        if (server.upgrade(request, upgrade)) return undefined
        return new Response('This is a WebSocket address.\n', {
          status: 426,
          headers: { 'Content-Type': 'text/plain; charset=utf-8' },
        })
      },
    )
  const websocket = {
    maxPayloadLength: MOST_FRAME_BYTES,
    // A node that does not read is disconnected: its commands are sent again when it comes back.
    backpressureLimit: MOST_FRAME_BYTES * 4,
    closeOnBackpressureLimit: true,
    idleTimeout: 60,
    open(socket: ServerSocket) {
      sockets.add(socket)
      socket.data.handler.opened(socket)
    },
    message: (socket: ServerSocket, data: string | Buffer) => socket.data.handler.message(socket, data),
    drain: (socket: ServerSocket) => socket.data.handler.drained?.(socket),
    close(socket: ServerSocket, code: number) {
      sockets.delete(socket)
      socket.data.handler.closed(socket, code)
    },
  }

  const closeSockets = () => {
    for (const socket of sockets) socket.close(closeCodes.restarting, 'restarting')
  }
  return { fetch, websocket, closeSockets }
}

/** Calls without a socket, from this host. `router` is asked for at each; without pages no refusal is one. */
export function localListener({ config, registry }: WithApp, router: () => Elysia, errorPage?: ErrorPage) {
  const common = { from: () => LOOPBACK, logs: config.logRequests, errors: registry.errors }
  const told = errorPage ? { ...common, errorPage } : common
  return async (request: Request, isCanonical = true): Promise<Response> =>
    answered(request, told, (request) => {
      if (!isCanonical) throw unknownPath()
      return router().fetch(forRouter(request))
    })
}

/** The path of an address, without its query. */
function pathOf(url: string): string {
  const query = url.indexOf('?')
  return url.slice(pathStart(url), query < 0 ? url.length : query)
}
