// A visit to the console in the audit log: the ticket, the beginning and the end are lines of their own.

export const CREATE_TICKET = 'consoles.create-ticket'
/** Names of the audit lines of a console's beginning and end: no operation is called for them. */
export const CONSOLE_OPENED = 'consoles.opened'
export const CONSOLE_CLOSED = 'consoles.closed'

/** Steps of a visit, for which the line of its beginning stands wherever one line is enough. */
export const steps = [CREATE_TICKET, CONSOLE_CLOSED] as const
export const isStep = ({ operation, result }: { operation: string; result: string }) =>
  result === 'done' && (steps as readonly string[]).includes(operation)
