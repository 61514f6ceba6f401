// The socket that an agent opens to its controller.
import { agentPaths, closeCodes, type ToAgent } from '../../../agent/protocol/wire.ts'
import { log } from '../../kernel/log.ts'
import type { SocketEndpoint } from '../../kernel/net/socket-endpoint.ts'
import { epochOf } from '../../kernel/nodes/epoch.ts'
import type { Socket } from '../../kernel/nodes/hub.ts'
import { VERSION } from '../../kernel/version.ts'
import type { WithApp } from './base.ts'
import type { NodeSide } from './nodes.ts'

export function agentSocket({ app, config, db, wallClock }: WithApp, { hub, nameOf }: NodeSide): SocketEndpoint {
  return {
    path: agentPaths.connect,
    accept(request) {
      const node = app.agents.signer(request)
      request.info.by = node.id
      hub.admit(node.id)
      let socket: Socket
      return {
        handler: {
          opened(opened) {
            socket = Object.assign(opened as unknown as Socket, { data: { ...opened.data, nodeId: node.id } })
            hub.opened(socket, {
              type: 'welcome',
              nodeId: node.id,
              controllerVersion: VERSION,
              now: wallClock(),
              epoch: epochOf(db),
              ...(config.agentPins.length && { pins: [...config.agentPins] }),
            } satisfies ToAgent)
          },
          message: (_, text) => hub.message(socket, text),
          closed(_, code) {
            hub.closed(socket)
            if (code === closeCodes.outdated)
              log.error(
                'a node refuses this controller, because it has obeyed a newer one: another host took over, or a ' +
                  'backup was restored. Stop this one (docs/standby.md)',
                { node: nameOf(node.id) },
              )
          },
        },
      }
    },
  }
}
