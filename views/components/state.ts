// States: a colour, a shape and a word, always together.
import { type Content, type Html, html } from '../../src/kernel/web/html.ts'
import { type IconName, icon } from './icon.ts'

type Tone = 'ok' | 'work' | 'warn' | 'bad' | 'idle' | 'hold'
export const pill = (tone: Tone, shape: IconName, words: Content): Html =>
  html`<span class="st ${tone}">${icon(shape)}${words}</span>`

export const serverStates = {
  provisioning: 'Being installed',
  pending_setup: 'Waiting for setup',
  running: 'Running',
  stopped: 'Stopped',
  suspended: 'Suspended',
  failed: 'Installation failed',
  terminated: 'Terminated',
} as const
type Status = keyof typeof serverStates
const looks: Record<Status, [Tone, IconName]> = {
  provisioning: ['work', 'work'],
  pending_setup: ['warn', 'clock'],
  running: ['ok', 'run'],
  stopped: ['idle', 'stop'],
  suspended: ['hold', 'pause'],
  failed: ['bad', 'x'],
  terminated: ['idle', 'x'],
}
const works: Record<string, string> = {
  install: 'Installing',
  power: 'Changing power',
  suspend: 'Suspending',
  unsuspend: 'Unsuspending',
  terminate: 'Terminating',
}

/** The running job goes before the state: it is what is changing. */
export const serverState = ({
  status,
  job,
}: {
  status: Status
  job: { kind: string; progress: number } | null
}): Html =>
  job
    ? pill('work', 'work', `${works[job.kind] ?? 'Working'} ${job.progress} %`)
    : pill(...looks[status], serverStates[status])

type Job = { state: 'queued' | 'running' | 'succeeded' | 'failed'; undoing: boolean; progress: number; error: unknown }
export const jobState = ({ state, undoing, progress, error }: Job): Html =>
  state === 'succeeded'
    ? pill('ok', 'tick', 'Done')
    : state === 'failed'
      ? pill('bad', 'x', 'Failed')
      : state === 'queued'
        ? pill('idle', 'clock', 'Queued')
        : undoing
          ? pill('warn', 'work', 'Taking back')
          : error
            ? pill('warn', 'work', 'Trying again')
            : pill('work', 'work', `Running ${progress} %`)

export const nodeState = ({ connected, open }: { connected: boolean; open: boolean }): Html =>
  connected
    ? open
      ? pill('ok', 'dot', 'Connected')
      : pill('idle', 'pause', 'Closed')
    : pill('bad', 'bang', 'Not connected')

export const openState = (open: boolean): Html => (open ? pill('ok', 'dot', 'Open') : pill('idle', 'pause', 'Closed'))
