/** Does a system have the addresses that it was to be told? `given_up`: no guest agent has answered in time. */
export const switchStates = ['waiting', 'done', 'given_up'] as const
