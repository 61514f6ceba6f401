import { h } from 'preact'
import type { Operation } from '../../src/kernel/api/operation.ts'
import type { Content, Html } from '../../src/kernel/web/html.ts'
import type { At } from '../../src/kernel/web/page.ts'
import { Action, type ActionProps, CallForm, type Calling, idOf, type Params, pathOf } from '../components/action.tsx'

export { idOf, type Params, pathOf }
export type Acting = Omit<ActionProps, 'op' | 'params' | 'label'>

export const callForm = (
  op: Operation,
  params: Params,
  { name = '', ...how }: Calling & { name?: string; redraws?: boolean; atOnce?: boolean },
  inner: Content,
): Html => h(CallForm, { op, params, class: name, ...how, children: inner })

export const act = (_at: At, op: Operation, params: Params, label: string, acting: Acting = {}): Html =>
  h(Action, { op, params, label, ...acting })
