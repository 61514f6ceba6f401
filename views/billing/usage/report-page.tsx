// The page of a report of a month: its months, its filters and the table of its lines, in every part of the panel.
import type { ComponentChildren } from 'preact'
import type { Static, TSchema } from 'typebox'
import type { Page } from '../../../src/kernel/api/list.ts'
import type { Operation } from '../../../src/kernel/api/operation.ts'
import { type Area, inEveryArea } from '../../components/area.ts'
import { Head } from '../../components/head.tsx'
import { List } from '../../components/list.tsx'
import { Empty } from '../../components/section.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { MonthTabs } from './month.tsx'

type Owner = { id: string; name: string; externalId: string | null }
export type LineOf<A extends TSchema> = Static<A> extends { data: readonly (infer Line)[] } ? Line : never

type Report<A extends TSchema> = {
  path: `/usage${string}`
  title: string
  op: Operation<unknown, any, A, 'GET'>
  noun: string
  plural?: string
  /** A sentence for a month without a line. */
  none: string
  actions?(area: Area): ComponentChildren
  sub(area: Area): ComponentChildren
  /** Filters before those of the account and its reseller. `first`: the first line. */
  filters?(first: LineOf<A> | undefined): readonly { name: string; label: string; value: string }[]
  /** False: its lines say nothing of resellers. */
  ofResellers?: false
  idOf?(line: LineOf<A>): string
  /** Its columns take what they need; left out: their widths are percentages. */
  flow?: true
  columns(area: Area): readonly Column<LineOf<A>>[]
}

/** Its page in the area of each kind of account. */
export const usageReportPages = <A extends TSchema>({ path, title, op, columns, ...report }: Report<A>) =>
  inEveryArea({
    path,
    reads: { lines: op },
    title,
    nav: 'reports',
    view: ({ lines: answer }, area) => {
      // Each line has its owner, whatever else it says.
      const lines = answer as Page<LineOf<A> & { owner: Owner }>
      const first = lines.data[0]
      return (
        <>
          <Head title={title} actions={report.actions?.(area)} sub={<span>{report.sub(area)}</span>} />
          <MonthTabs />
          <List
            of={lines}
            noun={report.noun}
            {...(report.plural && { plural: report.plural })}
            filters={[
              ...(report.filters?.(first) ?? []),
              { name: 'ownerId', label: 'Account', value: first?.owner.name ?? 'one' },
              report.ofResellers !== false && { name: 'resellerId', label: 'Reseller', value: 'one' },
            ]}
            empty={<Empty>{report.none}</Empty>}
            emptyWhenFiltered={report.none}
          >
            <Table
              label={title}
              rows={lines.data}
              columns={columns(area)}
              {...(report.idOf && { idOf: report.idOf })}
              {...(report.flow && { stick: true, flow: true })}
            />
          </List>
        </>
      )
    },
  })

type Owned = { owner: Owner }
/** The owner of a line and the billing system's own identifier of it, for those who have customers. */
export const ownerColumn = (area: Area): Column<Owned>[] =>
  area === ''
    ? []
    : [
        {
          title: 'Owner',
          kind: 'addr',
          width: 16,
          cell: ({ owner }) => (
            <>
              {owner.name}
              {owner.externalId && <small class="mono"> {owner.externalId}</small>}
            </>
          ),
        },
      ]

type ProductProps = { of: { name: string | null; billingProductId: string | null }; none: string }
/** A package or an offer; `none`: the words for a workload that has none. */
export const Product = ({ of: { name, billingProductId }, none }: ProductProps) => (
  <>
    {name ?? none}
    {billingProductId && <small class="mono"> {billingProductId}</small>}
  </>
)
