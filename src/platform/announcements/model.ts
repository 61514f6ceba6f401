// The readers and the levels of an announcement.
export const audiences = ['everybody', 'customers', 'resellers', 'staff'] as const
export type Audience = (typeof audiences)[number]
export const levels = ['info', 'warn', 'bad'] as const
export type Level = (typeof levels)[number]
