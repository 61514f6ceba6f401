// The names that features declare, as types. A feature adds its own next to its values: `declare module
// '…/kernel/register.ts' { interface EventTypes extends Events {} }`, so an unknown name does not compile.

/** The settings of the process, read once at start. */
export interface AppConfig {}
/** Objects that features make beside the database, for operations: name → object. */
export interface Services {}
/** Kind of a thing with an id → its prefix. */
export interface IdKinds {}
/** Rights of tokens: name of the scope → its declaration. */
export interface ScopeNames {}
/** Rights of staff roles: name of the permission → its declaration. */
export interface PermissionNames {}
/** Code of a refusal → its declaration. */
export interface ErrorCodes {}
/** Name of the event → its declaration. */
export interface EventTypes {}
/** Kind of notice → its declaration. */
export interface NoticeKinds {}
/** Kind of account → nothing; `access` of operations names them. */
export interface AccountKinds {}
/** A person's choices for the look of pages. */
export interface UiPreferences {}
