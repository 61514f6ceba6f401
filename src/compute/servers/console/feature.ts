import { feature } from '../../../kernel/feature.ts'
import { Consoles } from './consoles.ts'
import { createConsoleTicket } from './create-ticket.ts'
import { consoleEndpoints } from './endpoints.ts'

declare module '../../../kernel/register.ts' {
  interface Services {
    consoles: Consoles
  }
}

export const consoleFeature = feature({
  name: 'console',
  services: ({ clock }) => ({ consoles: new Consoles(clock) }),
  operations: [createConsoleTicket],
  sockets: consoleEndpoints,
})
