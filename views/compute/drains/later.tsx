// Choices for the servers of a node, and its drain at a time of your choice: both are kept in the plan.
import { chooseInPlan } from '../../../src/compute/drains/plan/choose.ts'
import { scheduleDrain, unscheduleDrain } from '../../../src/compute/drains/plan/later.ts'
import type { planOfNode } from '../../../src/compute/drains/plan/node-plan.ts'
import type { Answers } from '../../../src/kernel/web/page.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action, CallForm } from '../../components/action.tsx'
import { Check, Field, MomentField, Select } from '../../components/field.tsx'
import { Link } from '../../components/link.tsx'
import { Note, Section } from '../../components/section.tsx'
import { Exact } from '../../components/time.tsx'
import { modeWords } from '../transfers/words.tsx'

type Plan = Answers<{ plan: typeof planOfNode }>['plan']
type PlannedServer = Plan['servers'][number]
/** The last one of the node. */
type LastDrain = { finishedAt: string | null } | undefined
type Scheduled = Plan['scheduled']

const planPath = ({ node }: Plan) => `/admin/nodes/${node.id}/drain`

/** Leads to the choice for a server, and says what was chosen. */
export const Choose = ({ of: { choice, id, hostname }, plan }: { of: PlannedServer; plan: Plan }) => (
  <Link class="btn s" href={`${planPath(plan)}?choose=${id}#choose`}>
    {choice ? 'Change' : 'Choose'}
    <span class="sr"> for {hostname}</span>
  </Link>
)

/** How the server of the address is to leave: kept until a drain of the node begins. */
export function ChooseForm({ plan }: { plan: Plan }) {
  const asked = useAt().query['choose']
  const one = plan.servers.find(({ id, kind }) => id === asked && kind === 'server')
  if (!one) return null
  const { choice, id, hostname } = one
  const scope = `choose-${id}`
  return (
    <Section
      id="choose"
      title={`How does ${hostname} leave ${plan.node.name}?`}
      words="It is kept, also for a drain that begins later."
    >
      <CallForm
        op={chooseInPlan}
        params={{ id: plan.node.id, serverId: id }}
        class="stack"
        done={`Kept for ${hostname}`}
        leadsTo={planPath(plan)}
      >
        <Select
          scope={scope}
          name="mode"
          label="How"
          nullable
          value={choice?.mode ?? ''}
          options={[
            { value: '', label: 'as nothing speaks against' },
            ...(['live', 'near_live', 'cold'] as const).map((value) => ({ value, label: modeWords[value] })),
          ]}
        />
        <Select
          scope={scope}
          name="nodeId"
          label="Goes to"
          nullable
          value={choice?.node?.id ?? ''}
          options={[
            { value: '', label: 'placement chooses' },
            ...nodesFor(plan, choice).map(({ id, name }) => ({ value: id, label: name })),
          ]}
        />
        <Field
          scope={scope}
          name="place"
          label="Place"
          as="number"
          nullable
          min={1}
          value={choice?.place?.toString()}
          hint="Those with a place move first, in its order. Left empty: in the order of the plan."
        />
        <Check scope={scope} name="leave" label="It stays here" checked={choice?.leave} />
        <div class="bar">
          <button class="btn pri">Keep it</button>
          <Link class="btn" href={planPath(plan)}>
            Leave it as it is
          </Link>
        </div>
      </CallForm>
    </Section>
  )
}

/** The one that was chosen stays among them when it takes no servers any more. */
const nodesFor = ({ targets }: Plan, choice: PlannedServer['choice']) =>
  choice?.node && !targets.some(({ id }) => id === choice.node!.id) ? [...targets, choice.node] : targets

export const choiceWords = ({ leave, mode, node, place }: NonNullable<PlannedServer['choice']>) =>
  leave
    ? 'stays'
    : [mode && modeWords[mode], node && `to ${node.name}`, place !== null && `place ${place}`]
        .filter(Boolean)
        .join(', ')

export const Later = ({ plan: { node, totals, scheduled }, drain }: { plan: Plan; drain: LastDrain }) => (
  <Action
    op={scheduleDrain}
    params={{ id: node.id }}
    label={scheduled?.startsAt ? 'Change time' : 'Start later'}
    icon="wait"
    wide
    disabledReason={
      (totals.servers === 0 && 'No server is on it.') ||
      (drain?.finishedAt === null && 'A drain of it is under way already.')
    }
    title={`Drain ${node.name} at a time?`}
    submit="Keep it"
    done={`The drain of ${node.name} begins by itself`}
    confirm={{
      keep: 'Leave it as it is',
      consequences: [
        'Until then the node stays open, and nothing is held. Each server is planned again at that time.',
        'The choices on this page hold then.',
        'Owners are told by Tell owners alone. Whoever was told is told of another time too.',
      ],
    }}
    fields={
      <>
        <MomentField scope="later" name="startsAt" label="Begins" iso={scheduled?.startsAt ?? undefined} />
        <Field
          scope="later"
          name="reason"
          label="Reason"
          value={scheduled?.reason}
          hint="Your colleagues read it on the page of the node."
        />
        <Select
          scope="later"
          name="onFailure"
          label="When a server cannot move"
          value={scheduled?.onFailure ?? 'continue'}
          options={[
            { value: 'continue', label: 'go on with the others' },
            { value: 'pause', label: 'pause and wait for a person' },
          ]}
        />
      </>
    }
  />
)

/** On the plan, and on the page of the node. */
export function ScheduledNote({ of, node, links }: { of: Scheduled; node: Plan['node']; links?: boolean }) {
  if (!of) return null
  return (
    <Note
      level={of.error ? 'bad' : 'info'}
      action={
        links ? (
          <Link class="btn" to="/admin/nodes/{id}/drain" params={{ id: node.id }}>
            Open plan
          </Link>
        ) : (
          <Action
            op={unscheduleDrain}
            params={{ id: node.id }}
            label="Take it back"
            title={`Do not drain ${node.name} by itself?`}
            done={`The drain of ${node.name} does not begin by itself`}
            confirm={{
              keep: 'Leave it as it is',
              consequences: ['The choices of the plan stay.', 'Owners who were told of it are not told again.'],
            }}
          />
        )
      }
    >
      {of.startsAt ? (
        <>
          <strong>
            Its drain begins by itself <Exact iso={of.startsAt} />,
          </strong>{' '}
          as {of.by.name} chose.{of.reason && ` Reason: ${of.reason}`}
        </>
      ) : (
        <>
          <strong>Its drain did not begin at its time.</strong> {of.error}
        </>
      )}
    </Note>
  )
}
