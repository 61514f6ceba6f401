/** The same fields; one that is null is left out. */
export type Given<T> = { [K in keyof T]: null extends T[K] ? Exclude<T[K], null> | undefined : T[K] }

/** The body of an order without the fields that are null: they mean what those mean that are left out. */
export const given = <T extends object>(body: T): Given<T> =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)) as Given<T>
