// Why a button of a server is off, and what destroying one destroys, in words.
import type { ComponentChildren } from 'preact'
import type { getServer } from '../../../src/compute/servers/list.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { exactGb, list } from '../../components/words.ts'

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

/** What this reader can do about it. */
function next({ status, allowed }: Server): string {
  if (status === 'suspended') return allowed.includes('unsuspend') ? ' Unsuspend it first.' : ' Ask your provider.'
  if (status !== 'failed' || !allowed.includes('reinstall')) return ''
  return allowed.includes('terminate') ? ' Reinstall or terminate it.' : ' Reinstall it.'
}

/** What the server allows comes with its answer; this adds the words. */
export function disabledReason(server: Server, action: string): string | undefined {
  if (server.job) return 'A job is working on it. Wait until it has ended.'
  if (server.allowed.includes(action)) return undefined
  if (server.protected && (action === 'terminate' || action === 'reinstall')) return 'It is protected.'
  return `${because[server.status]}${next(server)}`
}

/** What terminating the server destroys. */
export const whatGoes = (server: Server): ComponentChildren[] => [
  server.image && `The disk with ${exactGb(server.diskGb)} and everything on it is deleted.`,
  server.addresses.length > 0 &&
    `${list(server.addresses.map((a) => a.address))} ${server.addresses.length === 1 ? 'is' : 'are'} given back and may go to another server.`,
  `${server.owner.name} does not see it any more, at once.`,
  'This cannot be undone.',
]
