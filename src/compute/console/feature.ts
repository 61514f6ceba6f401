import { feature } from '../../kernel/feature.ts'
import { Consoles } from './consoles.ts'
import { createConsoleTicket } from './create-ticket.ts'
import { consoleEndpoints } from './endpoints.ts'

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
  failures,
  services: ({ clock }) => ({ consoles: new Consoles(clock) }),
  operations: [createConsoleTicket],
  sockets: consoleEndpoints,
})
