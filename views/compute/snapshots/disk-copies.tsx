// Snapshots and backups, both of which are a disk at a moment to which its server can go back.
import type { ComponentChildren } from 'preact'
import type { Operation } from '../../../src/kernel/api/operation.ts'
import { Action, type ActionProps } from '../../components/action.tsx'
import { Exact } from '../../components/time.tsx'
import { exactGb } from '../../components/words.ts'
import { away } from '../servers/power-buttons.tsx'
import type { Server } from '../servers/words.ts'

/** An action of a job waits for the one that works on the server, and for the node. `words`: why it is refused. */
export const notNow = (server: Server, words: string | null) =>
  away(server) ?? (server.job ? 'A job is working on it. Wait until it has ended.' : (words ?? undefined))

type RestoreProps = {
  op: Operation
  params: Record<string, string>
  server: Server
  /** `name`: read after the label. `madeAt`: the moment to which it goes back. */
  of: { name: string; madeAt: string; diskGb: number; notRestorable: string | null }
  noun: 'snapshot' | 'backup'
  title: string
  /** Said of the time until it is restored. */
  meanwhile: readonly ComponentChildren[]
  /** Said last. */
  more?: ComponentChildren
}
export const Restore = ({ op, params, server, of, noun, title, meanwhile, more }: RestoreProps) => (
  <Action
    op={op}
    params={params}
    label="Restore"
    of={of.name}
    small
    tone="bad"
    title={title}
    disabledReason={notNow(server, of.notRestorable)}
    done={`The ${noun} is being restored`}
    confirm={{
      type: server.hostname,
      keep: 'Keep as it is',
      consequences: [
        <>
          Everything written since <Exact iso={of.madeAt} /> is lost.
        </>,
        ...meanwhile,
        of.diskGb < server.diskGb &&
          `The disk stays at ${exactGb(server.diskGb)}; its file system is as large as in the ${noun}.`,
        `Passwords and network settings inside are those of the ${noun}. Addresses, firewall and ${noun}s stay.`,
        more,
      ],
    }}
  />
)

type DeleteProps = {
  op: Operation
  params: Record<string, string>
  of: string
  consequences: ComponentChildren[]
} & Pick<ActionProps, 'title' | 'done' | 'disabledReason'>
/** `of`: read after the label. */
export const Delete = ({ op, params, of, consequences, ...more }: DeleteProps) => (
  <Action
    op={op}
    params={params}
    label="Delete"
    of={of}
    inMenu
    tone="bad"
    {...more}
    confirm={{ keep: 'Keep it', consequences }}
  />
)
