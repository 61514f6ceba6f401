import { h } from 'preact'
import { type Html, html } from '../../src/kernel/web/html.ts'
import type { Attention, Step } from '../../src/platform/overview/attention.ts'
import { Checklist, NeedsAttention } from '../platform/overview/attention.tsx'

type Given = { attention: readonly Attention[]; checklist: readonly Step[]; checkedAt: string }
export const attentionAndChecklist = ({ attention, checklist, checkedAt }: Given, _at: unknown, title: string): Html =>
  html`${h(NeedsAttention, { of: attention, checkedAt })}${h(Checklist, { steps: checklist, title })}`
