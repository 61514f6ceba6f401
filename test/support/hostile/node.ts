// A node in foreign hands: it has its key, and sends whatever it likes.
import { createPrivateKey, sign } from 'node:crypto'
import { agentHeaders, agentPaths, PROTOCOL, signedText } from '../../../agent/protocol/wire.ts'
import type { SeededNode } from '../world/seed.ts'

export type HostileNode = Pick<SeededNode, 'id' | 'privateKey'>

/** The headers that let it in. Throws when the controller gives it no challenge. */
export async function signedBy(url: string, { id, privateKey }: HostileNode): Promise<Record<string, string>> {
  const response = await fetch(url + agentPaths.challenge, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ nodeId: id, protocol: PROTOCOL }),
  })
  const { nonce } = (await response.json()) as { nonce?: string }
  if (nonce === undefined) throw new Error(`no challenge: ${response.status}`)
  return {
    [agentHeaders.node]: id,
    [agentHeaders.nonce]: nonce,
    [agentHeaders.signature]: sign(null, Buffer.from(signedText(id, nonce)), createPrivateKey(privateKey)).toString(
      'base64url',
    ),
    [agentHeaders.protocol]: String(PROTOCOL),
  }
}

/** An open socket of the node; undefined when the controller refuses it. `closed` resolves with the close code. */
export async function connectAs(url: string, node: HostileNode) {
  const headers = await signedBy(url, node)
  const socket = new WebSocket(url.replace(/^http/, 'ws') + agentPaths.connect, { headers } as never)
  const closed = new Promise<number>((resolve) => socket.addEventListener('close', ({ code }) => resolve(code)))
  const opened = await Promise.race([
    new Promise<boolean>((resolve) => socket.addEventListener('open', () => resolve(true))),
    closed.then(() => false),
  ])
  return opened ? { socket, closed } : undefined
}
