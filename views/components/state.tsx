// States: a colour, a shape and a word, always together.
import type { ComponentChildren } from 'preact'
import { statusesOnNode, UNREACHABLE } from '../../src/fleet/workloads/status.ts'
import { Icon, type IconName } from './icon.tsx'
import { Time } from './time.tsx'
import { count } from './words.ts'

export type Tone = 'ok' | 'work' | 'warn' | 'bad' | 'idle' | 'hold'

/** `tag`: tinted, beside a heading; plain in lists. */
export const State = (props: {
  tone: Tone
  shape: IconName
  tag?: boolean | undefined
  children: ComponentChildren
}) => (
  <span class={`st ${props.tone}${props.tag ? ' tag' : ''}`}>
    <Icon name={props.shape} />
    {props.children}
  </span>
)

export const serverStates = {
  provisioning: 'Being installed',
  pending_setup: 'Waiting for setup',
  running: 'Running',
  stopped: 'Stopped',
  suspended: 'Suspended',
  failed: 'Installation failed',
  terminated: 'Terminated',
} as const
export type ServerStatus = keyof typeof serverStates

/** The choices of a filter `state` behind those of the statuses: what stands in the column can be chosen. */
export const stateOptions = (statuses: Readonly<Record<string, string>>): (readonly [string, string])[] => [
  ...Object.entries(statuses),
  [UNREACHABLE, 'Unreachable'],
]

/** `3 running`, `1 installation failed`, `4 installations failed` */
export const serversIn = (status: string, n: number) =>
  status === 'failed'
    ? count(n, 'installation failed', 'installations failed')
    : `${n.toLocaleString('en')} ${(serverStates[status as ServerStatus] ?? status).toLowerCase()}`

type Counts = Readonly<Record<string, number>>
/** Counts by state, in which servers whose node is away are `unreachable` and no longer count as running. */
export function reachable(servers: Counts, unreachable: Counts): Record<string, number> {
  const counts: Record<string, number> = { running: 0, unreachable: 0, ...servers }
  for (const status of onNode) {
    const away = unreachable[status] ?? 0
    counts[status] = (servers[status] ?? 0) - away
    counts['unreachable']! += away
  }
  return counts
}

/** `9 running · 4 unreachable · 1 suspended`; undefined where there is none. */
export function serverCounts(counts: Counts): string | undefined {
  const words = Object.entries(counts).filter(([, n]) => n > 0)
  return words.length > 0 ? words.map(([status, n]) => serversIn(status, n)).join(' · ') : undefined
}

const appearances: Record<ServerStatus, [Tone, IconName]> = {
  provisioning: ['work', 'work'],
  pending_setup: ['warn', 'wait'],
  running: ['ok', 'run'],
  stopped: ['idle', 'stop'],
  suspended: ['hold', 'hold'],
  failed: ['bad', 'fail'],
  terminated: ['idle', 'fail'],
}
/** The state of a server while a job of this kind changes it. */
export const works: Readonly<Record<string, string>> = {
  install: 'Installing',
  setup: 'Installing',
  reinstall: 'Reinstalling',
  resize: 'Changing package',
  restart_policy: 'Changing settings',
  speed: 'Changing speed',
  tell_speed: 'Changing speed',
  password: 'Resetting password',
  remove_seed: 'Changing settings',
  detect_os: 'Detecting system',
  boot_order: 'Changing settings',
  iso: 'Changing CD drive',
  rescue: 'Entering rescue',
  exit_rescue: 'Leaving rescue',
  power: 'Changing power',
  suspend: 'Suspending',
  unsuspend: 'Unsuspending',
  terminate: 'Terminating',
  purge: 'Deleting its disk',
  undelete: 'Bringing back',
  addresses: 'Changing addresses',
  primary_address: 'Changing addresses',
  await_swap: 'Changing addresses',
  take_address: 'Changing addresses',
  snapshot: 'Taking snapshot',
  restore_snapshot: 'Restoring snapshot',
  delete_snapshot: 'Deleting snapshot',
}

