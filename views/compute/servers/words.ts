// Why a button of a server is off, and what destroying one destroys, in words.

import type { getServer } from '../../../src/compute/servers/list.ts'
import { type Content, html } from '../../../src/kernel/web/html.ts'
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

export const whatGoes = (server: Server): Content[] => [
  server.image && html`The disk with ${exactGb(server.diskGb)} and everything on it is deleted.`,
  server.addresses.length > 0 &&
    html`${list(server.addresses.map((a) => a.address))} ${server.addresses.length === 1 ? 'is' : 'are'} given back and may go to another server.`,
  html`${server.owner.name} does not see it any more, at once.`,
  'This cannot be undone.',
]
