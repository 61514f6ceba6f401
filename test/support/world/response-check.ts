// Every answer that any test gets is held against what its operation declares: no other status, no field that is not
// said.
import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { allOperations as productOperations } from '../../../src/app/features.ts'
import { type Operation, statusOf } from '../../../src/kernel/api/operation.ts'
import type { EmittedEvent } from '../../../src/kernel/jobs/emitted-event.ts'
import type { Registry } from '../../../src/kernel/registry.ts'

/** The operation behind a call; a path without parameters before one with. */
function finding(operations: readonly Operation[]) {
  const patterns = operations.map((op) => ({ op, path: new RegExp(`^${op.path.replace(/\{\w+\}/g, '[^/]+')}$`) }))
  return (method: string, path: string) =>
    patterns
      .filter(({ op, path: pattern }) => op.method === method && pattern.test(path))
      .toSorted((a, b) => a.op.path.split('{').length - b.op.path.split('{').length)[0]?.op
}
const ofProduct = finding(productOperations)

/** The same schema, that knows no other fields than those it lists. */
export function strict(schema: any): any {
  if (Array.isArray(schema)) return schema.map(strict)
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = Object.fromEntries(Object.entries(schema).map(([k, v]) => [k, strict(v)]))
  return schema.type === 'object' && schema.properties && schema.additionalProperties === undefined
    ? { ...inner, additionalProperties: false }
    : inner
}

const validators = new Map<Operation, Validator>()
const validatorOf = (op: Operation) => {
  const known = validators.get(op) ?? (Compile(strict(op.response) as TSchema) as unknown as Validator)
  validators.set(op, known)
  return known
}

/** Throws for the data of an event that differs from what its type declares. */
export function eventsHeldTo({ events }: Pick<Registry, 'events'>): (tx: unknown, event: EmittedEvent) => void {
  const known = new Map<string, Validator>()
  return (_, { type, data }) => {
    const declared = events[type]
    if (!declared) throw new Error(`${type} is emitted and not declared`)
    const validator = known.get(type) ?? (Compile(strict(declared.data) as TSchema) as unknown as Validator)
    known.set(type, validator)
    if (!validator.Check(data))
      throw new Error(
        `${type} carries what it does not declare: ${JSON.stringify([...validator.Errors(data)].slice(0, 3))}`,
      )
  }
}

/** Ids of the operations that have answered in this process. */
export const answered = new Set<string>()

/**
 * Holds responses of a panel with these operations to their declarations: throws when one that is no refusal differs.
 */
export function declarationsOf(operations: readonly Operation[]) {
  const operationAt = operations.length === productOperations.length ? ofProduct : finding(operations)
  return (method: string, path: string, status: number, body: unknown) =>
    holdTo(operationAt(method, path.split('?')[0]!), status, body)
}

function holdTo(op: Operation | undefined, status: number, body: unknown) {
  if (status >= 300) return
  if (!op) return
  answered.add(op.id)
  const expected = op.dryRun && status === 200 ? 200 : statusOf(op, body)
  if (status !== expected) throw new Error(`${op.id} answered ${status} and declares ${expected}`)
  const validator = validatorOf(op)
  if (!validator.Check(body))
    throw new Error(
      `${op.id} answered what it does not declare: ${JSON.stringify([...validator.Errors(body)].slice(0, 3))}`,
    )
}
