// The timeline of a workload is merged from sources that features declare.
import type { ReadContext } from '../../kernel/api/operation.ts'
import type { Deciding } from './queries.ts'

/** The kinds of entries, with the word by which a list is narrowed to them. */
export const timelineKinds = {
  change: 'Changes',
  job: 'Jobs',
  alert: 'Alerts',
  crash: 'Unexpected ends',
} as const
export type TimelineKind = keyof typeof timelineKinds

export type TimelineEntry = {
  id: string
  /** In ms. */
  at: number
  kind: TimelineKind
  /** The operation that was called, and which of several things it did; its words are those of the audit log. */
  operation: string | null
  action: string | null
  /** A sentence, where no operation says it. */
  title: string | null
  /** Null where nobody did it, or the reader may not know. */
  who: { name: string; you: boolean } | null
  from: string | null
  /** `done`, `fired`, `recovered`, the state of a job, or the code of a refusal. */
  result: string
  jobId: string | null
  /** The end of what lasts, such as a visit to the console, as ISO 8601. */
  until?: string | null
  /** Stands in place of the entry that its job has by itself, for readers who see that. */
  ofJob?: true
}
/** A span of time in ms; `most` entries of it, the newest. */
export type TimelineSpan = { from: number; to: number; most: number }
/** Answers only what this reader may know, newest first. */
export type TimelineSource = (call: ReadContext, workload: Deciding, span: TimelineSpan) => readonly TimelineEntry[]

declare module '../../kernel/feature.ts' {
  interface FeatureFields {
    timeline?: readonly TimelineSource[]
  }
}
