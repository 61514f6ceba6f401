import { feature } from '../../kernel/feature.ts'
import { Consoles } from './consoles.ts'
import { createConsoleTicket } from './create-ticket.ts'
import { consoleEndpoints } from './endpoints.ts'
import { consoleActions } from './states.ts'

declare module '../../kernel/register.ts' {
  interface Services {
    consoles: Consoles
  }
}

/** Causes of failed jobs, in words for everybody. */
const failures = {
  no_serial_line: 'The server was started without a serial line.',
} as const

export const consoleFeature = feature({
  name: 'console',
  workloadActions: [consoleActions],
  failures,
  services: ({ clock }) => ({ consoles: new Consoles(clock) }),
  operations: [createConsoleTicket],
  sockets: consoleEndpoints,
})
