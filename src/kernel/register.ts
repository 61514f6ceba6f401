// The names that features declare, as types. A feature adds its own next to its values:
// `declare module '…/kernel/register.ts' { interface EventTypes extends Events {} }`, so an unknown name does not compile.

/** Code of a refusal → its declaration. */
export interface ErrorCodes {}
/** Name of the event → its declaration. */
export interface EventTypes {}
