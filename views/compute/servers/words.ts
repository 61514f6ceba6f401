// Why a button of a server is off, and what destroying one destroys, in words.

import type { ComponentChildren } from 'preact'
import type { getServer } from '../../../src/compute/servers/list.ts'
import { transferActions } from '../../../src/compute/transfers/states.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { firewallActions } from '../../../src/network/firewalls/states.ts'
import { exactGb, list } from '../../components/words.ts'
import { whileSuspended, whyDisabled } from '../workloads/words.ts'

export type Server = Answers<{ server: typeof getServer }>['server']

const because: Record<Server['status'], string> = {
  provisioning: 'It is being installed.',
  pending_setup: 'It is waiting for its setup.',
  running: 'It is running.',
  stopped: 'It is stopped.',
  suspended: 'It is suspended.',
  failed: 'Its installation failed.',
  terminated: 'It was terminated.',
}

/** The next step that this reader can take. */
function next({ status, allowed }: Server): string {
  if (status === 'suspended') return whileSuspended({ allowed })
  if (status !== 'failed') return ''
  if (!allowed.includes('reinstall')) return allowed.includes('terminate') ? ' Terminate it.' : ''
  return allowed.includes('terminate') ? ' Reinstall or terminate it.' : ' Reinstall it.'
}

/** The words for an action that the server's record does not list as allowed; undefined for one that it lists. */
export const disabledReason = (server: Server, action: string): string | undefined =>
  whyDisabled(server, action, () => (server.protected && action === 'reinstall' ? 'It is protected.' : ofState(server)))
const ofState = (server: Server) => `${because[server.status]}${next(server)}`

/** The reason that the mail gives; nobody with whom the server is shared is told it. */
export const suspensionWords = ({ suspendReason }: Pick<Server, 'suspendReason'>): string =>
  suspendReason ? `${suspendReason.replace(/\.$/, '')}.` : 'Its owner knows the reason.'

/** The words for an action that the server's state refuses, of those that its record does not list. */
export const refusedBy = (server: Server, action: keyof typeof unlisted): string | undefined =>
  unlisted[action][server.status] === 'allowed' ? undefined : ofState(server)
const unlisted = {
  count_firewall: firewallActions.table.count_firewall,
  move: transferActions.table.move,
  relocate: transferActions.table.relocate,
} as const

/** The consequences of a termination, for its dialog. */
export const whatGoes = (server: Server): ComponentChildren[] => [
  server.image &&
    `The disk with ${exactGb(server.diskGb)}, everything on it and its snapshots are deleted when the undelete ` +
      'window ends.',
  server.addresses.length > 0 &&
    `${list(server.addresses.map((a) => a.address))} ${server.addresses.length === 1 ? 'is' : 'are'} released ` +
      'with the disk, and may then go to another server.',
  `${server.owner.name} loses access immediately.`,
  'Extra volumes stay with their owner, detached, and count on until they are deleted.',
  'Until the window ends, which Settings says, the provider can bring it back.',
]

const rate = (mbps: number | null) => (mbps === null ? 'not limited' : `${mbps.toLocaleString('en')} Mbit/s`)
/** The port's speed: once where both directions are the same. */
export const speedWords = ({ portInMbps, portOutMbps }: Server['speed']): string =>
  portInMbps === portOutMbps
    ? rate(portInMbps).replace('not', 'Not')
    : `In ${rate(portInMbps)}, out ${rate(portOutMbps)}`
