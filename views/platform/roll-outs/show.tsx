// A roll-out: its waves, the node at which it stopped, and the ways on.
import type { AssetName } from '../../../public/assets.ts'
import { page } from '../../../src/kernel/web/page.ts'
import {
  continueRollOut,
  leaveNodeOut,
  pauseRollOut,
  retryNode,
  stopRollOut,
} from '../../../src/platform/roll-outs/control.ts'
import { getRollOut } from '../../../src/platform/roll-outs/roll-outs.ts'
import { Action, type ActionProps, Menu } from '../../components/action.tsx'
import { Select } from '../../components/field.tsx'
import { Head } from '../../components/head.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { Live } from '../../components/live.tsx'
import { Section } from '../../components/section.tsx'
import { Exact, span, Time } from '../../components/time.tsx'
import { bytes } from '../../components/words.ts'
import { Waves } from './waves.tsx'
import { type Member, type RollOut, RollOutState, titleOf, trail } from './words.tsx'

export const rollOutPage = page({
  path: '/admin/roll-outs/{id}',
  reads: { rollOut: getRollOut },
  title: ({ rollOut }) => titleOf(rollOut),
  nav: 'controller',
  files: ['moves.css'] satisfies AssetName[],
  view: ({ rollOut }) => (
    <Live id="roll-out" every={rollOut.finishedAt === null ? 2 : undefined}>
      <Head
        title={titleOf(rollOut)}
        trail={trail}
        state={<RollOutState of={rollOut} tag />}
        sub={<Sub of={rollOut} />}
        actions={<Actions of={rollOut} />}
      />
      {rollOut.members
        .filter(({ headline }) => headline !== null)
        .map((member) => (
          <Failure rollOut={rollOut} of={member} />
        ))}
      <div class="split">
        <div>
          <Waves of={rollOut} />
        </div>
        <div>
          <Busy of={rollOut} />
          <Checks />
          <Meanwhile of={rollOut} />
        </div>
      </div>
    </Live>
  ),
})

const Sub = ({ of: { createdAt, startedBy, updated, nodes, sentBytes } }: { of: RollOut }) => (
  <>
    <span>
      started <Exact iso={createdAt} /> by {startedBy.name}
    </span>
    <span>
      {updated} of {nodes} run it
    </span>
    {sentBytes !== null && <span>{bytes(sentBytes)} sent to each</span>}
  </>
)

function Actions({ of: rollOut }: { of: RollOut }) {
  const { id, state, finishedAt, failedNode, version, members } = rollOut
  if (finishedAt !== null || state === 'stopping') return null
  const params = { id }
  return (
    <>
      {state === 'running' && <Action op={pauseRollOut} params={params} label="Pause" done="No further node begins" />}
      {state === 'paused' && (
        <Action
          op={continueRollOut}
          params={params}
          label={failedNode ? `Continue without ${failedNode.name}` : 'Continue'}
          icon="play"
          tone="pri"
          done="It goes on"
        />
      )}
      <Action
        op={stopRollOut}
        params={params}
        label="Stop…"
        submit="Stop it"
        title="Stop this roll-out?"
        done="It is stopped"
        confirm={{
          keep: 'Go on with it',
          consequences: [
            'Nodes at work come to their end. No further node begins.',
            `Nodes that run ${version} keep it. Another roll-out updates the others later.`,
          ],
        }}
      />
      {members.some(({ state: one }) => one === 'waiting' || one === 'left_out') && (
        <Menu label={`Nodes of ${titleOf(rollOut)}`}>
          <OfOneNode
            op={leaveNodeOut}
            rollOut={rollOut}
            state="waiting"
            label="Leave a node out…"
            submit="Leave it out"
            title="Leave which node out?"
          />
          <OfOneNode
            op={retryNode}
            rollOut={rollOut}
            state="left_out"
            label="Update a node that was left out…"
            submit="Update it"
            title="Update which node?"
          />
        </Menu>
      )}
    </>
  )
}

