import { feature } from '../../kernel/feature.ts'
import { serverEvents } from './events.ts'
import { serverCounts, servers } from './tables.ts'

const errors = {
  server_not_found: { status: 404, when: 'There is no such server, or it is not yours.', remedy: 'Check the id.' },
  not_set_up: {
    status: 409,
    when: 'The server waits for its setup: nothing is installed yet.',
    remedy: 'Set it up first.',
  },
  server_busy: { status: 409, when: 'A job holds the server.', remedy: 'Follow that job, then try again.' },
  server_suspended: {
    status: 409,
    when: 'The server is suspended.',
    remedy: 'Have it unsuspended first; a customer asks the provider.',
  },
  server_terminated: { status: 409, when: 'The server is terminated.', remedy: 'Nothing: it no longer exists.' },
  server_failed: { status: 409, when: "The server's installation failed.", remedy: 'Reinstall or terminate it.' },
  server_protected: {
    status: 409,
    when: 'The server is protected against this.',
    remedy: 'Take the protection off first.',
  },
  not_terminated: {
    status: 409,
    when: 'The server is not terminated, so there is nothing to bring back.',
    remedy: 'Treat it as done.',
  },
  already_suspended: {
    status: 409,
    when: 'The server, GPU instance or reseller is already suspended.',
    remedy: 'Treat it as done.',
  },
  not_suspended: {
    status: 409,
    when: 'The server, GPU instance or reseller is not suspended.',
    remedy: 'Treat it as done.',
  },
  already_running: { status: 409, when: 'The server or GPU instance is already running.', remedy: 'Treat it as done.' },
  already_stopped: { status: 409, when: 'The server or GPU instance is already stopped.', remedy: 'Treat it as done.' },
  already_set_up: {
    status: 409,
    when: 'The server is already set up.',
    remedy: 'Reinstall it if you want another system.',
  },
  already_in_rescue: { status: 409, when: 'The server is in rescue already.', remedy: 'Treat it as done.' },
  not_in_rescue: { status: 409, when: 'The server is not in rescue.', remedy: 'Treat it as done.' },
} as const

const ids = {
  server: { prefix: 'srv', sample: 'web01' },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    'server-records': { ids: typeof ids; events: typeof serverEvents; errors: typeof errors }
  }
}

/** The records of servers, below every feature that does something with one. */
export const serverRecordsFeature = feature({
  name: 'server-records',
  ids,
  errors,
  events: serverEvents,
  tables: [servers, serverCounts],
})
