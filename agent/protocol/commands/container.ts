import { Type as t } from 'typebox'
import { anyText, counter, workloadId } from '../bounds.ts'
import {
  authorizedKeys,
  Container,
  ContainerEnd,
  ContainerImage,
  containerImageId,
  logCursor,
  MOST_LOG_CHARACTERS,
  MOST_LOG_LINES,
} from '../gpu.ts'
import { Power } from '../values/vms.ts'
import { act, look } from './declare.ts'
import { findsWorkspace } from './workspace.ts'

const nothing = t.Object({})
const ofWorkload = t.Object({ workload: workloadId })
/** Failures of the way into an instance: its SSH, address and ports. */
const opensAccess = ['firewall_failed', 'instance_network', 'port_taken', 'ssh_kit'] as const
/** Failures of the container engine, whatever is asked of it. `no_container_engine`: the host lacks parts of it. */
const asksEngine = ['container_engine_silent', 'no_container_engine'] as const

export const containerCommands = {
  /** Brings the image unless the node has it. `sizeBytes`: the sum of its compressed layers. */
  'container-image.ensure': act({
    input: ContainerImage,
    output: t.Object({ sizeBytes: counter }),
    failures: [
      ...asksEngine,
      'checksum_mismatch',
      'download_refused',
      'encrypted_for_another',
      'image_too_large',
      'no_image',
      'pool_full',
      'registry_refused',
      'registry_unreachable',
    ],
  }),
  /** Deletes the image; without one it does nothing. An instance that was made from it goes on. */
  'container-image.remove': act({
    input: t.Object({ id: containerImageId }),
    output: nothing,
    failures: asksEngine,
  }),
  /** Makes the container, which is not started. One that differs is stopped and made anew; /workspace stays. */
  'container.create': act({
    input: Container,
    output: nothing,
    failures: [
      ...asksEngine,
      ...opensAccess,
      ...findsWorkspace,
      'container_not_started',
      'does_not_stop',
      'encrypted_for_another',
      'no_card',
      'no_container_image',
      'slot_taken',
    ],
  }),
  /**
   * Starts the container, now and after reboots of the host. From then on the node starts it again when it ends by
   * itself, as its `restartPolicy` says.
   */
  'container.start': act({
    input: ofWorkload,
    output: nothing,
    failures: [
      ...asksEngine,
      ...opensAccess,
      ...findsWorkspace,
      'container_not_started',
      'does_not_stop',
      'no_card',
      'no_container',
      'no_container_image',
    ],
  }),
  /** Asks the command to end, waits up to `graceSeconds`, then kills it; 0: at once. */
  'container.stop': act({
    input: t.Object({ workload: workloadId, graceSeconds: t.Integer({ minimum: 0, maximum: 600 }) }),
    output: nothing,
    failures: [...asksEngine, 'does_not_stop'],
  }),
  /** Deletes the container, its network and ports; /workspace stays. Without a container it does nothing. */
  'container.remove': act({
    input: ofWorkload,
    output: nothing,
    failures: [...asksEngine, 'does_not_stop'],
  }),
  /** The container's power, and why it ended; null where it runs, never ran, or was stopped by a command. */
  'container.look': look({
    input: ofWorkload,
    output: t.Object({ power: Power, end: t.Union([ContainerEnd, t.Null()]) }),
    failures: ['container_engine_silent'],
  }),
  /** Waits until the instance's SSH answers, at most `limitSeconds`. `off`: the container does not run. */
  'container.await': look({
    input: t.Object({ workload: workloadId, limitSeconds: t.Integer({ minimum: 1, maximum: 900 }) }),
    output: t.Object({ answered: t.Enum(['ssh', 'no', 'off']) }),
    failures: ['container_engine_silent'],
  }),
  /** From now on these keys may log in, and no others. */
  'container.set-keys': act({
    input: t.Object({ workload: workloadId, authorizedKeys }),
    output: nothing,
    failures: [...asksEngine, 'no_container'],
  }),
  /**
   * The last lines that the container has written; with `since`, a cursor of an earlier answer, those that came after
   * it. An answer without `cursor` is of an agent that knows none, and then its text is the last lines all the same.
   */
  'container.logs': look({
    input: t.Object({
      workload: workloadId,
      lines: t.Integer({ minimum: 1, maximum: MOST_LOG_LINES }),
      since: t.Optional(logCursor),
    }),
    output: t.Object({
      text: anyText(MOST_LOG_CHARACTERS),
      truncated: t.Boolean(),
      cursor: t.Optional(logCursor),
    }),
    failures: [...asksEngine, 'no_container'],
  }),
}