type OfOneNodeProps = Pick<ActionProps, 'op' | 'label' | 'submit' | 'title'> & {
  rollOut: RollOut
  state: Member['state']
}
/** Asks for one of the nodes in this state; draws nothing where there is none. */
function OfOneNode({ rollOut: { id, members }, state, ...how }: OfOneNodeProps) {
  const some = members.filter((one) => one.state === state)
  if (!some.length) return null
  const options = some.map(({ id: value, name }) => ({ value, label: name }))
  return (
    <Action
      {...how}
      inMenu
      params={{ id }}
      done="Done"
      fields={<Select scope={how.op.id} name="nodeId" label="Node" options={options} />}
    />
  )
}

function Failure({ rollOut, of: member }: { rollOut: RollOut; of: Member }) {
  const { id, name, headline, reason, findings, endedAt } = member
  const params = { id: rollOut.id }
  const body = { nodeId: id }
  const isOpen = rollOut.finishedAt === null && rollOut.state !== 'stopping'
  const waiting = rollOut.members.filter(({ state }) => state === 'waiting').length
  return (
    <div class="sec first">
      <section class="fail" aria-labelledby={`failed-${id}`}>
        <header>
          <Icon name="undo" />
          <div>
            <h2 id={`failed-${id}`}>{headline}</h2>
            <p>{reason}</p>
          </div>
        </header>
        <dl>
          <div>
            <dt>Its servers</dt>
            <dd>
              <b>Run on.</b> An update never touches them
            </dd>
          </div>
          {findings.length > 0 && (
            <div>
              <dt>What differed</dt>
              <dd>
                <ul>
                  {findings.map((one) => (
                    <li>{one}</li>
                  ))}
                </ul>
              </dd>
            </div>
          )}
          <div>
            <dt>The other nodes</dt>
            <dd>
              {rollOut.updated} run {rollOut.version}; {waiting} wait
            </dd>
          </div>
          {endedAt && (
            <div>
              <dt>Roll-out</dt>
              <dd>
                Stopped <Time iso={endedAt} />; staff who manage nodes were told by mail
              </dd>
            </div>
          )}
        </dl>
        <div class="bar">
          <Link class="btn" to="/admin/nodes/{id}" params={{ id }}>
            Open {name}
          </Link>
          {isOpen && (
            <>
              <Action
                op={retryNode}
                params={params}
                body={body}
                label={`Try ${name} again`}
                icon="refresh"
                done={`${name} is tried again`}
              />
              <Action
                op={leaveNodeOut}
                params={params}
                body={body}
                label={`Leave ${name} out`}
                done={`${name} is left out`}
              />
            </>
          )}
        </div>
      </section>
    </div>
  )
}

const Busy = ({ of: { busySeconds } }: { of: RollOut }) => (
  <Section id="busy" title="How long a node is busy">
    <p>
      {busySeconds !== null && `${span(busySeconds * 1000)} on average until its new version answered. `}
      Servers, consoles and backups go on; a job at work is finished first.
    </p>
  </Section>
)

const Checks = () => (
  <Section id="checks" title="What each agent checks">
    <ol class="steps">
      <li class="done">Signature, with its own key and not the controller’s word</li>
      <li class="done">Starts and connects</li>
      <li class="done">Same servers, disks, addresses as before</li>
      <li class="done">One probe of each driver</li>
      <li>Else: back within 2 minutes</li>
    </ol>
  </Section>
)

const Meanwhile = ({ of: { version, members } }: { of: RollOut }) => {
  const older = members.filter(({ state }) => state !== 'done' && state !== 'already')
  const named = older
    .slice(0, 5)
    .map(({ name }) => name)
    .join(', ')
  return (
    <Section id="meanwhile" title="Meanwhile">
      <p>
        <strong>Both versions work together.</strong>{' '}
        {older.length > 0 &&
          `What an agent older than ${version} cannot do is refused by name on ${
            older.length > 5 ? `${named} and ${older.length - 5} more` : named
          }.`}
      </p>
    </Section>
  )
}