type ServerStateProps = {
  of: {
    status: ServerStatus
    job: { kind: string; progress: number } | null
    nodeConnected?: boolean
    nodeSeenAt?: string | null
    powerKnownAt?: string | null
  }
  tag?: boolean
}
const onNode: ReadonlySet<ServerStatus> = new Set(statusesOnNode)

export function ServerState({ of, tag }: ServerStateProps) {
  const { status, job, nodeConnected = true, nodeSeenAt = null, powerKnownAt = null } = of
  const isOld = powerKnownAt !== null && !job && (status === 'running' || status === 'stopped')
  return (
    <WorkloadState
      of={{ job, nodeConnected: nodeConnected || !onNode.has(status), nodeSeenAt }}
      words={serverStates[status]}
      look={appearances[status]}
      works={works}
      more={isOld ? 'last known' : undefined}
      tag={tag}
    />
  )
}

type WorkloadStateProps = {
  /** `nodeConnected`: true also where its node says nothing more of it. */
  of: { job: { kind: string; progress: number } | null; nodeConnected: boolean; nodeSeenAt: string | null }
  words: string
  look: readonly [Tone, IconName]
  /** The state while a job of a kind changes it. */
  works: Readonly<Record<string, string>>
  more?: string | undefined
  tag?: boolean | undefined
}
/** A node that is away goes before a running job, which waits for it, and a job before the state that it changes. */
export function WorkloadState({ of, words, look, works, more, tag }: WorkloadStateProps) {
  const { job, nodeConnected, nodeSeenAt } = of
  if (!nodeConnected) {
    const seen = nodeSeenAt && (
      <>
        last seen {words.toLowerCase()} <Time iso={nodeSeenAt} />
      </>
    )
    return (
      <>
        <State tone="bad" shape="away" tag={tag}>
          Unreachable {tag && seen && <span>· {seen}</span>}
        </State>
        {!tag && seen && <small>{seen}</small>}
      </>
    )
  }
  const [tone, shape] = job ? (['work', 'work'] as const) : look
  return (
    <>
      <State tone={tone} shape={shape} tag={tag}>
        {job ? `${works[job.kind] ?? 'Working'} ${job.progress} %` : words}
        {more && tag && <span> · {more}</span>}
      </State>
      {more && !tag && <small>{more}</small>}
    </>
  )
}

export type JobLook = {
  state: 'queued' | 'running' | 'succeeded' | 'failed'
  undoing: boolean
  progress: number
  error: unknown
}
const jobLook = ({ state, undoing, progress, error }: JobLook): [Tone, IconName, string] =>
  state === 'succeeded'
    ? ['ok', 'tick', 'Done']
    : state === 'failed'
      ? ['bad', 'fail', 'Failed']
      : state === 'queued'
        ? ['idle', 'wait', 'Queued']
        : undoing
          ? ['warn', 'work', 'Undoing']
          : error
            ? ['warn', 'work', 'Retrying']
            : ['work', 'work', `Running ${progress} %`]
export function JobState({ of, tag }: { of: JobLook; tag?: boolean }) {
  const [tone, shape, words] = jobLook(of)
  return (
    <State tone={tone} shape={shape} tag={tag}>
      {words}
    </State>
  )
}

export const NodeState = ({
  of: { connected, open },
  tag,
}: {
  of: { connected: boolean; open: boolean }
  tag?: boolean
}) =>
  connected ? (
    <OpenState open={open} words={['Connected', 'Closed']} tag={tag} />
  ) : (
    <State tone="bad" shape="away" tag={tag}>
      Not connected
    </State>
  )

type OpenProps = { open: boolean; words?: readonly [string, string]; tag?: boolean | undefined }
/** Open or closed for new servers. */
export const OpenState = ({ open, words = ['Open', 'Closed'], tag }: OpenProps) => (
  <State tone={open ? 'ok' : 'hold'} shape={open ? 'dot' : 'hold'} tag={tag}>
    {words[open ? 0 : 1]}
  </State>
)
