// Goods of the catalogue in lists: on sale or archived, and the entry of their menu that changes it.
import type { Operation } from '../../src/kernel/api/operation.ts'
import { Action } from '../components/action.tsx'
import { State } from '../components/state.tsx'

type ShownPrice = { amount: string; currency: string; per: 'hour' | 'month' } | null
/** `12.50 EUR per month` */
export const priceWords = ({ amount, currency, per }: NonNullable<ShownPrice>) => `${amount} ${currency} per ${per}`

/** On a line of its own; nothing where none is shown. */
export const Price = ({ of }: { of: ShownPrice }) =>
  of && (
    <>
      <br />
      <b>{priceWords(of)}</b>
    </>
  )

type Goods = { id: string; name: string; archived: boolean }

export const GoodsState = ({ of }: { of: Pick<Goods, 'archived'> }) =>
  of.archived ? (
    <State tone="idle" shape="hold">
      Archived
    </State>
  ) : (
    <State tone="ok" shape="dot">
      On sale
    </State>
  )

/** `op`: the operation that changes the goods. `consequences`: of archiving them. `restored`: said afterwards. */
export const ArchiveEntry = ({
  op,
  of,
  consequences,
  keep = 'Keep on sale',
  restored = `${of.name} is on sale`,
}: {
  op: Operation
  of: Goods
  consequences: readonly (string | false)[]
  keep?: string
  restored?: string
}) =>
  of.archived ? (
    <Action
      op={op}
      params={{ id: of.id }}
      label="Restore"
      of={of.name}
      inMenu
      body={{ archived: false }}
      done={restored}
    />
  ) : (
    <Action
      op={op}
      params={{ id: of.id }}
      label="Archive"
      of={of.name}
      inMenu
      body={{ archived: true }}
      title={`Archive ${of.name}?`}
      done={`${of.name} is archived`}
      confirm={{ keep, consequences: [...consequences, 'It can be restored.'] }}
    />
  )
