// Values that a node reported: while it is away, they have no colour and say how old they are.
import type { ComponentChildren } from 'preact'
import { Ago } from '../../components/time.tsx'

/** A node, or a thing on one. `nodeSeenAt` is null while the node is connected. */
type Contact = { connected: boolean; seenAt: string | null } | { nodeConnected: boolean; nodeSeenAt: string | null }

/** When the node that is away was last connected, as an ISO time; undefined while it is connected. */
export const awaySince = (of: Contact): string | undefined =>
  'connected' in of
    ? of.connected
      ? undefined
      : (of.seenAt ?? undefined)
    : of.nodeConnected
      ? undefined
      : (of.nodeSeenAt ?? undefined)

type StaleProps = {
  /** The values are from this time, an ISO time; undefined: they are current. */
  since: string | undefined
  /** In a cell of a table, which has no place for the time of day. */
  inline?: boolean
  children: ComponentChildren
}
/** Values of a node. */
export const Stale = ({ since, inline, children }: StaleProps) =>
  since === undefined ? (
    children
  ) : (
    <div class="stale" data-stale="">
      {children}
      <small class={inline ? 'keep' : undefined}>
        Last known <Ago iso={since} clock={!inline} />
      </small>
    </div>
  )
