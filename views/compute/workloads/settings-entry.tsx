// One entry of the settings of a workload.
import type { ComponentChildren } from 'preact'
import type { Operation } from '../../../src/kernel/api/operation.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'

type SettingProps = {
  /** For addresses that lead to it. */ id?: string
  op: Operation
  title: string
  words: ComponentChildren
  children: ComponentChildren
}
/** Nothing for readers who may not call it. */
export const Setting = ({ id, op, title, words, children }: SettingProps) =>
  useAt().may(op) ? (
    <div id={id}>
      <div class="grow">
        <b>{title}</b>
        <small>{words}</small>
      </div>
      {children}
    </div>
  ) : null
