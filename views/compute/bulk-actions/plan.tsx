// The plan of an action for many: how many it can be done to, why not to the others, and the button that begins it.
import type { ComponentChildren } from 'preact'
import { MOST_ON_NODE } from '../../../src/compute/bulk-actions/advance.ts'
import { listCustomers } from '../../../src/identity/customers/customers.ts'
import { type Answers, type At, ifAllowed, orRefused, page } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { CallForm, TypeToConfirm } from '../../components/action.tsx'
import { Field } from '../../components/field.tsx'
import { Head } from '../../components/head.tsx'
import { Link } from '../../components/link.tsx'
import { Empty, Note, Section } from '../../components/section.tsx'
import { Table } from '../../components/table.tsx'
import { count } from '../../components/words.ts'
import { Reasons } from './reasons.tsx'
import { type Many, manyInstances, manyServers, type Way } from './ways.ts'

/** From so many on, what stops servers asks for their number. */
const TYPED_FROM = 10
const CUSTOMERS_SHOWN = 10

const readsOf = (of: Many) => ({
  plan: orRefused(of.plan, ({ query: { find: _, ...query } }: At) => ({ query })),
  customers: ifAllowed(listCustomers, ({ query }: At) => ({
    query: { limit: String(CUSTOMERS_SHOWN), ...(query['find'] && { q: query['find'] }) },
  })),
})
type Data = Answers<ReturnType<typeof readsOf>>
type Plan = Exclude<Data['plan'], { refused: unknown }>

const planPageOf = (of: Many) =>
  page({
    path: of.path,
    reads: readsOf(of),
    title: ({ plan }) => ('refused' in plan ? of.title : `${plan.title}?`),
    nav: of.nav,
    view: (data) => <PlanPage of={of} {...data} />,
  })
export const planPages = [planPageOf(manyServers), planPageOf(manyInstances)]

function PlanPage({ of, plan, customers }: Data & { of: Many }) {
  const { query } = useAt()
  const way = of.ways[query['do'] ?? ''] ?? Object.values(of.ways)[0]!
  if ('refused' in plan)
    return (
      <>
        <Head title={of.title} trail={[[of.title, of.list]]} />
        <Note level="warn" action={<Link href={of.list}>Back to the list</Link>}>
          {plan.refused.message}
        </Note>
      </>
    )
  const mustChoose = way.field === 'owner' && !query['to']
  return (
    <>
      <Head title={`${plan.title}?`} trail={[[of.title, of.list]]} />
      {plan.counts.all === 0 ? (
        <Empty>None of the {of.many} matches this choice.</Empty>
      ) : mustChoose ? (
        <NewOwner customers={customers} />
      ) : (
        <>
          <Section id="plan" title="What happens" first>
            <ul class="will">
              {consequences(of, way, plan).map((words) => (
                <li>{words}</li>
              ))}
            </ul>
          </Section>
          <Reasons of={plan} title={`Not possible for ${plan.counts.refused}`} words="Nothing is done to them." />
          {plan.counts.waiting > 0 && <Begin of={of} way={way} plan={plan} />}
        </>
      )}
    </>
  )
}

function consequences(of: Many, way: Way, { counts, busy }: Plan): ComponentChildren[] {
  const can = counts.waiting
  if (!can) return [`Nothing: it is not possible for any of them.`]
  const slowly = way.op.id.endsWith('.power-many') || way.op.id.endsWith('.unsuspend-many')
  return [
    `${way.label}: ${count(can, of.one, of.many)}. ${way.effect ?? ''}`,
    slowly && `At most ${MOST_ON_NODE} at a time on each node, and a node takes one more each second.`,
    busy > 0 && `${count(busy, of.one, of.many)} wait until a job of their own has ended.`,
    `Each is checked again when its turn comes. What could not be done is listed with the reason.`,
  ].filter((words) => words !== false)
}

/** The selection of the page's address, as the operation takes it. */
function selectionIn({ query }: At): object {
  const { do: _, to: __, find: ___, ids, ...filter } = query
  return ids ? { ids: ids.split(',') } : { filter: Object.fromEntries(Object.entries(filter).filter(([, v]) => v)) }
}

function Begin({ of, way, plan }: { of: Many; way: Way; plan: Plan }) {
  const at = useAt()
  const isTyped = way.stops && plan.counts.waiting >= TYPED_FROM
  const to = at.query['to']
  return (
    <Section id="begin" title="Begin" quiet>
      <CallForm
        op={way.op}
        body={{
          ...selectionIn(at),
          ...{ expected: plan.counts.all },
          ...way.body,
          ...(way.field === 'owner' && { ownerId: to }),
        }}
        leadsTo="/admin/bulk-actions/{id}"
        class="stack narrow"
      >
        {way.field === 'reason' && (
          <Field scope="many" name="reason" label="Reason" required hint="Their owners read it." />
        )}
        {way.field === 'label' && (
          <Field scope="many" name="add.0" label="Add the label" required hint="Only staff read it." />
        )}
        {isTyped && <TypeToConfirm id="many-n" text={String(plan.counts.waiting)} />}
        <div class="bar">
          <button class={`btn pri${way.stops ? ' bad' : ''}`} disabled={isTyped} data-gated={isTyped ? '' : undefined}>
            {way.label}: {count(plan.counts.waiting, of.one, of.many)}
          </button>
          <Link class="btn" href={of.list}>
            Cancel
          </Link>
        </div>
      </CallForm>
    </Section>
  )
}

function NewOwner({ customers }: { customers: Data['customers'] }) {
  const at = useAt()
  const { find = '', ...rest } = at.query
  const choice = (to: string) => `${at.path}?${new URLSearchParams({ ...rest, to })}`
  return (
    <Section id="owner" title="New owner" first flush>
      <form class="tools" role="search" action={at.path} method="get">
        {Object.entries(rest).map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <label class="bar">
          Find customer
          <input name="find" value={find} type="search" autocomplete="off" placeholder="Name or e-mail" />
        </label>
        <button class="btn">Find</button>
      </form>
      <Table
        label="Customers"
        rows={customers?.data ?? []}
        idOf={({ id }) => id}
        columns={[
          { title: 'Customer', kind: 'name', width: 40, cell: ({ name }) => name },
          { title: 'E-mail', kind: 'addr', width: 40, cell: ({ email }) => email },
          {
            title: 'Actions',
            kind: 'a',
            width: 20,
            cell: ({ id, name }) => (
              <Link class="btn s" href={choice(id)} aria-label={`Choose ${name}`}>
                Choose
              </Link>
            ),
          },
        ]}
      />
    </Section>
  )
}
