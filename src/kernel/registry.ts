// The registry of a controller: every central table of the product, derived from the list of its features.
import { migrations } from '../../migrations/index.ts'
import { isScope, type Rights } from './api/access.ts'
import type { ErrorTable } from './api/errors.ts'
import type { Operation } from './api/operation.ts'
import { completing } from './declared-names.ts'
import type { Feature, Route, RouteParts, ServiceParts } from './feature.ts'
import type { SocketEndpoint } from './net/socket-endpoint.ts'
import { sampling } from './openapi/sample.ts'
import type { Services } from './register.ts'

declare module './api/operation.ts' {
  interface AppContext {
    /** All that the features of this controller declare. */
    registry: Registry
  }
}

export type Registry = ReturnType<typeof assemble>

/**
 * Every central table of the product, derived from the list of its features. Throws where two features declare the same
 * name.
 */
export function assemble(features: readonly Feature[]) {
  const all = <T>(of: (one: Feature) => readonly T[] | undefined): T[] => features.flatMap((one) => of(one) ?? [])
  const merged = <T>(what: string, of: (one: Feature) => Readonly<Record<string, T>> | undefined) => {
    const table: Record<string, T> = {}
    for (const one of features)
      for (const [name, value] of Object.entries(of(one) ?? {})) {
        if (Object.hasOwn(table, name)) throw new Error(`two features declare the ${what} ${name}`)
        table[name] = value
      }
    return table
  }
  const errors = merged('error code', (one) => one.errors) as ErrorTable
  const ids = merged('kind of id', (one) => one.ids)
  const samples = merged('sample', (one) => one.samples)
  const prefixes = Object.values(ids).map(({ prefix }) => prefix)
  for (const prefix of prefixes)
    if (prefixes.indexOf(prefix) !== prefixes.lastIndexOf(prefix))
      throw new Error(`two features declare the id prefix ${prefix}`)
  const scopes = merged('scope', (one) => one.scopes) as Rights['scopes']
  const permissions = merged('permission', (one) => one.permissions) as Rights['permissions']
  for (const name in permissions) if (isScope(name)) throw new Error(`the permission ${name} is called like a scope`)
  for (const [name, { opens }] of Object.entries(permissions))
    for (const scope of opens)
      if (!Object.hasOwn(scopes, scope)) throw new Error(`the permission ${name} opens ${scope}, which nobody declares`)
  for (const one of features) one.check?.(features, errors)
  const allOperations = all((one) => one.operations)
  const byId = new Map(allOperations.map((op) => [op.id, op]))
  const featureById = new Map(features.flatMap((one) => (one.operations ?? []).map(({ id }) => [id, one] as const)))
  return {
    features,
    /** The operation of this id. */
    operation: (id: string): Operation | undefined => byId.get(id),
    /** The feature that declares the operation of this id. */
    featureOf: (id: string): Feature | undefined => featureById.get(id),
    /** Includes operations that exist on the controller's host only. */
    allOperations,
    /** The API. */
    operations: allOperations.filter((op) => !op.localOnly),
    ids,
    samples,
    /** Examples for the reference. */
    examples: sampling(ids, samples),
    errors,
    /** Causes of failed jobs. */
    failures: merged('failure', (one) => one.failures),
    scopes,
    permissions,
    tables: all((one) => one.tables),
    expiring: all((one) => one.expiring),
    /** Every migration in the order of its application. */
    migrations: [...migrations, ...all((one) => one.migrations)],
    encrypted: all((one) => one.encrypted),
    jobs: all((one) => one.jobs),
    events: merged('event', (one) => one.events),
    onEvent: features.flatMap(({ onEvent }) => onEvent ?? []),
    schedule: all((one) => one.schedule),
    starts: features.flatMap(({ starts }) => starts ?? []),
    /** The services of every feature. */
    services: (parts: ServiceParts) => Object.assign({}, ...features.map((one) => one.services?.(parts))) as Services,
    routes: (parts: RouteParts): Route[] => all((one) => one.routes?.(parts)),
    sockets: (parts: RouteParts): SocketEndpoint[] => all((one) => one.sockets?.(parts)),
    pages: all((one) => one.pages),
    nav: all((one) => one.nav),
    actions: all((one) => one.actions),
    deliveries: all((one) => one.deliveries),
    /** The schema with the names in it that features declare. */
    complete: completing(features),
  }
}
