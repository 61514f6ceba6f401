import { readFileSync } from 'node:fs'
import { Failure } from '../../failure.ts'

const LISTENS = '0A'

/** Throws `port_taken` when a program of this host listens on one of the ports: it would be reached no more. */
export function mustBeFree(ports: readonly number[]) {
  const listening = listeningPorts()
  const taken = ports.find((port) => listening.has(port))
  if (taken !== undefined) throw new Failure('port_taken', `a program of this host listens on port ${taken}`)
}

/** TCP ports of this host, also those that are open on one address alone. */
function listeningPorts(): Set<number> {
  const lines = ['tcp', 'tcp6'].flatMap((kind) => {
    try {
      return readFileSync(`/proc/net/${kind}`, 'utf8').split('\n').slice(1)
    } catch {
      // Without IPv6.
      return []
    }
  })
  return new Set(
    lines.flatMap((line) => {
      const [, local = '', , state] = line.trim().split(/\s+/)
      return state === LISTENS ? [Number.parseInt(local.split(':')[1] ?? '', 16)] : []
    }),
  )
}
