// The steps that an account of each kind does once. Facts tick a step; an actor sees a step only if it may call its
// operation.
import type { AccountKind } from '../../kernel/api/access.ts'
import { mayCall, type Operation, type ReadContext } from '../../kernel/api/operation.ts'
import type { Step } from '../../kernel/attention.ts'

export type ChecklistStep = {
  /** Kinds of account that do it. */
  kinds: readonly AccountKind[]
  /** Smaller comes first. */
  position: number
  /** The operation that does it: an actor who may not call it does not see the step. */
  by: Operation
  title: string
  words: string
  done(call: ReadContext): boolean
  href(call: ReadContext): string
}

declare module '../../kernel/feature.ts' {
  interface FeatureFields {
    /** Steps of setting up that the overview shows until they are done. */
    checklist?: readonly ChecklistStep[]
  }
}

export const checklistFor = (call: ReadContext): Step[] =>
  call.registry.features
    .flatMap(({ checklist = [] }) => checklist)
    .filter(({ kinds, by }) => kinds.includes(call.actor.kind) && mayCall(by, call.actor))
    .toSorted((a, b) => a.position - b.position)
    .map(({ title, words, done, href }) => ({ title, words, done: done(call), href: href(call) }))
