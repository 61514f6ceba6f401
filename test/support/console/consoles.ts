// A panel behind a real port whose nodes open consoles, and viewers of them.
import { generateKeyPairSync } from 'node:crypto'
import { eq } from 'drizzle-orm'
import type { ConsoleKind } from '../../../agent/protocol/console.ts'
import { nodes } from '../../../src/fleet/node-records/tables.ts'
import { write } from '../../../src/kernel/db/open.ts'
import { withRawPath } from '../../../src/kernel/net/raw-path.ts'
import type { Who, World } from '../world/panel.ts'

export type Viewer = Awaited<ReturnType<ReturnType<typeof consoles>['view']>>

/** `as`: whoever comes is this person, and comes from the panel's own address. For browsers on plain HTTP. */
export function consoles(p: World, as?: Who) {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    ...(withRawPath((request, server: any, isCanonical) => {
      if (as) request.headers.set('Cookie', `__Host-panel=${as.cookie}`)
      if (as && request.headers.has('Origin')) request.headers.set('Origin', 'https://panel.test')
      return p.controller.fetch(request, server, isCanonical)
    }) as any),
    websocket: p.controller.websocket as any,
  })
  const url = `http://127.0.0.1:${server.port}`
  const { publicKey, privateKey: key } = generateKeyPairSync('ed25519')
  for (const [nodeId, agent] of p.agents) {
    write(p.db, (tx) =>
      tx
        .update(nodes)
        .set({ publicKey: publicKey.export({ format: 'jwk' }).x! })
        .where(eq(nodes.id, nodeId))
        .run(),
    )
    agent.opensConsoles({ controller: url, nodeId, name: nodeId, fake: true, key })
  }

  const credentials = (who: Who): Record<string, string> =>
    who.token ? { Authorization: `Bearer ${who.token}` } : { Cookie: `__Host-panel=${who.cookie}` }
  const testConsoles = {
    url,
    port: server.port!,
    ticket: (who: Who, serverId: string, kind: ConsoleKind = 'serial') =>
      p.call(who, 'POST', `/servers/${serverId}/console`, { kind }),
    /** Opens a WebSocket and collects what comes; `headers` replace those of the viewer. */
    connect(who: Who, protocols: string[], headers: Record<string, string> = {}) {
      const socket = new WebSocket(`ws://127.0.0.1:${server.port}/console/v1/`, {
        protocols,
        headers: { ...credentials(who), ...headers },
      } as never)
      socket.binaryType = 'arraybuffer'
      const closed = Promise.withResolvers<{ code: number; reason: string }>()
      const viewer = {
        socket,
        text: '',
        bytes: 0,
        frames: [] as any[],
        closed: closed.promise,
        send: (text: string) => socket.send(Buffer.from(text)),
        async until(what: string, ms = 4000) {
          const end = performance.now() + ms
          while (!viewer.text.includes(what)) {
            if (performance.now() > end) throw new Error(`waited in vain for ${what}; there is ${viewer.text}`)
            await Bun.sleep(5)
          }
        },
      }
      socket.addEventListener('message', ({ data }) => {
        if (typeof data === 'string') return void viewer.frames.push(JSON.parse(data))
        viewer.bytes += data.byteLength
        viewer.text = (viewer.text + Buffer.from(data).toString('latin1')).slice(-200_000)
      })
      socket.addEventListener('close', ({ code, reason }) => closed.resolve({ code, reason }))
      return viewer
    },
    async view(who: Who, serverId: string, kind: ConsoleKind = 'serial', headers: Record<string, string> = {}) {
      const { status, body } = await testConsoles.ticket(who, serverId, kind)
      if (status !== 201) throw new Error(JSON.stringify(body))
      return testConsoles.connect(who, body.protocols, headers)
    },
    stop: () => server.stop(true),
  }
  return testConsoles
}
