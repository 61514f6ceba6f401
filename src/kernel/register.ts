// The names that features declare, as types: a name that no feature declares does not compile.

/**
 * The declarations of each feature under its name. A feature adds itself next to its values:
 * `declare module '…/kernel/register.ts' { interface Names { lamps: { errors: typeof errors; ids: typeof ids } } }`.
 * `feature()` then takes no value of that name without these fields.
 */
export interface Names {}
/** The declarations in one field of all features, such as `errors`: name → declaration. */
export type Declared<Field extends string> = Intersection<FieldOf<Names[keyof Names], Field>>
type FieldOf<OfFeature, Field extends string> = OfFeature extends Readonly<Record<Field, infer D>> ? D : never
type Intersection<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer I) => void ? I : never

/** The settings of the process, read once at start. */
export interface AppConfig {}
/** Objects that features make beside the database, for operations: name → object. */
export interface Services {}
/** Kind of account → nothing; `access` of operations names them. */
export interface AccountKinds {}
/** A person's choices for the look of pages. */
export interface UiPreferences {}
