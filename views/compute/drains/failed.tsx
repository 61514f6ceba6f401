// The servers of a drain that could not move, and the ways on for one that has not moved.
import { leaveServer, retryServer, sendServer } from '../../../src/compute/drains/control.ts'
import { useAt } from '../../../src/kernel/web/page-context.ts'
import { Action, Menu } from '../../components/action.tsx'
import { Select } from '../../components/field.tsx'
import { Icon } from '../../components/icon.tsx'
import { Link } from '../../components/link.tsx'
import { count, gb } from '../../components/words.ts'
import type { Drain, DrainServer } from './words.tsx'

/** The servers that could not move, in front of everything else: where each stopped, and the ways on. */
export function FailedNow({ drain }: { drain: Drain }) {
  const failed = drain.servers.filter(({ state }) => state === 'failed')
  const shown = failed.filter(({ failure }) => failure !== null)
  if (!failed.length) return null
  return (
    <div class="sec first">
      <div class="stack l">
        {shown.map((one) => (
          <Failed drain={drain} one={one} failure={one.failure!} />
        ))}
        {failed.length > shown.length && (
          <p class="muted">
            {count(failed.length - shown.length, 'server')} more could not move: see the list, and try them again there.
          </p>
        )}
      </div>
    </div>
  )
}

type FailedProps = { drain: Drain; one: DrainServer; failure: NonNullable<DrainServer['failure']> }
function Failed({ drain, one, failure: { phase, running, wasOff, isLeftThere } }: FailedProps) {
  const { counts, node } = drain
  const waiting = counts.waiting + counts.moving
  return (
    <section class="fail" aria-labelledby={`failed-${one.id}`}>
      <header>
        <Icon name="warning" />
        <div>
          <h2 id={`failed-${one.id}`}>{one.hostname} could not move</h2>
          <p>
            {one.reason}
            {drain.pausedBy === 'failure' && ' The drain stopped so that you can look.'}
          </p>
        </div>
      </header>
      <dl>
        <div>
          <dt>Where it stopped</dt>
          <dd>
            {phase ? (
              <>
                <b>
                  Step {phase.n} of {phase.of}
                </b>
                , {phase.title}
              </>
            ) : (
              'Its move did not begin'
            )}
          </dd>
        </div>
        <div>
          <dt>The server</dt>
          <dd>
            <b>{running ? `Runs on ${node.name}` : `Is off, on ${node.name}`}</b>
            {running && (wasOff ? ', was off for it' : ', was never interrupted')}
          </dd>
        </div>
        {one.to && one.transferId && (
          <div>
            <dt>On {one.to.name}</dt>
            <dd>{isLeftThere ? 'What was copied is being deleted' : 'Nothing of it is left'}</dd>
          </div>
        )}
        <div>
          <dt>The other moves</dt>
          <dd>
            {counts.moved} done; {waiting} {waiting === 1 ? 'waits' : 'wait'}
          </dd>
        </div>
      </dl>
      <FailedActions drain={drain} one={one} />
    </section>
  )
}

/** Another node that takes it comes first, then the same one again. */
function FailedActions({ drain, one }: Omit<FailedProps, 'failure'>) {
  const nodes = one.failure!.nodes
  const other = nodes.find(({ id }) => id !== one.to?.id)
  const same = nodes.find(({ id }) => id === one.to?.id)
  const params = { id: drain.id }
  const send = (to: { id: string; name: string }, label: string, look: object) => (
    <Action
      op={sendServer}
      params={params}
      body={{ serverId: one.id, nodeId: to.id }}
      label={label}
      of={one.hostname}
      done={`${one.hostname} goes to ${to.name}`}
      {...look}
    />
  )
  return (
    <div class="bar">
      {other && send(other, `Send it to ${other.name}`, { icon: 'transfer', tone: 'pri' })}
      {same && send(same, `Try ${same.name} again`, { icon: 'refresh' })}
      {!same && !other && (
        <Action
          op={retryServer}
          params={params}
          body={{ serverId: one.id }}
          label="Try again"
          of={one.hostname}
          icon="refresh"
          done={`${one.hostname} is tried again`}
        />
      )}
      <Leave drain={drain} one={one} />
      {one.transferId && (
        <Link class="btn" href={`/admin/transfers/${one.transferId}`}>
          Open move
        </Link>
      )}
      <span class="muted">
        {other ? `${other.name} has ${gb(other.freeDiskGb)} free` : !same && 'No node takes it now'}
      </span>
    </div>
  )
}

type OfServer = { drain: Drain; one: DrainServer; inMenu?: boolean }
const Leave = ({ drain, one, inMenu = false }: OfServer) => (
  <Action
    op={leaveServer}
    params={{ id: drain.id }}
    body={{ serverId: one.id }}
    label={`Leave it on ${drain.node.name}`}
    of={one.hostname}
    inMenu={inMenu}
    done={`${one.hostname} stays`}
  />
)

/** The ways on for a server that has not moved. */
export function ServerMenu({ drain, one }: OfServer) {
  const isOpen = drain.finishedAt === null && drain.state !== 'cancelling' && drain.kind === 'drain'
  if (!isOpen || (one.state !== 'waiting' && one.state !== 'failed') || !useAt().may(sendServer)) return null
  return (
    <Menu label={`Actions for ${one.hostname}`} small>
      <SendElsewhere drain={drain} one={one} />
      {one.state === 'failed' && (
        <Action
          op={retryServer}
          params={{ id: drain.id }}
          body={{ serverId: one.id }}
          label="Try again"
          of={one.hostname}
          icon="refresh"
          inMenu
          done={`${one.hostname} is tried again`}
        />
      )}
      <Leave drain={drain} one={one} inMenu />
    </Menu>
  )
}

const SendElsewhere = ({ drain, one }: OfServer) => (
  <Action
    op={sendServer}
    params={{ id: drain.id }}
    body={{ serverId: one.id }}
    part={one.id}
    label="Send it to another node"
    of={one.hostname}
    icon="transfer"
    inMenu
    title={`Send ${one.hostname} to another node`}
    submit="Send it there"
    done={`${one.hostname} goes where you sent it`}
    fields={
      <Select
        scope={`send-${one.id}`}
        name="nodeId"
        label="Node"
        nullable
        value={one.chosenNode?.id ?? ''}
        options={[
          { value: '', label: 'Placement chooses' },
          ...drain.targets.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        hint="It is looked at when its move begins: a node that does not fit then refuses it, and it is listed here."
      />
    }
  />
)
